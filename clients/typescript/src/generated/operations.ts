/* Generated from the operations of the service: npm run types:api */
import type {
  AcceptTerms,
  Account,
  AcknowledgeInput,
  Acknowledgement,
  AlertEvidence,
  AlertList,
  AlertSelection,
  Backtest,
  BalanceChangeData,
  BalanceLevelData,
  ChainOutageData,
  Challenge,
  ChallengeRequest,
  ChannelList,
  ChannelSetup,
  ChannelState,
  ConfirmTopup,
  CreditsThresholdData,
  DaysLeftData,
  DeletedAlerts,
  EpochReport,
  ErrorBudgetData,
  FailedTransactionData,
  FastUpdateData,
  IssuedToken,
  LowBalanceData,
  MaintenanceRequest,
  MaintenanceWindow,
  OpenApiDocument,
  PolicyMembershipData,
  Preview,
  PreviewRequest,
  PriceLevelData,
  PriceMoveData,
  PricingDocument,
  ProviderDaysLeftData,
  ProviderStatusData,
  ProviderView,
  Recipient,
  RecipientChanges,
  RecipientList,
  RecipientRequest,
  RegistrationData,
  Renewal,
  RenewalQuote,
  RewardSigningData,
  RoundStreakData,
  Settings,
  SettingsRequest,
  SlotQuote,
  StakeEndData,
  Stats,
  Subscription,
  SubscriptionChanges,
  SubscriptionList,
  SubscriptionRequest,
  TelegramLink,
  TelegramLinkRequest,
  TermsAcceptance,
  TestResult,
  TokenList,
  TokenRequest,
  Topup,
  TopupDraft,
  TopupRequest,
  Trial,
  UnclaimedRewardsData,
  ValidatorListingData,
  Watch,
  WatchChanges,
  WatchList,
  WatchRequest,
  WatchTypeView,
} from './models.ts'
import {
  Transport,
  type CallOptions,
  type KeyedCallOptions,
  type VersionedCallOptions,
} from '../transport.ts'
import { allPages } from '../pages.ts'

/** Codes of refusals, which never change. Later releases add some. */
export type ErrorCode =
  | 'account_not_confirmed'
  | 'asset_paused'
  | 'asset_unavailable'
  | 'billing_disabled'
  | 'cap_exceeded'
  | 'channel_unavailable'
  | 'dependency_unavailable'
  | 'etag_mismatch'
  | 'idempotency_in_progress'
  | 'idempotency_key_reused'
  | 'idempotency_response_unreadable'
  | 'insufficient_credits'
  | 'insufficient_scope'
  | 'internal'
  | 'invalid_idempotency_key'
  | 'invalid_signature'
  | 'invalid_token'
  | 'mailbox_refused'
  | 'maintenance_limit_reached'
  | 'malformed_json'
  | 'message_mismatch'
  | 'missing_token'
  | 'no_free_slot'
  | 'nonce_expired'
  | 'nonce_used'
  | 'not_acceptable'
  | 'not_found'
  | 'payload_too_large'
  | 'payment_required'
  | 'price_changed'
  | 'provider_not_watched'
  | 'rate_limited'
  | 'recipient_limit_reached'
  | 'recipient_not_active'
  | 'slot_limit_reached'
  | 'term_not_next'
  | 'terms_not_accepted'
  | 'terms_version_changed'
  | 'token_limit_reached'
  | 'too_many_backtests'
  | 'topup_state'
  | 'trial_already_used'
  | 'tx_already_used'
  | 'unsupported_media_type'
  | 'use_telegram_link'
  | 'validation_failed'
  | 'wallet_banned'
  | 'watch_limit_reached'

