"""Client of Watchdog for Flare, and verifier of its webhooks."""

from . import models
from .client import Watchdog
from .errors import WatchdogError, WebhookError
from .webhook import verify_webhook

__all__ = ["Watchdog", "WatchdogError", "WebhookError", "models", "verify_webhook"]
