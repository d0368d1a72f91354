#!/bin/sh
# As the official image does it: a server that binds to every address tells the others its own.
set -eu
if [ "$BIND_ON_IP" = 0.0.0.0 ]; then
  TEMPORAL_BROADCAST_ADDRESS=$(hostname -i | cut -d ' ' -f 1)
  export TEMPORAL_BROADCAST_ADDRESS
fi
exec temporal-server start
