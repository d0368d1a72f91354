#!/bin/sh
# Creates Temporal's two databases in PostgreSQL and brings their tables to the version of temporal-sql-tool. Run it
# before the server's first start and before each newer server. Safe to repeat.
#
# docker-compose.yml mounts it at /etc/temporal/set-up-schema.sh in the image temporalio/admin-tools; `npm run
# test:cluster` runs it too. It reads the variables of server.yaml: POSTGRES_SEEDS, DB_PORT, POSTGRES_USER, POSTGRES_PWD
# or POSTGRES_PWD_FILE, DBNAME, VISIBILITY_DBNAME.
set -eu

export SQL_PLUGIN=postgres12
export SQL_HOST="${POSTGRES_SEEDS:?the host of PostgreSQL}"
export SQL_PORT="${DB_PORT:-5432}"
export SQL_USER="${POSTGRES_USER:-temporal}"
if [ -n "${POSTGRES_PWD_FILE:-}" ]; then POSTGRES_PWD=$(cat "$POSTGRES_PWD_FILE"); fi
export SQL_PASSWORD="${POSTGRES_PWD:?the password of PostgreSQL, or POSTGRES_PWD_FILE}"

temporal="${DBNAME:-temporal}"
visibility="${VISIBILITY_DBNAME:-temporal_visibility}"

# PostgreSQL accepts connections a little later than its container starts.
left=60
until temporal-sql-tool --database "$temporal" create; do
  left=$((left - 1))
  [ "$left" -gt 0 ] || exit 1
  sleep 1
done
temporal-sql-tool --database "$visibility" create

# Both commands skip what is already done.
set_up() {
  temporal-sql-tool --database "$1" setup-schema --version 0.0
  temporal-sql-tool --database "$1" update-schema --schema-name "postgresql/v12/$2"
}
set_up "$temporal" temporal
set_up "$visibility" visibility
echo "The databases $temporal and $visibility have Temporal's tables."
