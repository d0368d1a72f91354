#!/bin/sh
# Makes the secrets of docker-compose.yml in the folder `secrets`, which git ignores. Safe to repeat: what is there stays.
#
#     sh ops/make-secrets.sh                                             # fingerprint and delivery
#     printf %s 'THE-KEY' | sh ops/make-secrets.sh partner-api-key       # this one from stdin, also in the place of another
#
# Nobody but their owner may enter the folder. The files in it can be read by anyone, because a container sees only the file, with
# the owner that it has here, and its user 1000 need not be that one. They are changed in place, never replaced by a rename: a
# container would go on with the old one.
set -eu
cd "$(dirname "$0")/.."
umask 077
mkdir -p secrets
chmod 700 secrets

random() { head -c 32 /dev/urandom | "$@" | tr -d ' \n'; }
# All of stdin is read before the file is touched: the other side of a pipe may be reading that very file.
keep() {
  secret=$(cat)
  [ -n "$secret" ] || { echo "secrets/$1 is not written: nothing came on stdin." >&2; exit 1; }
  printf %s "$secret" > "secrets/$1"
  chmod 644 "secrets/$1"
  echo "secrets/$1 is written."
}

if [ $# -gt 0 ]; then
  keep "$1"
  exit
fi
[ -s secrets/fingerprint ] || random od -An -tx1 | keep fingerprint
[ -s secrets/delivery ] || { printf 'whsec_' && random base64; } | keep delivery
