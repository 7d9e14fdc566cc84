"""Generated from the operations of the service: npm run types:api"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from . import models as m
from ._transport import Transport, all_pages


class Operations(Transport):
    """Every operation of the service."""

    def get_account(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        type: Literal["topup", "bonus", "usage", "subscription", "refund", "adjustment"] | None = None,
        from_: str | None = None,
        to: str | None = None,
    ) -> m.Account:
        """Get balance, slots and ledger.

        The credit balance, today’s free calls, the slots and the ledger, newest first.

        Needs: read.
        """
        answer: m.Account = self._request(
            "GET",
            "/account",
            query={"limit": limit, "cursor": cursor, "type": type, "from": from_, "to": to},
        )
        return answer

    def delete_account(
        self,
        *,
        wallet: str,
        forfeit_credits: int,
    ) -> None:
        """Delete the account.

        Deletes the wallet’s watches, alerts, recipients, settings, messages and API tokens
        immediately. Its credits and slots are lost. Its payments and ledger are kept without
        its address, because the law demands it. Nothing can be restored. The call names the
        wallet and its balance, as a confirmation.

        Needs: spend.
        """
        self._request(
            "DELETE",
            "/account",
            query={"wallet": wallet, "forfeitCredits": forfeit_credits},
        )

    def get_terms(
        self,
    ) -> m.TermsAcceptance:
        """Get the terms status.

        The version of the terms in force, and the version the wallet has accepted.

        Needs: read.
        """
        answer: m.TermsAcceptance = self._request(
            "GET",
            "/account/terms",
        )
        return answer

    def accept_terms(
        self,
        body: m.AcceptTerms,
    ) -> m.TermsAcceptance:
        """Accept the terms.

        Accepts the version in force. Required before the first purchase or trial.

        Needs: write.
        """
        answer: m.TermsAcceptance = self._request(
            "POST",
            "/account/terms",
            body=body,
        )
        return answer

    def list_alerts(
        self,
        *,
        watch_id: int | None = None,
        type: Literal["wallet-balance", "feed-move", "provider-eligibility", "credits-balance", "reward-signing", "provider-fsp"] | None = None,
        group: Literal["alerts", "ftso", "fdc", "offences", "transactions", "fast-updates", "registration", "incident"] | None = None,
        signal: str | None = None,
        event: m.EventName | None = None,
        severity: Literal["info", "warning", "critical"] | None = None,
        state: Literal["firing", "recovered", "acknowledged", "closed"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> m.AlertList:
        """List alerts.

        The alert history, newest first, with the state of every delivery.

        Needs: read.
        """
        answer: m.AlertList = self._request(
            "GET",
            "/alerts",
            query={"watchId": watch_id, "type": type, "group": group, "signal": signal, "event": event, "severity": severity, "state": state, "from": from_, "to": to, "limit": limit, "cursor": cursor},
        )
        return answer

    def all_alerts(
        self,
        *,
        watch_id: int | None = None,
        type: Literal["wallet-balance", "feed-move", "provider-eligibility", "credits-balance", "reward-signing", "provider-fsp"] | None = None,
        group: Literal["alerts", "ftso", "fdc", "offences", "transactions", "fast-updates", "registration", "incident"] | None = None,
        signal: str | None = None,
        event: m.EventName | None = None,
        severity: Literal["info", "warning", "critical"] | None = None,
        state: Literal["firing", "recovered", "acknowledged", "closed"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        limit: int | None = None,
    ) -> Iterator[m.ListedAlert]:
        """Every item of `list_alerts`, page after page."""
        return all_pages(
            lambda cursor: self.list_alerts(
                watch_id=watch_id,
                type=type,
                group=group,
                signal=signal,
                event=event,
                severity=severity,
                state=state,
                from_=from_,
                to=to,
                limit=limit,
                cursor=cursor,
            )
        )

    def delete_alerts(
        self,
        body: m.AlertSelection | None = None,
    ) -> m.DeletedAlerts:
        """Delete alerts.

        Deletes alerts from the history: by ids, before a time, or all. The filters of the list
        narrow the selection. Active alerts stay active.

        Needs: write.
        """
        answer: m.DeletedAlerts = self._request(
            "DELETE",
            "/alerts",
            body=body,
        )
        return answer

    def delete_alert(
        self,
        id: str | int,
    ) -> None:
        """Delete one alert.

        Deletes one alert from the history. If the alert is active, it stays active.

        Needs: write.
        """
        self._request(
            "DELETE",
            f"/alerts/{self._segment(id)}",
        )

    def export_alerts(
        self,
        *,
        watch_id: int | None = None,
        type: Literal["wallet-balance", "feed-move", "provider-eligibility", "credits-balance", "reward-signing", "provider-fsp"] | None = None,
        group: Literal["alerts", "ftso", "fdc", "offences", "transactions", "fast-updates", "registration"] | None = None,
        signal: str | None = None,
        event: m.EventName | None = None,
        severity: Literal["info", "warning", "critical"] | None = None,
        state: Literal["firing", "recovered", "acknowledged", "closed"] | None = None,
        from_: str | None = None,
        to: str | None = None,
    ) -> str:
        """Export alerts as CSV.

        The alert history as CSV (RFC 4180), newest first, with the filters of the list.

        Needs: read.
        """
        answer: str = self._request(
            "GET",
            "/alerts/export",
            query={"watchId": watch_id, "type": type, "group": group, "signal": signal, "event": event, "severity": severity, "state": state, "from": from_, "to": to},
            accept="text/csv",
        )
        return answer

    def get_alert_evidence(
        self,
        id: str | int,
    ) -> m.AlertEvidence:
        """Get the proof of an alert.

        What anyone can check on the chain about an alert of a data provider: the claim with its
        figures, the blocks that were read, and the transactions with their calldata. The script
        `examples/verify-evidence.ts` checks this document with any two endpoints. `version` is
        1; new properties do not change it. An alert that the chain alone does not prove has
        `claim: null` and the reason in `unproven`.

        Needs: read.
        """
        answer: m.AlertEvidence = self._request(
            "GET",
            f"/alerts/{self._segment(id)}/evidence",
        )
        return answer

    def acknowledge(
        self,
        id: str | int,
        body: m.AcknowledgeInput | None = None,
    ) -> m.Acknowledgement:
        """Acknowledge an alert.

        Acknowledges an alert, in the name of the API token: no reminders and no escalation
        until it recovers. With `acknowledged: false` the acknowledgement is removed.

        Needs: write.
        """
        answer: m.Acknowledgement = self._request(
            "POST",
            f"/alerts/{self._segment(id)}/acknowledge",
            body=body,
        )
        return answer

    def create_challenge(
        self,
        body: m.ChallengeRequest,
    ) -> m.Challenge:
        """Create a sign-in message.

        Returns an EIP-4361 message for chain 14 that contains the requested scopes. The wallet
        signs the message exactly as returned, within 5 minutes.

        Needs: no token.
        """
        answer: m.Challenge = self._request(
            "POST",
            "/auth/challenge",
            body=body,
        )
        return answer

    def exchange_token(
        self,
        body: m.TokenRequest,
    ) -> m.IssuedToken:
        """Exchange a signed message for an API token.

        Takes the exact message and its signature (EIP-191; contract wallets via ERC-1271 or
        ERC-6492). The API token is shown once and is valid for 30 days.

        Needs: no token.
        """
        answer: m.IssuedToken = self._request(
            "POST",
            "/auth/token",
            body=body,
        )
        return answer

    def list_tokens(
        self,
    ) -> m.TokenList:
        """List API tokens.

        The wallet’s API tokens, active ones first, at most 50. Secrets are never shown.

        Needs: read.
        """
        answer: m.TokenList = self._request(
            "GET",
            "/auth/tokens",
        )
        return answer

    def revoke_token(
        self,
        id: str | int,
    ) -> None:
        """Revoke an API token.

        Takes effect with the next request. Any token with the scope write can revoke any token
        of the same wallet.

        Needs: write.
        """
        self._request(
            "DELETE",
            f"/auth/tokens/{self._segment(id)}",
        )

    def list_channels(
        self,
    ) -> m.ChannelList:
        """List channels.

        Every channel of this service and whether the wallet has set it up.

        Needs: read.
        """
        answer: m.ChannelList = self._request(
            "GET",
            "/channels",
        )
        return answer

    def configure_channel(
        self,
        key: str | int,
        body: m.ChannelSetup,
        *,
        idempotency_key: str | None = None,
    ) -> m.ChannelState:
        """Set up a channel.

        Sets the wallet’s own destination for a channel: an e-mail address, a webhook, or a URL
        of Discord, Slack, ntfy or PagerDuty. The response for a new webhook contains its
        signing secret, shown only once. A different URL gets a new secret; the same URL with
        rotateSecret rotates the secret. A mailbox must be confirmed first.

        Needs: write.
        """
        answer: m.ChannelState = self._request(
            "PUT",
            f"/channels/{self._segment(key)}",
            body=body,
            key=idempotency_key,
            is_keyed=True,
        )
        return answer

    def remove_channel(
        self,
        key: str | int,
    ) -> None:
        """Remove a channel.

        Removes the wallet’s own destination for this channel.

        Needs: write.
        """
        self._request(
            "DELETE",
            f"/channels/{self._segment(key)}",
        )

    def test_channel(
        self,
        key: str | int,
    ) -> m.TestResult:
        """Send a test to a channel.

        Sends a real message marked as a test. For a webhook, its response is returned
        immediately; for other channels, the message is queued.

        Needs: write.
        """
        answer: m.TestResult = self._request(
            "POST",
            f"/channels/{self._segment(key)}/test",
        )
        return answer

    def preview_message(
        self,
        body: m.PreviewRequest,
    ) -> m.Preview:
        """Preview a message.

        A sample message for an event, as each channel would send it. Omitted data is taken from
        an example.

        Needs: read.
        """
        answer: m.Preview = self._request(
            "POST",
            "/message-preview",
            body=body,
        )
        return answer

    def get_open_api(
        self,
        *,
        locale: Literal["en", "de", "fr", "bn", "zh", "hi", "ar"] | None = None,
    ) -> m.OpenApiDocument:
        """Get this description.

        The machine-readable description of all operations, generated from the same registry as
        the routes.

        Needs: no token.
        """
        answer: m.OpenApiDocument = self._request(
            "GET",
            "/openapi.json",
            query={"locale": locale},
        )
        return answer

    def get_pricing(
        self,
    ) -> m.PricingDocument:
        """Get prices, watch types and signals.

        Prices, payment assets, metered resources with their URLs, slot prices, watch types and
        the whole signal catalog with its help texts.

        Needs: no token.
        """
        answer: m.PricingDocument = self._request(
            "GET",
            "/pricing",
        )
        return answer

    def get_watch_type(
        self,
        type: str | int,
    ) -> m.WatchTypeView:
        """Get the signals of a watch type.

        The signals of one watch type: what each checks, its events and its parameters. Texts
        are in the language of the request.

        Needs: no token.
        """
        answer: m.WatchTypeView = self._request(
            "GET",
            f"/watch-types/{self._segment(type)}",
        )
        return answer

    def get_provider_fsp(
        self,
        *,
        provider: str,
        rounds: int | None = None,
    ) -> m.ProviderView:
        """Get a data provider’s status.

        The provider’s last voting rounds, one status word per duty, plus registration, signing
        policy, weight, fast updates, minimal conditions and balances. Accepts any of the
        provider’s addresses. For an unregistered provider, the response contains `registered:
        false`.

        Needs: read.
        """
        answer: m.ProviderView = self._request(
            "GET",
            "/provider-fsp",
            query={"provider": provider, "rounds": rounds},
        )
        return answer

    def get_provider_metrics(
        self,
        provider: str | int,
    ) -> str:
        """Get a data provider’s metrics.

        The figures of a provider in the Prometheus text format. The wallet needs a watch on
        this provider. Names begin with `flare_provider_`; a HELP line gives the meaning and
        unit of each. Values that are unknown are left out. The figures are those of the last 80
        evaluated rounds and at most 10 seconds old, so a scrape every 15 seconds costs little.
        Load `/docs/provider-rules.yaml` into Prometheus and `/docs/provider-board.json` into
        Grafana; `/docs/prometheus.yml` shows how to scrape.

        Needs: read.
        """
        answer: str = self._request(
            "GET",
            f"/providers/{self._segment(provider)}/metrics",
            accept="text/plain",
        )
        return answer

    def get_epoch_report(
        self,
        provider: str | int,
        epoch: str | int,
    ) -> m.EpochReport:
        """Get the report of a reward epoch.

        What a provider did in one reward epoch: duties, punctuality, rank, minimal conditions,
        eligibility, published rewards, and what to fix. Unknown values are null. Counts are
        kept for five years, times and minimal conditions for two reward epochs.

        Needs: read.
        """
        answer: m.EpochReport = self._request(
            "GET",
            f"/providers/{self._segment(provider)}/epochs/{self._segment(epoch)}",
        )
        return answer

    def list_recipients(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> m.RecipientList:
        """List recipients.

        The wallet’s named recipients. Destinations are masked.

        Needs: read.
        """
        answer: m.RecipientList = self._request(
            "GET",
            "/recipients",
            query={"limit": limit, "cursor": cursor},
        )
        return answer

    def all_recipients(
        self,
        *,
        limit: int | None = None,
    ) -> Iterator[m.Recipient]:
        """Every item of `list_recipients`, page after page."""
        return all_pages(
            lambda cursor: self.list_recipients(
                limit=limit,
                cursor=cursor,
            )
        )

    def create_recipient(
        self,
        body: m.RecipientRequest,
        *,
        idempotency_key: str | None = None,
    ) -> m.Recipient:
        """Create a recipient.

        Adds a mailbox, a webhook, or a destination in Discord, Slack, ntfy or PagerDuty, at
        most 20 recipients in all. With default true it gets the alerts of every watch without
        recipients of its own; the first one does so even if default is left out. A mailbox must
        be confirmed first; a webhook’s signing secret is shown once.

        Needs: write.
        """
        answer: m.Recipient = self._request(
            "POST",
            "/recipients",
            body=body,
            key=idempotency_key,
            is_keyed=True,
        )
        return answer

    def update_recipient(
        self,
        id: str | int,
        body: m.RecipientChanges,
    ) -> m.Recipient:
        """Change a recipient.

        Changes name, destination, language, time zone, minimum severity or status, or rotates
        the signing secret. After a rotation, messages are signed with both secrets for 24
        hours.

        Needs: write.
        """
        answer: m.Recipient = self._request(
            "PATCH",
            f"/recipients/{self._segment(id)}",
            body=body,
        )
        return answer

    def delete_recipient(
        self,
        id: str | int,
    ) -> None:
        """Delete a recipient.

        Watches that used only this recipient use the default recipients again.

        Needs: write.
        """
        self._request(
            "DELETE",
            f"/recipients/{self._segment(id)}",
        )

    def test_recipient(
        self,
        id: str | int,
    ) -> m.TestResult:
        """Send a test to a recipient.

        Sends a real message marked as a test. For a webhook, its response is returned
        immediately; for other channels, the message is queued.

        Needs: write.
        """
        answer: m.TestResult = self._request(
            "POST",
            f"/recipients/{self._segment(id)}/test",
        )
        return answer

    def create_telegram_link(
        self,
        body: m.TelegramLinkRequest | None = None,
    ) -> m.TelegramLink:
        """Create a link for a Telegram chat.

        Returns two single-use links that expire after 15 minutes: one for a private chat, one
        for a group. The person who opens a link sees the wallet and confirms.

        Needs: write.
        """
        answer: m.TelegramLink = self._request(
            "POST",
            "/recipients/telegram-link",
            body=body,
        )
        return answer

    def get_settings(
        self,
    ) -> m.Settings:
        """Get the notification settings.

        Language, time zone, minimum severity, quiet hours, digest and reminders. They apply to
        chats and e-mail, never to webhooks.

        Needs: read.
        """
        answer: m.Settings = self._request(
            "GET",
            "/settings",
        )
        return answer

    def replace_settings(
        self,
        body: m.SettingsRequest,
        *,
        if_match: str | None = None,
    ) -> m.Settings:
        """Replace the notification settings.

        Replaces the whole object. With If-Match, only if the settings were not changed in the
        meantime.

        Needs: write.
        """
        answer: m.Settings = self._request(
            "PUT",
            "/settings",
            body=body,
            if_match=if_match,
        )
        return answer

    def create_maintenance(
        self,
        body: m.MaintenanceRequest,
        *,
        idempotency_key: str | None = None,
    ) -> m.MaintenanceWindow:
        """Plan maintenance.

        During the window nobody is sent alerts of these watches, programs included. Alerts are
        recorded; those that are still active at the end are sent then.

        Needs: write.
        """
        answer: m.MaintenanceWindow = self._request(
            "POST",
            "/maintenance",
            body=body,
            key=idempotency_key,
            is_keyed=True,
        )
        return answer

    def delete_maintenance(
        self,
        id: str | int,
    ) -> None:
        """End maintenance.

        Removes the window for good. Alerts that are still active are sent within a minute.

        Needs: write.
        """
        self._request(
            "DELETE",
            f"/maintenance/{self._segment(id)}",
        )

    def get_stats(
        self,
    ) -> m.Stats:
        """Get public statistics.

        Totals over all wallets, at most one minute old.

        Needs: no token.
        """
        answer: m.Stats = self._request(
            "GET",
            "/stats",
        )
        return answer

    def list_subscriptions(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> m.SubscriptionList:
        """List subscriptions and slots.

        The wallet’s subscriptions, ordered by id, with its slots in total and in use, and its
        trial.

        Needs: read.
        """
        answer: m.SubscriptionList = self._request(
            "GET",
            "/subscriptions",
            query={"limit": limit, "cursor": cursor},
        )
        return answer

    def all_subscriptions(
        self,
        *,
        limit: int | None = None,
    ) -> Iterator[m.Subscription]:
        """Every item of `list_subscriptions`, page after page."""
        return all_pages(
            lambda cursor: self.list_subscriptions(
                limit=limit,
                cursor=cursor,
            )
        )

    def create_subscription(
        self,
        body: m.SubscriptionRequest,
        *,
        idempotency_key: str | None = None,
    ) -> m.Subscription:
        """Buy slots.

        Pays for slots in 30-day periods from the credit balance. If expectedCredits is given,
        the purchase is made only at that price. The terms must be accepted first.

        Needs: spend.
        """
        answer: m.Subscription = self._request(
            "POST",
            "/subscriptions",
            body=body,
            key=idempotency_key,
            is_keyed=True,
        )
        return answer

    def update_subscriptions(
        self,
        body: m.SubscriptionChanges,
    ) -> m.SubscriptionList:
        """Turn auto-renew on or off.

        For one subscription, or without id for all that have not expired. Turning on needs the
        scope spend, turning off the scope write.

        Needs: write, sometimes spend.
        """
        answer: m.SubscriptionList = self._request(
            "PATCH",
            "/subscriptions",
            body=body,
        )
        return answer

    def quote_subscription(
        self,
        *,
        quantity: int,
        periods: int,
    ) -> m.SlotQuote:
        """Quote a price for slots.

        The current price of the given number of slots and 30-day periods, discounts included,
        and how many credits you are short.

        Needs: read.
        """
        answer: m.SlotQuote = self._request(
            "GET",
            "/subscriptions/quote",
            query={"quantity": quantity, "periods": periods},
        )
        return answer

    def quote_renewal(
        self,
        id: str | int,
    ) -> m.RenewalQuote:
        """Quote the renewal of a subscription.

        Number, price and end of the subscription’s next term, which begins where the paid one
        ends.

        Needs: read.
        """
        answer: m.RenewalQuote = self._request(
            "GET",
            f"/subscriptions/{self._segment(id)}/renewal",
        )
        return answer

    def renew_subscription(
        self,
        id: str | int,
        body: m.Renewal,
        *,
        idempotency_key: str | None = None,
    ) -> m.Subscription:
        """Renew a subscription once.

        Pays one term from the credit balance. It begins where the paid one ends. A term that is
        already paid costs nothing again; a term after the next one is refused. If
        expectedCredits is given, the term is paid only at that price.

        Needs: spend.
        """
        answer: m.Subscription = self._request(
            "POST",
            f"/subscriptions/{self._segment(id)}/renewal",
            body=body,
            key=idempotency_key,
            is_keyed=True,
        )
        return answer

    def start_trial(
        self,
    ) -> m.Trial:
        """Start the free trial.

        One slot for 14 days, once per wallet and once per Telegram account. The terms must be
        accepted first.

        Needs: write.
        """
        answer: m.Trial = self._request(
            "POST",
            "/subscriptions/trial",
        )
        return answer

    def create_topup(
        self,
        body: m.TopupRequest | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> m.TopupDraft:
        """Create a top-up.

        Quotes the price of credits in a payment asset and locks it for 10 minutes. Default
        asset: the service’s own token, or FLR where that token is not available.

        Needs: write, sometimes spend.
        """
        answer: m.TopupDraft = self._request(
            "POST",
            "/topup",
            body=body,
            key=idempotency_key,
            is_keyed=True,
        )
        return answer

    def get_topup(
        self,
        handle: str | int,
    ) -> m.Topup:
        """Get a top-up.

        How to pay, and the payment status so far.

        Needs: read.
        """
        answer: m.Topup = self._request(
            "GET",
            f"/topup/{self._segment(handle)}",
        )
        return answer

    def confirm_topup(
        self,
        handle: str | int,
        body: m.ConfirmTopup,
    ) -> m.Topup:
        """Confirm a payment.

        Submits the hash of the payment transaction. Returns 202 until the transaction has
        enough confirmations, then 200. Payments are also detected without this call. The amount
        actually paid is credited at the locked price.

        Needs: write.
        """
        answer: m.Topup = self._request(
            "POST",
            f"/topup/{self._segment(handle)}/confirm",
            body=body,
        )
        return answer

    def list_watches(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> m.WatchList:
        """List watches.

        The wallet’s watches, ordered by id, with the state of their signals.

        Needs: read.
        """
        answer: m.WatchList = self._request(
            "GET",
            "/watches",
            query={"limit": limit, "cursor": cursor},
        )
        return answer

    def all_watches(
        self,
        *,
        limit: int | None = None,
    ) -> Iterator[m.Watch]:
        """Every item of `list_watches`, page after page."""
        return all_pages(
            lambda cursor: self.list_watches(
                limit=limit,
                cursor=cursor,
            )
        )

    def create_watch(
        self,
        body: m.WatchRequest,
        *,
        idempotency_key: str | None = None,
    ) -> m.Watch:
        """Create a watch.

        Uses one slot. Signals you omit get their defaults. No alert is raised before the first
        value has been read.

        Needs: write.
        """
        answer: m.Watch = self._request(
            "POST",
            "/watches",
            body=body,
            key=idempotency_key,
            is_keyed=True,
        )
        return answer

    def backtest_watch(
        self,
        body: m.WatchRequest,
        *,
        days: int | None = None,
    ) -> m.Backtest:
        """Try a watch on past data.

        Replays stored data with the rules of a running watch and creates nothing. The body is
        the same as for `POST /watches`. Mutes, quiet hours and chain outages are ignored.

        Needs: read.
        """
        answer: m.Backtest = self._request(
            "POST",
            "/watches/backtest",
            query={"days": days},
            body=body,
        )
        return answer

    def get_watch(
        self,
        id: str | int,
    ) -> m.Watch:
        """Get a watch.

        One watch with its settings and the state of its signals.

        Needs: read.
        """
        answer: m.Watch = self._request(
            "GET",
            f"/watches/{self._segment(id)}",
        )
        return answer

    def update_watch(
        self,
        id: str | int,
        body: m.WatchChanges,
        *,
        if_match: str | None = None,
    ) -> m.Watch:
        """Change a watch.

        Changes only the given fields: settings by field, signals by id. Type and target cannot
        change. With If-Match, only if the watch was not changed in the meantime.

        Needs: write.
        """
        answer: m.Watch = self._request(
            "PATCH",
            f"/watches/{self._segment(id)}",
            body=body,
            if_match=if_match,
        )
        return answer

    def delete_watch(
        self,
        id: str | int,
    ) -> None:
        """Delete a watch.

        Stops the watch immediately and frees its slot. Its alerts stay in the history.

        Needs: write.
        """
        self._request(
            "DELETE",
            f"/watches/{self._segment(id)}",
        )
