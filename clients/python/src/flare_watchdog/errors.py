"""Calls that failed."""

from __future__ import annotations

from typing import Any


class WatchdogError(Exception):
    """A call that failed. It contains neither the token nor the body of the request.

    ``code`` names the problem and never changes. The client's own codes are ``connection_failed``,
    ``timeout`` and ``unexpected_answer``.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        problem: dict[str, Any] | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.status = status
        self.problem = problem
        self.retry_after_seconds = retry_after_seconds

    @property
    def request_id(self) -> str | None:
        """Number of the request in the log of the service."""
        return self.problem.get("requestId") if self.problem else None

    @property
    def errors(self) -> list[dict[str, str]]:
        """Invalid places of the input, by JSON pointer."""
        return self.problem.get("errors", []) if self.problem else []


class WebhookError(Exception):
    """A request that is not from Watchdog, or too old. Answer it with status 400."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
