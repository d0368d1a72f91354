#!/bin/sh
# Waits until the Temporal server serves, and makes the namespace of the purchases if there is none. Safe to repeat: one that is
# there stays as it is. The search attributes come next: node dist/starter.js setup.
#
# Runs in the image temporalio/admin-tools, mounted at /etc/temporal/create-namespace.sh, and in `npm run test:cluster`, with
# TEMPORAL_ADDRESS and, where it is not `default`, TEMPORAL_NAMESPACE, which Temporal's CLI reads too.
set -eu

namespace="${TEMPORAL_NAMESPACE:-default}"
# How long a purchase can be found after its end, and its reference not be bought again: 30 days.
retention=720h

# Whether the command succeeds within two minutes; says why not.
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
# Every part of the server knows a new one only after a moment.
is_known() {
  temporal workflow count --namespace "$namespace" --command-timeout 5s
}

retry make
retry is_known
echo "The namespace $namespace is there."