/** Data of every event that this release of the service knows. */
export interface EventData {
  'fsp.monitoring': ChainOutageData
  'fsp.monitoring.recovered': ChainOutageData
  'wallet-balance.moved': BalanceChangeData
  'wallet-balance.floor': BalanceLevelData
  'wallet-balance.floor.recovered': BalanceLevelData
  'wallet-balance.ceiling': BalanceLevelData
  'wallet-balance.ceiling.recovered': BalanceLevelData
  'wallet-balance.days-left': DaysLeftData
  'wallet-balance.days-left.recovered': DaysLeftData
  'feed-move.threshold': PriceMoveData
  'feed-move.below': PriceLevelData
  'feed-move.below.recovered': PriceLevelData
  'feed-move.above': PriceLevelData
  'feed-move.above.recovered': PriceLevelData
  'provider.unregistered': ProviderStatusData
  'provider.eligibility-lost': ProviderStatusData
  'provider.recovered': ProviderStatusData
  'credits.low-balance': CreditsThresholdData
  'credits.recovered': CreditsThresholdData
  'signing.uptime-open': RewardSigningData
  'signing.rewards-open': RewardSigningData
  'signing.rewards-reminder': RewardSigningData
  'signing.missed': RewardSigningData
  'signing.done': RewardSigningData
  'fsp.ftso-commit': RoundStreakData
  'fsp.ftso-commit.recovered': RoundStreakData
  'fsp.ftso-reveal': RoundStreakData
  'fsp.ftso-reveal.recovered': RoundStreakData
  'fsp.ftso-signature': RoundStreakData
  'fsp.ftso-signature.recovered': RoundStreakData
  'fsp.fdc-bitvote': RoundStreakData
  'fsp.fdc-bitvote.recovered': RoundStreakData
  'fsp.fdc-signature': RoundStreakData
  'fsp.fdc-signature.recovered': RoundStreakData
  'fsp.fdc-submit1': RoundStreakData
  'fsp.fdc-submit1.recovered': RoundStreakData
  'fsp.reveal-offence': RoundStreakData
  'fsp.reveal-offence.recovered': RoundStreakData
  'fsp.signature-mismatch': RoundStreakData
  'fsp.signature-mismatch.recovered': RoundStreakData
  'fsp.signature-grace': RoundStreakData
  'fsp.signature-grace.recovered': RoundStreakData
  'fsp.fdc-bitvote-length': RoundStreakData
  'fsp.fdc-bitvote-length.recovered': RoundStreakData
  'fsp.fdc-consensus': RoundStreakData
  'fsp.fdc-consensus.recovered': RoundStreakData
  'fsp.fdc-reveal-offence': RoundStreakData
  'fsp.fdc-reveal-offence.recovered': RoundStreakData
  'fsp.tx-failed': FailedTransactionData
  'fsp.tx-failed.recovered': FailedTransactionData
  'fsp.fast-updates': FastUpdateData
  'fsp.fast-updates.recovered': FastUpdateData
  'fsp.registration': RegistrationData
  'fsp.registration.recovered': RegistrationData
  'fsp.not-in-policy': PolicyMembershipData
  'fsp.not-in-policy.recovered': PolicyMembershipData
  'fsp.mc-anchor': ErrorBudgetData
  'fsp.mc-anchor.recovered': ErrorBudgetData
  'fsp.mc-fdc': ErrorBudgetData
  'fsp.mc-fdc.recovered': ErrorBudgetData
  'fsp.mc-fast-updates': ErrorBudgetData
  'fsp.mc-fast-updates.recovered': ErrorBudgetData
  'fsp.mc-uptime': ErrorBudgetData
  'fsp.mc-uptime.recovered': ErrorBudgetData
  'fsp.stake-end': StakeEndData
  'fsp.stake-end.recovered': StakeEndData
  'fsp.days-left': ProviderDaysLeftData
  'fsp.days-left.recovered': ProviderDaysLeftData
  'fsp.validator-not-listed': ValidatorListingData
  'fsp.validator-not-listed.recovered': ValidatorListingData
  'fsp.balance-low': LowBalanceData
  'fsp.balance-low.recovered': LowBalanceData
  'fsp.rewards-unclaimed': UnclaimedRewardsData
  'fsp.rewards-unclaimed.recovered': UnclaimedRewardsData
}

/** Name of an event. */
export type EventName = keyof EventData

/** Every operation of the service. */
export abstract class Operations extends Transport {
  /**
   * Get balance, slots and ledger
   *
   * The credit balance, today’s free calls, the slots and the ledger, newest first.
   *
   * Needs: read.
   */
  getAccount(
    query?: {
      limit?: number
      cursor?: string
      type?: 'topup' | 'bonus' | 'usage' | 'subscription' | 'refund' | 'adjustment'
      from?: string
      to?: string
    },
    options?: CallOptions,
  ): Promise<Account> {
    return this.request<Account>({ method: 'GET', path: '/account', query }, options)
  }

