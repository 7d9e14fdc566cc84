"""Checks that a webhook comes from Watchdog."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from .errors import WebhookError
from .models import WebhookPayload

TOLERANCE_SECONDS = 300
_SIGNATURES = ("x-watchdog-signature", "x-watchdog-signature-next")


def verify_webhook(
    secret: str | Sequence[str],
    headers: Mapping[str, str] | Iterable[tuple[str, str]],
    body: bytes,
    *,
    now_seconds: float | None = None,
) -> WebhookPayload:
    """The payload of a genuine request. The same ``deliveryId`` may come more than once.

    secret: the signing secret exactly as it was shown; several while one replaces another.
    headers: those of any framework, names in any case.
    body: the bytes exactly as they came, before any parsing.

    Raises WebhookError for any other request, TypeError for a body that was parsed, ValueError for an
    empty secret, which anybody could sign with.
    """
    if not isinstance(body, (bytes, bytearray, memoryview)):
        raise TypeError("body must be the bytes as they came, before any parser")
    raw = bytes(body)
    secrets = [secret] if isinstance(secret, str) else list(secret)
    if not secrets or "" in secrets:
        raise ValueError("the secret is empty")
    by_name = _by_name(headers)
    timestamp = by_name.get("x-watchdog-timestamp", "")
    if not re.fullmatch(r"[1-9][0-9]{0,11}", timestamp, re.ASCII):
        raise WebhookError("no timestamp")
    now = time.time() if now_seconds is None else now_seconds
    if not abs(now - int(timestamp)) <= TOLERANCE_SECONDS:
        raise WebhookError("too old or too new")
    # The second signature is there for 24 hours while a secret is being changed.
    received = [by_name.get(name, "").encode("utf-8", "replace") for name in _SIGNATURES]
    signed = timestamp.encode() + b"." + raw
    is_genuine = False
    for one in secrets:
        expected = b"sha256=" + hmac.new(one.encode(), signed, hashlib.sha256).hexdigest().encode()
        for signature in received:
            # Compares in constant time, and tries all.
            is_genuine |= hmac.compare_digest(signature, expected)
    if not is_genuine:
        raise WebhookError("wrong signature")
    return _payload(raw)


def _by_name(headers: Mapping[str, str] | Iterable[tuple[str, str]]) -> dict[str, str]:
    items = headers.items() if isinstance(headers, Mapping) else headers
    names: dict[str, str] = {}
    for name, value in items:
        # The first one counts.
        names.setdefault(str(name).lower(), str(value))
    return names


def _payload(raw: bytes) -> WebhookPayload:
    try:
        value = json.loads(raw)
    except ValueError:
        value = None
    if not isinstance(value, dict) or value.get("payloadVersion") != 2:
        raise WebhookError("unknown payload")
    return cast(WebhookPayload, value)
