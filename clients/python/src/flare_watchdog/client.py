"""The API of a Watchdog."""

from __future__ import annotations

from ._operations import Operations


class Watchdog(Operations):
    """The API of a Watchdog. Each operation is a method; methods that begin with ``all_`` read a list to its end.

    >>> watchdog = Watchdog("https://watchdog.example.org/api/x402", token)
    >>> watchdog.create_watch({"type": "provider-fsp", "target": {"provider": "0x…"}})
    """