  /**
   * Delete the account
   *
   * Deletes the wallet’s watches, alerts, recipients, settings, messages and API tokens immediately. Its credits and slots are lost. Its payments and ledger are kept without its address, because the law demands it. Nothing can be restored. The call names the wallet and its balance, as a confirmation.
   *
   * Needs: spend.
   */
  deleteAccount(
    query: { wallet: string; forfeitCredits: number },
    options?: CallOptions,
  ): Promise<void> {
    return this.request<void>({ method: 'DELETE', path: '/account', query }, options)
  }

  /**
   * Get the terms status
   *
   * The version of the terms in force, and the version the wallet has accepted.
   *
   * Needs: read.
   */
  getTerms(options?: CallOptions): Promise<TermsAcceptance> {
    return this.request<TermsAcceptance>({ method: 'GET', path: '/account/terms' }, options)
  }

  /**
   * Accept the terms
   *
   * Accepts the version in force. Required before the first purchase or trial.
   *
   * Needs: write.
   */
  acceptTerms(body: AcceptTerms, options?: CallOptions): Promise<TermsAcceptance> {
    return this.request<TermsAcceptance>({ method: 'POST', path: '/account/terms', body }, options)
  }

  /**
   * List alerts
   *
   * The alert history, newest first, with the state of every delivery.
   *
   * Needs: read.
   */
  listAlerts(
    query?: {
      watchId?: number
      type?:
        | 'wallet-balance'
        | 'feed-move'
        | 'provider-eligibility'
        | 'credits-balance'
        | 'reward-signing'
        | 'provider-fsp'
      group?:
        | 'alerts'
        | 'ftso'
        | 'fdc'
        | 'offences'
        | 'transactions'
        | 'fast-updates'
        | 'registration'
        | 'incident'
      signal?: string
      event?: EventName
      severity?: 'info' | 'warning' | 'critical'
      state?: 'firing' | 'recovered' | 'acknowledged' | 'closed'
      from?: string
      to?: string
      limit?: number
      cursor?: string
    },
    options?: CallOptions,
  ): Promise<AlertList> {
    return this.request<AlertList>({ method: 'GET', path: '/alerts', query }, options)
  }

  /** Every item of `listAlerts`, page after page. */
  allAlerts(
    query?: {
      watchId?: number
      type?:
        | 'wallet-balance'
        | 'feed-move'
        | 'provider-eligibility'
        | 'credits-balance'
        | 'reward-signing'
        | 'provider-fsp'
      group?:
        | 'alerts'
        | 'ftso'
        | 'fdc'
        | 'offences'
        | 'transactions'
        | 'fast-updates'
        | 'registration'
        | 'incident'
      signal?: string
      event?: EventName
      severity?: 'info' | 'warning' | 'critical'
      state?: 'firing' | 'recovered' | 'acknowledged' | 'closed'
      from?: string
      to?: string
      limit?: number
      cursor?: string
    },
    options?: CallOptions,
  ): AsyncGenerator<AlertList['data'][number], void, undefined> {
    return allPages((cursor) => this.listAlerts({ ...query, ...cursor }, options))
  }

  /**
   * Delete alerts
   *
   * Deletes alerts from the history: by ids, before a time, or all. The filters of the list narrow the selection. Active alerts stay active.
   *
   * Needs: write.
   */
  deleteAlerts(body?: AlertSelection, options?: CallOptions): Promise<DeletedAlerts> {
    return this.request<DeletedAlerts>({ method: 'DELETE', path: '/alerts', body }, options)
  }

  /**
   * Delete one alert
   *
   * Deletes one alert from the history. If the alert is active, it stays active.
   *
   * Needs: write.
   */
  deleteAlert(id: number, options?: CallOptions): Promise<void> {
    return this.request<void>(
      { method: 'DELETE', path: `/alerts/${encodeURIComponent(id)}` },
      options,
    )
  }

