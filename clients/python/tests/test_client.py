"""The client against a server that refuses, breaks off, redirects and lies. Standard library only."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import time
import unittest
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from flare_watchdog import Watchdog, WatchdogError, WebhookError, verify_webhook
from flare_watchdog._transport import read_retry_after

PROBLEM = {"code": "rate_limited", "title": "Too many", "detail": "Wait.", "requestId": "r-1"}


class Server:
    """Answers one after the other: (status, headers, body), or None to break off."""

    def __init__(self, *answers: Any) -> None:
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                outer.requests.append((self.command, self.path, headers, body))
                answer = answers[min(len(outer.requests), len(answers)) - 1]
                if answer is None:
                    self.connection.close()
                    return
                status, extra, text = answer
                self.send_response(status)
                for name, value in extra.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

            def log_message(self, *_args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/api/x402"

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_args: Any) -> None:
        self.server.shutdown()
        self.server.server_close()


def body(value: Any) -> bytes:
    return json.dumps(value).encode()


FINE = (200, {}, body({"data": [], "nextCursor": None}))
BUSY = (503, {}, b"<h1>no</h1>")
LIMITED = (429, {"retry-after": "7"}, body(PROBLEM))
WATCH: Any = {"type": "provider-fsp", "target": {"provider": "0x00"}}


class Calls(unittest.TestCase):
    def client(self, server: Server, waits: list[float] | None = None, **options: Any) -> Watchdog:
        pauses = waits if waits is not None else []
        return Watchdog(server.url, "fwd_secret", sleep=pauses.append, **options)

    def test_sends_token_language_query_and_body(self) -> None:
        with Server(FINE) as server:
            client = self.client(server, locale="de")
            client.list_alerts(watch_id=3, from_="2026-01-01T00:00:00Z")
            client.create_watch(WATCH, idempotency_key="k")
            client.update_watch("a/b", {"label": "ä"}, if_match='"1"')
        (_, path, headers, _), (_, _, keyed, sent), (method, escaped, versioned, _) = server.requests
        self.assertEqual(path, "/api/x402/alerts?watchId=3&from=2026-01-01T00%3A00%3A00Z")
        self.assertEqual(headers["authorization"], "Bearer fwd_secret")
        self.assertEqual(headers["accept-language"], "de")
        self.assertEqual(keyed["idempotency-key"], "k")
        self.assertEqual(json.loads(sent), WATCH)
        self.assertEqual((method, escaped), ("PATCH", "/api/x402/watches/a%2Fb"))
        self.assertEqual(versioned["if-match"], '"1"')

    def test_repeats_with_the_same_key_and_as_late_as_the_service_asks(self) -> None:
        waits: list[float] = []
        with Server(None, LIMITED, (201, {}, body({"id": 1}))) as server:
            self.assertEqual(self.client(server, waits).create_watch(WATCH), {"id": 1})
        keys = {headers["idempotency-key"] for _, _, headers, _ in server.requests}
        self.assertEqual((len(server.requests), len(keys)), (3, 1))
        self.assertTrue(0.125 <= waits[0] <= 0.25)
        self.assertEqual(waits[1], 7.0)

    def test_repeats_nothing_that_is_not_safe(self) -> None:
        with Server(BUSY) as server, self.assertRaises(WatchdogError) as caught:
            self.client(server).acknowledge(1)
        self.assertEqual(len(server.requests), 1)
        self.assertEqual((caught.exception.code, caught.exception.status), ("unexpected_answer", 503))

    def test_gives_up_after_its_attempts_and_before_a_long_wait(self) -> None:
        with Server(BUSY) as server, self.assertRaises(WatchdogError):
            self.client(server).list_watches()
        self.assertEqual(len(server.requests), 3)
        with Server(LIMITED) as server, self.assertRaises(WatchdogError) as caught:
            self.client(server, wait_max=6).list_watches()
        self.assertEqual(len(server.requests), 1)
        error = caught.exception
        self.assertEqual((error.code, error.request_id, error.retry_after_seconds), ("rate_limited", "r-1", 7.0))
        self.assertNotIn("fwd_secret", repr(error) + repr(vars(error)))

    def test_follows_no_redirect(self) -> None:
        with Server(FINE) as thief, Server((302, {"location": thief.url}, b"")) as server:
            with self.assertRaises(WatchdogError) as caught:
                self.client(server, retries=0).list_watches()
        self.assertEqual(thief.requests, [])
        self.assertEqual(caught.exception.code, "unexpected_answer")

    def test_refuses_addresses_without_tls(self) -> None:
        for address in ("http://watchdog.example.org", "ftp://127.0.0.1", "127.0.0.1"):
            with self.assertRaises(ValueError):
                Watchdog(address, "token")

    def test_names_garbage_and_a_lost_connection(self) -> None:
        with Server((200, {}, b"<html>")) as server, self.assertRaises(WatchdogError) as caught:
            self.client(server, retries=0).list_watches()
        self.assertEqual(caught.exception.code, "unexpected_answer")
        with Server(None) as server, self.assertRaises(WatchdogError) as caught:
            self.client(server, retries=0).list_watches()
        self.assertEqual(caught.exception.code, "connection_failed")

    def test_reads_lists_to_their_end_and_ends_one_that_never_would(self) -> None:
        pages = [(200, {}, body({"data": [{"id": n}], "nextCursor": c})) for n, c in ((1, "a"), (2, None))]
        with Server(*pages) as server:
            self.assertEqual([one["id"] for one in self.client(server).all_watches()], [1, 2])
        self.assertTrue(server.requests[1][1].endswith("cursor=a"))
        with Server(pages[0]) as server, self.assertRaises(WatchdogError):
            list(self.client(server).all_watches())

    def test_reads_retry_after(self) -> None:
        now = time.time()
        self.assertEqual(read_retry_after("12", now), 12.0)
        self.assertAlmostEqual(read_retry_after(formatdate(now + 30, usegmt=True), now) or 0, 30, delta=1)
        self.assertEqual(read_retry_after("9" * 400, now), 2.0**31)
        for text in (None, "", "soon", "-1"):
            self.assertIsNone(read_retry_after(text, now))


SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
NOW = 1_800_000_000
BODY = body({"payloadVersion": 2, "event": "fsp.monitoring", "data": {}, "deliveryId": "d"})


def signature(secret: str, raw: bytes = BODY, at: int = NOW) -> str:
    signed = str(at).encode() + b"." + raw
    return "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


class Webhooks(unittest.TestCase):
    def verify(self, headers: Any, raw: Any = BODY, secret: Any = SECRET, now: float = NOW) -> Any:
        return verify_webhook(secret, headers, raw, now_seconds=now)

    def refused(self, reason: str, headers: Any, **others: Any) -> None:
        with self.assertRaises(WebhookError) as caught:
            self.verify(headers, **others)
        self.assertEqual(caught.exception.reason, reason)

    def test_accepts_a_genuine_request(self) -> None:
        headers = {"X-Watchdog-Timestamp": str(NOW), "X-WATCHDOG-Signature": signature(SECRET)}
        self.assertEqual(self.verify(headers)["deliveryId"], "d")
        self.assertEqual(self.verify(list(headers.items()))["event"], "fsp.monitoring")

    def test_accepts_either_secret_while_one_replaces_another(self) -> None:
        headers = {
            "x-watchdog-timestamp": str(NOW),
            "x-watchdog-signature": signature("whsec_old"),
            "x-watchdog-signature-next": signature("whsec_new"),
        }
        for secret in ("whsec_old", "whsec_new", ["whsec_other", "whsec_new"]):
            self.verify(headers, secret=secret)
        self.refused("wrong signature", headers, secret=["whsec_other"])

    def test_refuses_what_is_not_genuine(self) -> None:
        fine = {"x-watchdog-timestamp": str(NOW), "x-watchdog-signature": signature(SECRET)}
        self.refused("wrong signature", fine, raw=BODY + b" ")
        self.refused("wrong signature", {"x-watchdog-timestamp": str(NOW)})
        self.refused("wrong signature", {**fine, "x-watchdog-signature": "sha256=é"})
        self.refused("wrong signature", {**fine, "x-watchdog-timestamp": str(NOW + 1)})
        for stamp in ("", "0", "01", "1e9", "१", "9" * 13, f" {NOW}"):
            self.refused("no timestamp", {**fine, "x-watchdog-timestamp": stamp})

    def test_refuses_a_time_more_than_300_seconds_off(self) -> None:
        fine = {"x-watchdog-timestamp": str(NOW), "x-watchdog-signature": signature(SECRET)}
        for seconds in (-300, 300):
            self.verify(fine, now=NOW + seconds)
        for seconds in (-301, 300.5, float("nan")):
            self.refused("too old or too new", fine, now=NOW + seconds)

    def test_refuses_a_payload_of_another_version(self) -> None:
        for raw in (b"[]", b"no", body({"payloadVersion": 3}), b"\xff"):
            headers = {"x-watchdog-timestamp": str(NOW), "x-watchdog-signature": signature(SECRET, raw)}
            self.refused("unknown payload", headers, raw=raw)

    def test_refuses_a_parsed_body_and_an_empty_secret(self) -> None:
        with self.assertRaises(TypeError):
            self.verify({}, raw="text")
        for secret in ("", [], ["whsec_a", ""]):
            with self.assertRaises(ValueError):
                self.verify({}, secret=secret)


if __name__ == "__main__":
    unittest.main()
