#!/bin/sh
# Creates the secrets of docker-compose.yml in the folder `secrets`, which git ignores. Safe to repeat: it keeps
# existing ones.
#
#     sh ops/make-secrets.sh                                             # fingerprint and delivery
#     printf %s 'THE-KEY' | sh ops/make-secrets.sh partner-api-key       # from stdin, replacing an existing one
#
# Only the owner may enter the folder. The files in it are readable by all, because in a container a file keeps its
# owner from the host, who may not be user 1000. Files are changed in place, because a container would not see a
# renamed file.
set -eu
cd "$(dirname "$0")/.."
umask 077
mkdir -p secrets
chmod 700 secrets

random() { head -c 32 /dev/urandom | "$@" | tr -d ' \n'; }
# Reads all of stdin before it writes: the other side of the pipe may be reading the same file.
keep() {
  secret=$(cat)
  [ -n "$secret" ] || { echo "secrets/$1 is not written: nothing came on stdin." >&2; exit 1; }
  printf %s "$secret" > "secrets/$1"
  chmod 644 "secrets/$1"
  echo "secrets/$1 is written."
}

if [ $# -gt 0 ]; then
  case $1 in *[!a-z-]*) echo "expected the name of a secret, such as partner-api-key, and got $1" >&2; exit 2 ;; esac
  keep "$1"
  exit
fi
[ -s secrets/fingerprint ] || random od -An -tx1 | keep fingerprint
[ -s secrets/delivery ] || { printf 'whsec_' && random base64; } | keep delivery