  /**
   * Export alerts as CSV
   *
   * The alert history as CSV (RFC 4180), newest first, with the filters of the list.
   *
   * Needs: read.
   */
  exportAlerts(
    query?: {
      watchId?: number
      type?:
        | 'wallet-balance'
        | 'feed-move'
        | 'provider-eligibility'
        | 'credits-balance'
        | 'reward-signing'
        | 'provider-fsp'
      group?:
        | 'alerts'
        | 'ftso'
        | 'fdc'
        | 'offences'
        | 'transactions'
        | 'fast-updates'
        | 'registration'
      signal?: string
      event?: EventName
      severity?: 'info' | 'warning' | 'critical'
      state?: 'firing' | 'recovered' | 'acknowledged' | 'closed'
      from?: string
      to?: string
    },
    options?: CallOptions,
  ): Promise<ReadableStream<Uint8Array>> {
    return this.stream(
      { method: 'GET', path: '/alerts/export', query, accepts: 'text/csv' },
      options,
    )
  }

  /**
   * Get the proof of an alert
   *
   * What anyone can check on the chain about an alert of a data provider: the claim with its figures, the blocks that were read, and the transactions with their calldata. The script `examples/verify-evidence.ts` checks this document with any two endpoints. `version` is 1; new properties do not change it. An alert that the chain alone does not prove has `claim: null` and the reason in `unproven`.
   *
   * Needs: read.
   */
  getAlertEvidence(id: number, options?: CallOptions): Promise<AlertEvidence> {
    return this.request<AlertEvidence>(
      { method: 'GET', path: `/alerts/${encodeURIComponent(id)}/evidence` },
      options,
    )
  }

  /**
   * Acknowledge an alert
   *
   * Acknowledges an alert, in the name of the API token: no reminders and no escalation until it recovers. With `acknowledged: false` the acknowledgement is removed.
   *
   * Needs: write.
   */
  acknowledge(
    id: number,
    body?: AcknowledgeInput,
    options?: CallOptions,
  ): Promise<Acknowledgement> {
    return this.request<Acknowledgement>(
      { method: 'POST', path: `/alerts/${encodeURIComponent(id)}/acknowledge`, body },
      options,
    )
  }

  /**
   * Create a sign-in message
   *
   * Returns an EIP-4361 message for chain 14 that contains the requested scopes. The wallet signs the message exactly as returned, within 5 minutes.
   *
   * Needs: no token.
   */
  createChallenge(body: ChallengeRequest, options?: CallOptions): Promise<Challenge> {
    return this.request<Challenge>({ method: 'POST', path: '/auth/challenge', body }, options)
  }

  /**
   * Exchange a signed message for an API token
   *
   * Takes the exact message and its signature (EIP-191; contract wallets via ERC-1271 or ERC-6492). The API token is shown once and is valid for 30 days.
   *
   * Needs: no token.
   */
  exchangeToken(body: TokenRequest, options?: CallOptions): Promise<IssuedToken> {
    return this.request<IssuedToken>({ method: 'POST', path: '/auth/token', body }, options)
  }

  /**
   * List API tokens
   *
   * The wallet’s API tokens, active ones first, at most 50. Secrets are never shown.
   *
   * Needs: read.
   */
  listTokens(options?: CallOptions): Promise<TokenList> {
    return this.request<TokenList>({ method: 'GET', path: '/auth/tokens' }, options)
  }

  /**
   * Revoke an API token
   *
   * Takes effect with the next request. Any token with the scope write can revoke any token of the same wallet.
   *
   * Needs: write.
   */
  revokeToken(id: number, options?: CallOptions): Promise<void> {
    return this.request<void>(
      { method: 'DELETE', path: `/auth/tokens/${encodeURIComponent(id)}` },
      options,
    )
  }

  /**
   * List channels
   *
   * Every channel of this service and whether the wallet has set it up.
   *
   * Needs: read.
   */
  listChannels(options?: CallOptions): Promise<ChannelList> {
    return this.request<ChannelList>({ method: 'GET', path: '/channels' }, options)
  }

  /**
   * Set up a channel
   *
   * Sets the wallet’s own destination for a channel: an e-mail address, a webhook, or a URL of Discord, Slack, ntfy or PagerDuty. The response for a new webhook contains its signing secret, shown only once. A different URL gets a new secret; the same URL with rotateSecret rotates the secret. A mailbox must be confirmed first.
   *
   * Needs: write.
   */
  configureChannel(
    key: string,
    body: ChannelSetup,
    options?: KeyedCallOptions,
  ): Promise<ChannelState> {
    return this.request<ChannelState>(
      { method: 'PUT', path: `/channels/${encodeURIComponent(key)}`, body, isKeyed: true },
      options,
    )
  }

