#!/bin/sh
# Waits for the Temporal server and creates the namespace, unless it exists. Safe to repeat: an existing namespace is
# not changed. Next, register the search attributes: npx fulfilment setup
#
# docker-compose.yml mounts it at /etc/temporal/create-namespace.sh in the image temporalio/admin-tools; `npm run
# test:cluster` runs it too. It needs TEMPORAL_ADDRESS and, unless it is `default`, TEMPORAL_NAMESPACE. Temporal's CLI
# reads both as well.
set -eu

namespace="${TEMPORAL_NAMESPACE:-default}"
# 30 days: how long an ended purchase can be found, and its reference can't be bought again.
retention=720h

# Repeats a command for up to two minutes. The last failure shows its reason.
retry() {
  left=120
  until "$@" > /dev/null 2>&1; do
    left=$((left - 1))
    [ "$left" -gt 0 ] || { "$@"; return; }
    sleep 1
  done
}

is_there() {
  temporal operator namespace describe --namespace "$namespace" --command-timeout 5s
}
make() {
  is_there || temporal operator namespace create --namespace "$namespace" --retention "$retention" --command-timeout 5s
}
# Parts of the server take a moment to know a new namespace.
is_known() {
  temporal workflow count --namespace "$namespace" --command-timeout 5s
}

retry make
retry is_known
echo "The namespace $namespace exists."
