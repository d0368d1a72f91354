#!/bin/sh
# What docker-compose.yml asks of the official image: a database cluster at PGDATA for POSTGRES_USER with POSTGRES_PASSWORD.
set -eu
PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
chown -R postgres "$PGDATA"
chmod 700 "$PGDATA"
as_postgres() { setpriv --reuid postgres --regid postgres --clear-groups "$@"; }
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  echo "$POSTGRES_PASSWORD" > /tmp/password && chown postgres /tmp/password
  as_postgres initdb --pgdata "$PGDATA" --username "$POSTGRES_USER" --pwfile /tmp/password --auth-local trust
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
fi
exec setpriv --reuid postgres --regid postgres --clear-groups \
  postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories=/tmp