  /**
   * Remove a channel
   *
   * Removes the wallet’s own destination for this channel.
   *
   * Needs: write.
   */
  removeChannel(key: string, options?: CallOptions): Promise<void> {
    return this.request<void>(
      { method: 'DELETE', path: `/channels/${encodeURIComponent(key)}` },
      options,
    )
  }

  /**
   * Send a test to a channel
   *
   * Sends a real message marked as a test. For a webhook, its response is returned immediately; for other channels, the message is queued.
   *
   * Needs: write.
   */
  testChannel(key: string, options?: CallOptions): Promise<TestResult> {
    return this.request<TestResult>(
      { method: 'POST', path: `/channels/${encodeURIComponent(key)}/test` },
      options,
    )
  }

  /**
   * Preview a message
   *
   * A sample message for an event, as each channel would send it. Omitted data is taken from an example.
   *
   * Needs: read.
   */
  previewMessage(body: PreviewRequest, options?: CallOptions): Promise<Preview> {
    return this.request<Preview>({ method: 'POST', path: '/message-preview', body }, options)
  }

  /**
   * Get this description
   *
   * The machine-readable description of all operations, generated from the same registry as the routes.
   *
   * Needs: no token.
   */
  getOpenApi(
    query?: { locale?: 'en' | 'de' | 'fr' | 'bn' | 'zh' | 'hi' | 'ar' },
    options?: CallOptions,
  ): Promise<OpenApiDocument> {
    return this.request<OpenApiDocument>({ method: 'GET', path: '/openapi.json', query }, options)
  }

  /**
   * Get prices, watch types and signals
   *
   * Prices, payment assets, metered resources with their URLs, slot prices, watch types and the whole signal catalog with its help texts.
   *
   * Needs: no token.
   */
  getPricing(options?: CallOptions): Promise<PricingDocument> {
    return this.request<PricingDocument>({ method: 'GET', path: '/pricing' }, options)
  }

  /**
   * Get the signals of a watch type
   *
   * The signals of one watch type: what each checks, its events and its parameters. Texts are in the language of the request.
   *
   * Needs: no token.
   */
  getWatchType(
    type:
      | 'wallet-balance'
      | 'feed-move'
      | 'provider-eligibility'
      | 'credits-balance'
      | 'reward-signing'
      | 'provider-fsp',
    options?: CallOptions,
  ): Promise<WatchTypeView> {
    return this.request<WatchTypeView>(
      { method: 'GET', path: `/watch-types/${encodeURIComponent(type)}` },
      options,
    )
  }

  /**
   * Get a data provider’s status
   *
   * The provider’s last voting rounds, one status word per duty, plus registration, signing policy, weight, fast updates, minimal conditions and balances. Accepts any of the provider’s addresses. For an unregistered provider, the response contains `registered: false`.
   *
   * Needs: read.
   */
  getProviderFsp(
    query: { provider: string; rounds?: number },
    options?: CallOptions,
  ): Promise<ProviderView> {
    return this.request<ProviderView>({ method: 'GET', path: '/provider-fsp', query }, options)
  }

  /**
   * Get a data provider’s metrics
   *
   * The figures of a provider in the Prometheus text format. The wallet needs a watch on this provider. Names begin with `flare_provider_`; a HELP line gives the meaning and unit of each. Values that are unknown are left out. The figures are those of the last 80 evaluated rounds and at most 10 seconds old, so a scrape every 15 seconds costs little. Load `/docs/provider-rules.yaml` into Prometheus and `/docs/provider-board.json` into Grafana; `/docs/prometheus.yml` shows how to scrape.
   *
   * Needs: read.
   */
  getProviderMetrics(provider: string, options?: CallOptions): Promise<ReadableStream<Uint8Array>> {
    return this.stream(
      {
        method: 'GET',
        path: `/providers/${encodeURIComponent(provider)}/metrics`,
        accepts: 'text/plain',
      },
      options,
    )
  }

