#!/bin/sh
# Checks that a webhook comes from Watchdog. A POSIX shell and openssl.
#
#   WEBHOOK_SECRET=whsec_… sh verify.sh headers.txt body.txt
#
# headers.txt has one header a line, body.txt the bytes exactly as they came. Prints "valid", or
# "invalid" and why; then the exit code is 1. A third argument is the time in seconds since 1970, for
# trying it with recorded requests. openssl takes keys as arguments, which other users of the machine
# can see: meant for trying things out.
set -eu

tolerance_seconds=300
secret=${WEBHOOK_SECRET:-}
if [ -z "$secret" ] || [ $# -lt 2 ]; then
  echo 'usage: WEBHOOK_SECRET=whsec_… sh verify.sh headers.txt body.txt [seconds]' >&2
  exit 2
fi
headers=$1
body=$2
now=${3:-$(date +%s)}

refuse() {
  echo "invalid: $1"
  exit 1
}

# The value of a header, whatever the case of its name.
header() {
  tr -d '\r' <"$headers" | awk -v name="$1" '
    {
      colon = index($0, ":")
      if (colon > 0 && tolower(substr($0, 1, colon - 1)) == name) {
        value = substr($0, colon + 1)
        gsub(/^[ \t]+|[ \t]+$/, "", value)
        print value
        exit
      }
    }'
}

# HMAC-SHA256 of the standard input in lower-case hex, keyed with the bytes of $1.
hmac() {
  key=$(printf %s "$1" | od -An -v -tx1 | tr -d ' \n')
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -r | cut -d ' ' -f 1
}

timestamp=$(header x-watchdog-timestamp)
case $timestamp in
'' | 0* | *[!0-9]* | ?????????????*) refuse 'no timestamp' ;;
esac
age=$((now - timestamp))
if [ "${age#-}" -gt "$tolerance_seconds" ]; then refuse 'too old or too new'; fi

expected="sha256=$({
  printf '%s.' "$timestamp"
  cat "$body"
} | hmac "$secret")"

# The shell compares character by character and stops at the first difference, which tells how far a
# guess was right. So it compares the HMACs of both under a random key, which an attacker cannot
# predict.
random=$(openssl rand -hex 32)
wanted=$(printf %s "$expected" | hmac "$random")
# The second is there for 24 hours while a secret is being changed.
for name in x-watchdog-signature x-watchdog-signature-next; do
  received=$(header "$name")
  if [ "${#received}" -ne "${#expected}" ]; then continue; fi
  if [ "$(printf %s "$received" | hmac "$random")" = "$wanted" ]; then
    echo valid
    exit 0
  fi
done
refuse 'wrong signature'
