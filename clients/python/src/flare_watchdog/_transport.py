"""Sends calls: token, time-outs, retries, errors."""

from __future__ import annotations

import email.utils
import json
import random
import re
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPException
from typing import Any

from .errors import WatchdogError

# Answers after which another attempt may succeed.
_TEMPORARY = frozenset((429, 500, 502, 503, 504))
_LOOPBACK = re.compile(r"(localhost|127(\.\d+){3}|::1)")
_FIRST_WAIT = 0.25
_WAIT_MAX = 8.0
# What a larger number of seconds counts as (RFC 9111, section 1.2.2).
_SECONDS_MAX = 2**31
# The largest answer, an export with all alerts, is smaller.
_BYTES_MAX = 64 * 1024 * 1024
_CHUNK = 64 * 1024


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The API redirects nowhere, and no other host may get the token."""

    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        return None


class Transport:
    """Settings of a client.

    base_url: address of the API, such as ``https://watchdog.example.org/api/x402``.
    token: API token; without one only public operations work.
    locale: language of error texts and of texts in answers.
    retries: further attempts of a call that can be repeated safely.
    wait_max: longest wait before another attempt, in seconds; if the service asks for more, the call fails.
    timeout: upper limit of one attempt, in seconds.
    """

    def __init__(
        self,
        base_url: str,
        token: str | None = None,
        *,
        locale: str | None = None,
        retries: int = 2,
        wait_max: float = 60.0,
        timeout: float = 30.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        url = urllib.parse.urlsplit(base_url)
        if url.scheme != "https" and not (
            url.scheme == "http" and _LOOPBACK.fullmatch(url.hostname or "")
        ):
            raise ValueError("base_url must begin with https://")
        self._base = base_url.rstrip("/")
        self.__token = token
        self._locale = locale
        self._retries = retries
        self._wait_max = wait_max
        self._timeout = timeout
        self._sleep = sleep
        self._opener = urllib.request.build_opener(_NoRedirects)
        #: Headers of the last answer, in lower case, such as ``etag`` and ``ratelimit``.
        self.last_headers: Mapping[str, str] = {}

    @staticmethod
    def _segment(value: str | int) -> str:
        return urllib.parse.quote(str(value), safe="")

    def _request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        key: str | None = None,
        is_keyed: bool = False,
        if_match: str | None = None,
        accept: str = "application/json",
    ) -> Any:
        headers = {"accept": accept}
        if self.__token is not None:
            headers["authorization"] = f"Bearer {self.__token}"
        if self._locale is not None:
            headers["accept-language"] = self._locale
        if if_match is not None:
            headers["if-match"] = if_match
        if is_keyed:
            # The same for all attempts, so that a call takes effect once.
            headers["idempotency-key"] = key or str(uuid.uuid4())
        data = None
        if body is not None:
            headers["content-type"] = "application/json"
            data = json.dumps(body, allow_nan=False).encode()
        given = {name: _text(value) for name, value in (query or {}).items() if value is not None}
        url = self._base + path + ("?" + urllib.parse.urlencode(given) if given else "")
        is_repeatable = method == "GET" or is_keyed
        attempt = 0
        while True:
            attempt += 1
            try:
                text = self._attempt(urllib.request.Request(url, data, headers, method=method))
                return _parsed(text) if accept == "application/json" else text
            except WatchdogError as error:
                if not is_repeatable or attempt > self._retries or not _may_end(error):
                    raise
                wait = _wait_seconds(attempt, error.retry_after_seconds)
                if wait > self._wait_max:
                    raise
                self._sleep(wait)

    def _attempt(self, request: urllib.request.Request) -> str:
        ends_at = time.monotonic() + self._timeout
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                text = _read(answer, ends_at)
                self.last_headers = {name.lower(): value for name, value in answer.headers.items()}
                return text
        except urllib.error.HTTPError as refusal:
            with refusal:
                raise _refusal(refusal, ends_at) from None
        except TimeoutError:
            raise WatchdogError("timeout", f"No answer in {self._timeout} s.") from None
        except (OSError, HTTPException) as error:
            if isinstance(getattr(error, "reason", None), TimeoutError):
                raise WatchdogError("timeout", f"No answer in {self._timeout} s.") from None
            raise WatchdogError("connection_failed", "No answer.") from error


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read(answer: Any, ends_at: float) -> str:
    """Reads an answer that may be endless, or come a byte at a time."""
    parts: list[bytes] = []
    size = 0
    while chunk := answer.read1(_CHUNK):
        parts.append(chunk)
        size += len(chunk)
        if size > _BYTES_MAX:
            raise _unexpected(answer.status)
        if time.monotonic() > ends_at:
            raise TimeoutError
    return b"".join(parts).decode("utf-8", "replace")


def _parsed(text: str) -> Any:
    if text == "":
        return None
    try:
        return json.loads(text)
    except ValueError:
        raise _unexpected(200) from None


def _unexpected(status: int, retry_after: float | None = None) -> WatchdogError:
    message = f"The answer with status {status} is not one of Watchdog."
    return WatchdogError(
        "unexpected_answer", message, status=status, retry_after_seconds=retry_after
    )


def _refusal(answer: urllib.error.HTTPError, ends_at: float) -> WatchdogError:
    """The error of a refusal: its problem document, or ``unexpected_answer`` if it has none."""
    retry_after = read_retry_after(answer.headers.get("retry-after"), time.time())
    try:
        problem = json.loads(_read(answer, ends_at))
    except (ValueError, OSError, HTTPException):
        problem = None
    if not isinstance(problem, dict) or not isinstance(problem.get("code"), str):
        return _unexpected(answer.code, retry_after)
    return WatchdogError(
        problem["code"],
        f"{problem.get('title', '')}: {problem.get('detail', '')}",
        status=answer.code,
        problem=problem,
        retry_after_seconds=retry_after,
    )


def _may_end(error: WatchdogError) -> bool:
    """Whether a refusal may end when the same call is repeated."""
    if error.status is None:
        return True
    return error.status in _TEMPORARY or error.code == "idempotency_in_progress"


def _wait_seconds(attempt: int, retry_after: float | None) -> float:
    """What the service asks for, otherwise a random part of a time that doubles."""
    if retry_after is not None:
        return retry_after
    return min(_WAIT_MAX, _FIRST_WAIT * 2.0 ** (attempt - 1)) * (0.5 + random.random() / 2)


def read_retry_after(header: str | None, now: float) -> float | None:
    """Seconds of a ``Retry-After`` header, which is a number or a date; None for anything else."""
    text = (header or "").strip()
    if re.fullmatch(r"[0-9]+", text):
        return float(min(int(text[:12]), _SECONDS_MAX))
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None


def all_pages(read_page: Callable[[str | None], Any]) -> Iterator[Any]:
    """Every item of a list. A cursor that comes twice would never end, and is an error."""
    seen: set[str] = set()
    cursor: str | None = None
    while True:
        page = read_page(cursor)
        yield from page["data"]
        cursor = page["nextCursor"]
        if cursor is None:
            return
        if cursor in seen:
            raise WatchdogError("unexpected_answer", "A list repeats its pages.")
        seen.add(cursor)