  /**
   * Get the report of a reward epoch
   *
   * What a provider did in one reward epoch: duties, punctuality, rank, minimal conditions, eligibility, published rewards, and what to fix. Unknown values are null. Counts are kept for five years, times and minimal conditions for two reward epochs.
   *
   * Needs: read.
   */
  getEpochReport(provider: string, epoch: number, options?: CallOptions): Promise<EpochReport> {
    return this.request<EpochReport>(
      {
        method: 'GET',
        path: `/providers/${encodeURIComponent(provider)}/epochs/${encodeURIComponent(epoch)}`,
      },
      options,
    )
  }

  /**
   * List recipients
   *
   * The wallet’s named recipients. Destinations are masked.
   *
   * Needs: read.
   */
  listRecipients(
    query?: { limit?: number; cursor?: string },
    options?: CallOptions,
  ): Promise<RecipientList> {
    return this.request<RecipientList>({ method: 'GET', path: '/recipients', query }, options)
  }

  /** Every item of `listRecipients`, page after page. */
  allRecipients(
    query?: { limit?: number; cursor?: string },
    options?: CallOptions,
  ): AsyncGenerator<RecipientList['data'][number], void, undefined> {
    return allPages((cursor) => this.listRecipients({ ...query, ...cursor }, options))
  }

  /**
   * Create a recipient
   *
   * Adds a mailbox, a webhook, or a destination in Discord, Slack, ntfy or PagerDuty, at most 20 recipients in all. With default true it gets the alerts of every watch without recipients of its own; the first one does so even if default is left out. A mailbox must be confirmed first; a webhook’s signing secret is shown once.
   *
   * Needs: write.
   */
  createRecipient(body: RecipientRequest, options?: KeyedCallOptions): Promise<Recipient> {
    return this.request<Recipient>(
      { method: 'POST', path: '/recipients', body, isKeyed: true },
      options,
    )
  }

  /**
   * Change a recipient
   *
   * Changes name, destination, language, time zone, minimum severity or status, or rotates the signing secret. After a rotation, messages are signed with both secrets for 24 hours.
   *
   * Needs: write.
   */
  updateRecipient(id: number, body: RecipientChanges, options?: CallOptions): Promise<Recipient> {
    return this.request<Recipient>(
      { method: 'PATCH', path: `/recipients/${encodeURIComponent(id)}`, body },
      options,
    )
  }

  /**
   * Delete a recipient
   *
   * Watches that used only this recipient use the default recipients again.
   *
   * Needs: write.
   */
  deleteRecipient(id: number, options?: CallOptions): Promise<void> {
    return this.request<void>(
      { method: 'DELETE', path: `/recipients/${encodeURIComponent(id)}` },
      options,
    )
  }

  /**
   * Send a test to a recipient
   *
   * Sends a real message marked as a test. For a webhook, its response is returned immediately; for other channels, the message is queued.
   *
   * Needs: write.
   */
  testRecipient(id: number, options?: CallOptions): Promise<TestResult> {
    return this.request<TestResult>(
      { method: 'POST', path: `/recipients/${encodeURIComponent(id)}/test` },
      options,
    )
  }

  /**
   * Create a link for a Telegram chat
   *
   * Returns two single-use links that expire after 15 minutes: one for a private chat, one for a group. The person who opens a link sees the wallet and confirms.
   *
   * Needs: write.
   */
  createTelegramLink(body?: TelegramLinkRequest, options?: CallOptions): Promise<TelegramLink> {
    return this.request<TelegramLink>(
      { method: 'POST', path: '/recipients/telegram-link', body },
      options,
    )
  }

  /**
   * Get the notification settings
   *
   * Language, time zone, minimum severity, quiet hours, digest and reminders. They apply to chats and e-mail, never to webhooks.
   *
   * Needs: read.
   */
  getSettings(options?: CallOptions): Promise<Settings> {
    return this.request<Settings>({ method: 'GET', path: '/settings' }, options)
  }

  /**
   * Replace the notification settings
   *
   * Replaces the whole object. With If-Match, only if the settings were not changed in the meantime.
   *
   * Needs: write.
   */
  replaceSettings(body: SettingsRequest, options?: VersionedCallOptions): Promise<Settings> {
    return this.request<Settings>({ method: 'PUT', path: '/settings', body }, options)
  }

