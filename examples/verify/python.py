"""Checks that a webhook comes from Watchdog. Python 3.8 or newer, no packages.

    WEBHOOK_SECRET=whsec_… python3 python.py headers.txt body.txt

headers.txt has one header a line, body.txt the bytes exactly as they came. Prints "valid", or
"invalid" and why; then the exit code is 1. A third argument is the time in seconds since 1970, for
trying it with recorded requests.
"""

import hashlib
import hmac
import os
import re
import sys
import time

TOLERANCE_SECONDS = 300


def why_invalid(secret, headers, raw_body, now_seconds):
    """Why a request is not from Watchdog; None when it is.

    headers: by lower-case name. raw_body: the bytes as they came, before any parsing.
    """
    timestamp = headers.get("x-watchdog-timestamp", "")
    if not re.fullmatch(r"[1-9][0-9]{0,11}", timestamp, re.ASCII):
        return "no timestamp"
    if abs(now_seconds - int(timestamp)) > TOLERANCE_SECONDS:
        return "too old or too new"

    digest = hmac.new(secret.encode(), timestamp.encode() + b"." + raw_body, hashlib.sha256)
    expected = ("sha256=" + digest.hexdigest()).encode()
    # The second is there for 24 hours while a secret is being changed.
    for name in ("x-watchdog-signature", "x-watchdog-signature-next"):
        received = headers.get(name, "").encode()
        if len(received) == len(expected) and hmac.compare_digest(received, expected):
            return None
    return "wrong signature"


def main():
    secret = os.environ.get("WEBHOOK_SECRET", "")
    if secret == "" or len(sys.argv) < 3:
        usage = "usage: WEBHOOK_SECRET=whsec_... python3 python.py headers.txt body.txt [seconds]"
        print(usage, file=sys.stderr)
        sys.exit(2)
    headers_file, body_file, *now = sys.argv[1:]
    headers = {}
    with open(headers_file, encoding="utf-8", newline="") as lines:
        for line in lines:
            name, colon, value = line.partition(":")
            if colon:
                headers[name.lower()] = value.strip()
    with open(body_file, "rb") as body:
        raw_body = body.read()
    now_seconds = int(now[0]) if now else int(time.time())
    problem = why_invalid(secret, headers, raw_body, now_seconds)
    print("valid" if problem is None else f"invalid: {problem}")
    sys.exit(0 if problem is None else 1)


if __name__ == "__main__":
    main()