  /**
   * Plan maintenance
   *
   * During the window nobody is sent alerts of these watches, programs included. Alerts are recorded; those that are still active at the end are sent then.
   *
   * Needs: write.
   */
  createMaintenance(
    body: MaintenanceRequest,
    options?: KeyedCallOptions,
  ): Promise<MaintenanceWindow> {
    return this.request<MaintenanceWindow>(
      { method: 'POST', path: '/maintenance', body, isKeyed: true },
      options,
    )
  }

  /**
   * End maintenance
   *
   * Removes the window for good. Alerts that are still active are sent within a minute.
   *
   * Needs: write.
   */
  deleteMaintenance(id: string, options?: CallOptions): Promise<void> {
    return this.request<void>(
      { method: 'DELETE', path: `/maintenance/${encodeURIComponent(id)}` },
      options,
    )
  }

  /**
   * Get public statistics
   *
   * Totals over all wallets, at most one minute old.
   *
   * Needs: no token.
   */
  getStats(options?: CallOptions): Promise<Stats> {
    return this.request<Stats>({ method: 'GET', path: '/stats' }, options)
  }

  /**
   * List subscriptions and slots
   *
   * The wallet’s subscriptions, ordered by id, with its slots in total and in use, and its trial.
   *
   * Needs: read.
   */
  listSubscriptions(
    query?: { limit?: number; cursor?: string },
    options?: CallOptions,
  ): Promise<SubscriptionList> {
    return this.request<SubscriptionList>({ method: 'GET', path: '/subscriptions', query }, options)
  }

  /** Every item of `listSubscriptions`, page after page. */
  allSubscriptions(
    query?: { limit?: number; cursor?: string },
    options?: CallOptions,
  ): AsyncGenerator<SubscriptionList['data'][number], void, undefined> {
    return allPages((cursor) => this.listSubscriptions({ ...query, ...cursor }, options))
  }

  /**
   * Buy slots
   *
   * Pays for slots in 30-day periods from the credit balance. If expectedCredits is given, the purchase is made only at that price. The terms must be accepted first.
   *
   * Needs: spend.
   */
  createSubscription(body: SubscriptionRequest, options?: KeyedCallOptions): Promise<Subscription> {
    return this.request<Subscription>(
      { method: 'POST', path: '/subscriptions', body, isKeyed: true },
      options,
    )
  }

  /**
   * Turn auto-renew on or off
   *
   * For one subscription, or without id for all that have not expired. Turning on needs the scope spend, turning off the scope write.
   *
   * Needs: write, sometimes spend.
   */
  updateSubscriptions(body: SubscriptionChanges, options?: CallOptions): Promise<SubscriptionList> {
    return this.request<SubscriptionList>(
      { method: 'PATCH', path: '/subscriptions', body },
      options,
    )
  }

  /**
   * Quote a price for slots
   *
   * The current price of the given number of slots and 30-day periods, discounts included, and how many credits you are short.
   *
   * Needs: read.
   */
  quoteSubscription(
    query: { quantity: number; periods: number },
    options?: CallOptions,
  ): Promise<SlotQuote> {
    return this.request<SlotQuote>({ method: 'GET', path: '/subscriptions/quote', query }, options)
  }

  /**
   * Quote the renewal of a subscription
   *
   * Number, price and end of the subscription’s next term, which begins where the paid one ends.
   *
   * Needs: read.
   */
  quoteRenewal(id: number, options?: CallOptions): Promise<RenewalQuote> {
    return this.request<RenewalQuote>(
      { method: 'GET', path: `/subscriptions/${encodeURIComponent(id)}/renewal` },
      options,
    )
  }

  /**
   * Renew a subscription once
   *
   * Pays one term from the credit balance. It begins where the paid one ends. A term that is already paid costs nothing again; a term after the next one is refused. If expectedCredits is given, the term is paid only at that price.
   *
   * Needs: spend.
   */
  renewSubscription(id: number, body: Renewal, options?: KeyedCallOptions): Promise<Subscription> {
    return this.request<Subscription>(
      {
        method: 'POST',
        path: `/subscriptions/${encodeURIComponent(id)}/renewal`,
        body,
        isKeyed: true,
      },
      options,
    )
  }

  /**
   * Start the free trial
   *
   * One slot for 14 days, once per wallet and once per Telegram account. The terms must be accepted first.
   *
   * Needs: write.
   */
  startTrial(options?: CallOptions): Promise<Trial> {
    return this.request<Trial>({ method: 'POST', path: '/subscriptions/trial' }, options)
  }

  /**
   * Create a top-up
   *
   * Quotes the price of credits in a payment asset and locks it for 10 minutes. Default asset: the service’s own token, or FLR where that token is not available.
   *
   * Needs: write, sometimes spend.
   */
  createTopup(body?: TopupRequest, options?: KeyedCallOptions): Promise<TopupDraft> {
    return this.request<TopupDraft>(
      { method: 'POST', path: '/topup', body, isKeyed: true },
      options,
    )
  }

  /**
   * Get a top-up
   *
   * How to pay, and the payment status so far.
   *
   * Needs: read.
   */
  getTopup(handle: string, options?: CallOptions): Promise<Topup> {
    return this.request<Topup>(
      { method: 'GET', path: `/topup/${encodeURIComponent(handle)}` },
      options,
    )
  }

  /**
   * Confirm a payment
   *
   * Submits the hash of the payment transaction. Returns 202 until the transaction has enough confirmations, then 200. Payments are also detected without this call. The amount actually paid is credited at the locked price.
   *
   * Needs: write.
   */
  confirmTopup(handle: string, body: ConfirmTopup, options?: CallOptions): Promise<Topup> {
    return this.request<Topup>(
      { method: 'POST', path: `/topup/${encodeURIComponent(handle)}/confirm`, body },
      options,
    )
  }

  /**
   * List watches
   *
   * The wallet’s watches, ordered by id, with the state of their signals.
   *
   * Needs: read.
   */
  listWatches(
    query?: { limit?: number; cursor?: string },
    options?: CallOptions,
  ): Promise<WatchList> {
    return this.request<WatchList>({ method: 'GET', path: '/watches', query }, options)
  }

  /** Every item of `listWatches`, page after page. */
  allWatches(
    query?: { limit?: number; cursor?: string },
    options?: CallOptions,
  ): AsyncGenerator<WatchList['data'][number], void, undefined> {
    return allPages((cursor) => this.listWatches({ ...query, ...cursor }, options))
  }

  /**
   * Create a watch
   *
   * Uses one slot. Signals you omit get their defaults. No alert is raised before the first value has been read.
   *
   * Needs: write.
   */
  createWatch(body: WatchRequest, options?: KeyedCallOptions): Promise<Watch> {
    return this.request<Watch>({ method: 'POST', path: '/watches', body, isKeyed: true }, options)
  }

  /**
   * Try a watch on past data
   *
   * Replays stored data with the rules of a running watch and creates nothing. The body is the same as for `POST /watches`. Mutes, quiet hours and chain outages are ignored.
   *
   * Needs: read.
   */
  backtestWatch(
    body: WatchRequest,
    query?: { days?: number },
    options?: CallOptions,
  ): Promise<Backtest> {
    return this.request<Backtest>(
      { method: 'POST', path: '/watches/backtest', query, body },
      options,
    )
  }

  /**
   * Get a watch
   *
   * One watch with its settings and the state of its signals.
   *
   * Needs: read.
   */
  getWatch(id: number, options?: CallOptions): Promise<Watch> {
    return this.request<Watch>(
      { method: 'GET', path: `/watches/${encodeURIComponent(id)}` },
      options,
    )
  }

  /**
   * Change a watch
   *
   * Changes only the given fields: settings by field, signals by id. Type and target cannot change. With If-Match, only if the watch was not changed in the meantime.
   *
   * Needs: write.
   */
  updateWatch(id: number, body: WatchChanges, options?: VersionedCallOptions): Promise<Watch> {
    return this.request<Watch>(
      { method: 'PATCH', path: `/watches/${encodeURIComponent(id)}`, body },
      options,
    )
  }

  /**
   * Delete a watch
   *
   * Stops the watch immediately and frees its slot. Its alerts stay in the history.
   *
   * Needs: write.
   */
  deleteWatch(id: number, options?: CallOptions): Promise<void> {
    return this.request<void>(
      { method: 'DELETE', path: `/watches/${encodeURIComponent(id)}` },
      options,
    )
  }
}
