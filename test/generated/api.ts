export interface AcceptTerms {
  /**
   * @minLength 1
   * @maxLength 100
   */
  version: string;
}

export interface Account {
  balanceCredits: number;
  freeTier: {
    limit: number;
    /** @format date-time */
    resetsAt: string;
    used: number;
  };
  ledger: {
    data: LedgerEntry[];
    /** Cursor of the next page; null on the last page. */
    nextCursor: string | null;
  };
  slots: Capacity;
  /** @pattern ^0x[0-9a-fA-F]{40}$ */
  wallet: string;
}

export interface AcknowledgeInput {
  acknowledged?: boolean;
}

export interface Acknowledgement {
  acknowledgedAt: string | null;
  /** Name of the person who acknowledged the alert, as shown in messages; null while nobody has. */
  acknowledgedBy: string | null;
  /**
   * @min 1
   * @max 2147483647
   */
  id: number;
}

export interface Alert {
  acknowledgedAt: string | null;
  /** Name of the person who acknowledged the alert, as shown in messages; null while nobody has. */
  acknowledgedBy: string | null;
  /**
   * Values of the event, as an object that depends on `event`. More properties may be added.
   *
   * - `fsp.monitoring`: since (string), lastBlock (object or null), reason (string), until (string or null)
   * - `fsp.monitoring.recovered`: since (string), lastBlock (object or null), reason (string), until (string or null)
   * - `wallet-balance.moved`: address (string), asset (string), symbol (string), decimals (integer), previousAmount (string), currentAmount (string), changeAmount (string), threshold (string), direction (string), counterparty (string or null), transactionHash (string or null), usd (string or null), blockNumber (integer), blockTime (string)
   * - `feed-move.threshold`: feed (string), feedId (string), fromPrice (string), toPrice (string), movePercent (number), thresholdPercent (number), windowSeconds (integer), direction (string), fromTime (string), toTime (string), blockNumber (integer)
   * - `provider.unregistered`: provider (string), providerName (string or null), registered (boolean), eligible (boolean or null), rewardEpochId (integer), eligibilityEpochId (integer or null), passes (number or null), failures (array), recovered (array), lost (string), blockTime (string)
   * - `provider.eligibility-lost`: provider (string), providerName (string or null), registered (boolean), eligible (boolean or null), rewardEpochId (integer), eligibilityEpochId (integer or null), passes (number or null), failures (array), recovered (array), lost (string), blockTime (string)
   * - `provider.recovered`: provider (string), providerName (string or null), registered (boolean), eligible (boolean or null), rewardEpochId (integer), eligibilityEpochId (integer or null), passes (number or null), failures (array), recovered (array), lost (string), blockTime (string)
   * - `credits.low-balance`: balanceCredits (integer), limitCredits (integer), nextRenewal (object or null)
   * - `credits.recovered`: balanceCredits (integer), limitCredits (integer), nextRenewal (object or null)
   * - `signing.uptime-open`: provider (string), rewardEpochId (integer), vote (string), endedAt (string), openedAt (string or null), publishedAt (string or null), concludedAt (string or null), signedAt (string or null), signedOtherHash (boolean), weightSignedPercent (number or null)
   * - `signing.rewards-open`: provider (string), rewardEpochId (integer), vote (string), endedAt (string), openedAt (string or null), publishedAt (string or null), concludedAt (string or null), signedAt (string or null), signedOtherHash (boolean), weightSignedPercent (number or null)
   * - `signing.rewards-reminder`: provider (string), rewardEpochId (integer), vote (string), endedAt (string), openedAt (string or null), publishedAt (string or null), concludedAt (string or null), signedAt (string or null), signedOtherHash (boolean), weightSignedPercent (number or null)
   * - `signing.missed`: provider (string), rewardEpochId (integer), vote (string), endedAt (string), openedAt (string or null), publishedAt (string or null), concludedAt (string or null), signedAt (string or null), signedOtherHash (boolean), weightSignedPercent (number or null)
   * - `signing.done`: provider (string), rewardEpochId (integer), vote (string), endedAt (string), openedAt (string or null), publishedAt (string or null), concludedAt (string or null), signedAt (string or null), signedOtherHash (boolean), weightSignedPercent (number or null)
   * - `fsp.ftso-commit`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), address (string or null)
   * - `fsp.ftso-commit.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), address (string or null)
   * - `fsp.ftso-reveal`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), address (string or null)
   * - `fsp.ftso-reveal.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), address (string or null)
   * - `fsp.ftso-signature`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), address (string or null)
   * - `fsp.ftso-signature.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), address (string or null)
   * - `fsp.fdc-bitvote`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), address (string or null)
   * - `fsp.fdc-bitvote.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), address (string or null)
   * - `fsp.fdc-signature`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), address (string or null)
   * - `fsp.fdc-signature.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), address (string or null)
   * - `fsp.fdc-submit1`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), address (string or null)
   * - `fsp.fdc-submit1.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), address (string or null)
   * - `fsp.reveal-offence`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), address (string or null)
   * - `fsp.reveal-offence.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), address (string or null)
   * - `fsp.signature-mismatch`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), address (string or null)
   * - `fsp.signature-mismatch.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), address (string or null)
   * - `fsp.signature-grace`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), address (string or null)
   * - `fsp.signature-grace.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), address (string or null)
   * - `fsp.tx-failed`: provider (string), tx (string), from (string), role (string), to (string), contract (string), selector (string), function (string), reason (string or null), block (integer), gasUsed (integer), gasLimit (integer)
   * - `fsp.tx-failed.recovered`: provider (string), tx (string), from (string), role (string), to (string), contract (string), selector (string), function (string), reason (string or null), block (integer), gasUsed (integer), gasLimit (integer)
   * - `fsp.fast-updates`: provider (string), rewardEpochId (integer), blocksSinceUpdate (integer), lastUpdateBlock (integer or null), probabilityOfSilence (string), threshold (number), sortitionWeight (integer), sampleSize (number), onePercentBlocks (integer), weightShare (number), rule (string), since (string), gapSeconds (integer)
   * - `fsp.fast-updates.recovered`: provider (string), rewardEpochId (integer), blocksSinceUpdate (integer), lastUpdateBlock (integer or null), probabilityOfSilence (string), threshold (number), sortitionWeight (integer), sampleSize (number), onePercentBlocks (integer), weightShare (number), rule (string), since (string), gapSeconds (integer)
   * - `fsp.registration`: provider (string), rewardEpochId (integer), openedAt (string), closesAtEarliest (string), minutes (integer), isClosed (boolean), preRegistered (boolean or null), preRegistrationFailed (boolean)
   * - `fsp.registration.recovered`: provider (string), rewardEpochId (integer), openedAt (string), closesAtEarliest (string), minutes (integer), isClosed (boolean), preRegistered (boolean or null), preRegistrationFailed (boolean)
   * - `fsp.not-in-policy`: provider (string), rewardEpochId (integer), startVotingRoundId (integer), voters (integer), startsAt (string), active (boolean)
   * - `fsp.not-in-policy.recovered`: provider (string), rewardEpochId (integer), startVotingRoundId (integer), voters (integer), startsAt (string), active (boolean)
   * - `fsp.fdc-bitvote-length`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), address (string or null)
   * - `fsp.fdc-bitvote-length.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), address (string or null)
   * - `fsp.fdc-consensus`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), address (string or null)
   * - `fsp.fdc-consensus.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), address (string or null)
   * - `fsp.fdc-reveal-offence`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), address (string or null)
   * - `fsp.fdc-reveal-offence.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), address (string or null)
   * - `fsp.mc-anchor`: provider (string), rewardEpochId (integer), votingRoundId (integer), rate (number), threshold (number), protocolMinimum (number), rounds (integer)
   * - `fsp.mc-anchor.recovered`: provider (string), rewardEpochId (integer), votingRoundId (integer), rate (number), threshold (number), protocolMinimum (number), rounds (integer)
   * - `fsp.mc-fdc`: provider (string), rewardEpochId (integer), votingRoundId (integer), rate (number), threshold (number), protocolMinimum (number), rounds (integer)
   * - `fsp.mc-fdc.recovered`: provider (string), rewardEpochId (integer), votingRoundId (integer), rate (number), threshold (number), protocolMinimum (number), rounds (integer)
   * - `fsp.mc-uptime`: provider (string), nodeId (string), rate (number), threshold (number), protocolMinimum (number), polls (integer)
   * - `fsp.mc-uptime.recovered`: provider (string), nodeId (string), rate (number), threshold (number), protocolMinimum (number), polls (integer)
   * - `fsp.validator-not-listed`: provider (string), nodeIds (array), listed (integer), stakeEndsAt (string)
   * - `fsp.validator-not-listed.recovered`: provider (string), nodeIds (array), listed (integer), stakeEndsAt (string)
   * - `fsp.balance-low`: provider (string), role (string), address (string), balanceWei (string), limitWei (string)
   * - `fsp.balance-low.recovered`: provider (string), role (string), address (string), balanceWei (string), limitWei (string)
   * - `fsp.rewards-unclaimed`: provider (string), epochs (array), amountWei (string), expiresAt (string or null)
   * - `fsp.rewards-unclaimed.recovered`: provider (string), epochs (array), amountWei (string), expiresAt (string or null)
   */
  data: Record<string, any>;
  deliveries: Delivery[];
  durationSeconds: number | null;
  event: string;
  /** @format date-time */
  firedAt: string;
  group: string | null;
  /**
   * @min 1
   * @max 2147483647
   */
  id: number;
  recoveredAt: string | null;
  recoveryOf: number | null;
  rendered: Rendered;
  severity: "info" | "warning" | "critical";
  signal: string | null;
  state: "firing" | "recovered" | "acknowledged" | "closed";
  type: string;
  /**
   * @min 1
   * @max 2147483647
   */
  watchId: number;
  watchLabel: string;
}

export interface AlertList {
  data: Alert[];
  /** Cursor of the next page; null on the last page. */
  nextCursor: string | null;
}

export interface AlertSelection {
  all?: true;
  /** @format date-time */
  before?: string;
  event?:
    | "wallet-balance.moved"
    | "feed-move.threshold"
    | "provider.unregistered"
    | "provider.eligibility-lost"
    | "provider.recovered"
    | "credits.low-balance"
    | "credits.recovered"
    | "signing.uptime-open"
    | "signing.rewards-open"
    | "signing.rewards-reminder"
    | "signing.missed"
    | "signing.done"
    | "fsp.ftso-commit"
    | "fsp.ftso-commit.recovered"
    | "fsp.ftso-reveal"
    | "fsp.ftso-reveal.recovered"
    | "fsp.ftso-signature"
    | "fsp.ftso-signature.recovered"
    | "fsp.fdc-bitvote"
    | "fsp.fdc-bitvote.recovered"
    | "fsp.fdc-signature"
    | "fsp.fdc-signature.recovered"
    | "fsp.fdc-submit1"
    | "fsp.fdc-submit1.recovered"
    | "fsp.reveal-offence"
    | "fsp.reveal-offence.recovered"
    | "fsp.signature-mismatch"
    | "fsp.signature-mismatch.recovered"
    | "fsp.signature-grace"
    | "fsp.signature-grace.recovered"
    | "fsp.tx-failed"
    | "fsp.tx-failed.recovered"
    | "fsp.fast-updates"
    | "fsp.fast-updates.recovered"
    | "fsp.registration"
    | "fsp.registration.recovered"
    | "fsp.not-in-policy"
    | "fsp.not-in-policy.recovered"
    | "fsp.fdc-bitvote-length"
    | "fsp.fdc-bitvote-length.recovered"
    | "fsp.fdc-consensus"
    | "fsp.fdc-consensus.recovered"
    | "fsp.fdc-reveal-offence"
    | "fsp.fdc-reveal-offence.recovered"
    | "fsp.mc-anchor"
    | "fsp.mc-anchor.recovered"
    | "fsp.mc-fdc"
    | "fsp.mc-fdc.recovered"
    | "fsp.mc-uptime"
    | "fsp.mc-uptime.recovered"
    | "fsp.validator-not-listed"
    | "fsp.validator-not-listed.recovered"
    | "fsp.balance-low"
    | "fsp.balance-low.recovered"
    | "fsp.rewards-unclaimed"
    | "fsp.rewards-unclaimed.recovered"
    | "fsp.monitoring"
    | "fsp.monitoring.recovered";
  /** @format date-time */
  from?: string;
  group?:
    | "alerts"
    | "ftso"
    | "fdc"
    | "offences"
    | "transactions"
    | "fast-updates"
    | "registration";
  /**
   * @maxItems 500
   * @minItems 1
   */
  ids?: number[];
  severity?: "info" | "warning" | "critical";
  /** @maxLength 64 */
  signal?: string;
  /** State of the alert. An alert whose signal has no recovery stays `firing` until it is acknowledged. */
  state?: "firing" | "recovered" | "acknowledged" | "closed";
  /** @format date-time */
  to?: string;
  type?:
    | "wallet-balance"
    | "feed-move"
    | "provider-eligibility"
    | "credits-balance"
    | "reward-signing"
    | "provider-fsp";
  /**
   * @min 1
   * @max 2147483647
   */
  watchId?: number;
}

export interface Capacity {
  available: number;
  max: number;
  purchased: number;
  trial: number;
  used: number;
}

export interface Challenge {
  /** @format date-time */
  issuedAt: string;
  /** The EIP-4361 text to sign with personal_sign, unchanged, whitespace included. */
  message: string;
  /** Single-use value in the message, valid for 5 minutes. */
  nonce: string;
  /**
   * Address of the wallet that must sign the message.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  wallet: string;
}

export interface ChallengeRequest {
  /**
   * Name of the token in lists.
   * @minLength 1
   * @maxLength 40
   */
  label?: string;
  /**
   * Scopes of the token in addition to read: `write`, `spend`. Request only what you need.
   * @maxItems 3
   * @default []
   */
  scopes?: ("read" | "write" | "spend")[];
  /**
   * Address of the wallet that will sign the message.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  wallet: string;
}

export interface ChannelList {
  data: ChannelState[];
  nextCursor: null;
}

export interface ChannelSetup {
  /**
   * E-mail address, for the channel `email` only.
   * @format email
   * @maxLength 254
   */
  address?: string;
  /** true replaces the signing secret of a webhook. */
  rotateSecret?: boolean;
  /**
   * The URL that messages are posted to, for all other channels.
   * @format uri
   * @maxLength 2048
   */
  url?: string;
}

export interface ChannelState {
  available: boolean;
  configured: boolean;
  key: "telegram" | "email" | "webhook" | "discord" | "slack";
  kind: "input" | "link";
  lastFailureAt: string | null;
  lastSuccessAt: string | null;
  /** The signing secret, shown only when it is created or rotated. */
  secret?: string;
  status: "pending" | "active" | "disabled" | "blocked" | null;
  statusReason: string | null;
  target: string | null;
}

export interface ConfirmTopup {
  /**
   * Transaction hash: 32 bytes in hex, in the format of the asset’s chain.
   * @pattern ^(0x)?[0-9a-fA-F]{64}$
   */
  txHash: string;
}

export interface DeletedAlerts {
  deleted: number;
}

export interface Delivery {
  attempts: number;
  channel: "telegram" | "email" | "webhook" | "discord" | "slack";
  deliveredAt: string | null;
  /** @format uuid */
  deliveryId: string;
  lastError: string | null;
  lastStatusCode: number | null;
  nextAttemptAt: string | null;
  /**
   * @min 1
   * @max 2147483647
   */
  recipientId: number;
  status:
    | "pending"
    | "retrying"
    | "delivered"
    | "failed"
    | "held"
    | "muted"
    | "throttled"
    | "disabled";
}

export interface IssuedToken {
  /**
   * When the token expires: 30 days after it was issued.
   * @format date-time
   */
  expiresAt: string;
  /** Scopes of the token; `read` is always included. */
  scopes: ("read" | "write" | "spend")[];
  /** The API token, sent as `Authorization: Bearer`. It is not shown again. */
  token: string;
  /** @pattern ^0x[0-9a-fA-F]{40}$ */
  wallet: string;
}

export interface LedgerEntry {
  balanceAfterCredits: number;
  /** @format date-time */
  createdAt: string;
  /** Change of the balance in credits; negative for a charge. */
  deltaCredits: number;
  /** Number of the ledger entry, counted per wallet: 1, 2, 3 … */
  id: number;
  note?: string;
  reference: string;
  type: "topup" | "bonus" | "usage" | "subscription" | "refund" | "adjustment";
}

export interface MeteredResource {
  /** Payment options that are available now. */
  accepts: PaymentOffer[];
  description: string;
  /** Price of one call, in credits. */
  priceCredits: number;
  resource:
    | "rewards-intelligence-reports"
    | "providers-rewards"
    | "ftso-analytics";
  /** Base URL, including all paths below it; null if this service does not offer the resource. A request must arrive in full within 300 seconds. */
  url: string | null;
}

export interface NewPurchase {
  /** Whether auto-renew is on. */
  autoRenew?: boolean;
  /**
   * Number of 30-day periods.
   * @min 1
   * @max 120
   */
  periods: number;
  /**
   * @min 1
   * @max 20
   */
  slots: number;
}

export interface NewRecipient {
  /**
   * E-mail address, for the channel `email` only.
   * @format email
   * @maxLength 254
   */
  address?: string;
  channel: "telegram" | "email" | "webhook" | "discord" | "slack";
  /** Whether this recipient gets alerts from watches without recipients of their own. */
  default?: boolean;
  locale?: "en" | "de" | "fr" | "bn" | "zh" | "hi" | "ar";
  minSeverity?: "info" | "warning" | "critical";
  name: string;
  /** IANA time zone, such as Europe/Berlin. */
  timezone?: string;
  /**
   * The URL that messages are posted to, for all other channels.
   * @format uri
   * @maxLength 2048
   */
  url?: string;
}

export interface NewSettings {
  /** Interval at which alerts are sent as one digest; off sends each alert at once. */
  digest: "off" | "15m" | "1h" | "daily";
  /**
   * Time of day in the time zone of the settings, as HH:MM.
   * @pattern ^([01]\d|2[0-3]):[0-5]\d$
   */
  digestAt: string;
  locale: "en" | "de" | "fr" | "bn" | "zh" | "hi" | "ar";
  minSeverity: "info" | "warning" | "critical";
  quietHours: {
    /** Whether critical alerts are sent during quiet hours too. */
    criticalBypass: boolean;
    enabled: boolean;
    /**
     * Time of day in the time zone of the settings, as HH:MM.
     * @pattern ^([01]\d|2[0-3]):[0-5]\d$
     */
    from: string;
    /**
     * Time of day in the time zone of the settings, as HH:MM.
     * @pattern ^([01]\d|2[0-3]):[0-5]\d$
     */
    to: string;
  };
  /** Whether recoveries are sent. */
  recoveries: boolean;
  repeat: {
    /**
     * When to repeat an unacknowledged critical alert: minutes after it was triggered.
     * @maxItems 24
     */
    critical: number[];
  };
  /** IANA time zone, such as Europe/Berlin. */
  timezone: string;
  /** Version number that increases with every change. */
  version?: number;
}

export interface NewSubscription {
  /**
   * Whether auto-renew is on.
   * @default false
   */
  autoRenew?: boolean;
  /**
   * Expected price in credits, the `totalCredits` of a quote. At any other price, nothing is bought.
   * @min 0
   */
  expectedCredits?: number;
  /**
   * Number of 30-day periods.
   * @min 1
   * @max 120
   */
  periods: number;
  /**
   * @min 1
   * @max 20
   */
  quantity: number;
}

export interface NewTopup {
  /**
   * Symbol of the payment asset, such as FLR.
   * @maxLength 32
   */
  asset?: string;
  /**
   * @min 10000
   * @max 1000000000000
   */
  credits?: number;
  /** Slots that are bought with the credits once they arrive; needs the scope `spend`. */
  then?: NewPurchase;
}

export type NewWatch =
  | {
      /**
       * Minimum time between two alerts of a signal, in seconds.
       * @min 0
       * @max 2592000
       * @default 0
       */
      cooldownSeconds?: number;
      /** Minutes without an acknowledgement after which an alert is also sent to `escalateTo`; null: never. Alerts of severity info are not escalated. */
      escalateAfterMinutes?: number | null;
      /**
       * Ids of the recipients of alerts that nobody acknowledges in time, beside the watch’s own recipients.
       * @maxItems 20
       */
      escalateTo?: number[];
      label?: string;
      /** @default "info" */
      minSeverity?: "info" | "warning" | "critical";
      /** Ids of the recipients; null for the default recipients. */
      recipientIds?: number[] | null;
      settings: {
        /** @default "any" */
        direction?: "any" | "up" | "down";
        /** @pattern ^(0|[1-9]\d{0,15})(\.\d{1,18})?$ */
        threshold: string;
      };
      signals?: SignalChoice[];
      target: {
        /** @pattern ^0x[0-9a-fA-F]{40}$ */
        address: string;
        asset: "FLR" | string;
      };
      type: "wallet-balance";
    }
  | {
      /**
       * Minimum time between two alerts of a signal, in seconds.
       * @min 0
       * @max 2592000
       * @default 0
       */
      cooldownSeconds?: number;
      /** Minutes without an acknowledgement after which an alert is also sent to `escalateTo`; null: never. Alerts of severity info are not escalated. */
      escalateAfterMinutes?: number | null;
      /**
       * Ids of the recipients of alerts that nobody acknowledges in time, beside the watch’s own recipients.
       * @maxItems 20
       */
      escalateTo?: number[];
      label?: string;
      /** @default "info" */
      minSeverity?: "info" | "warning" | "critical";
      /** Ids of the recipients; null for the default recipients. */
      recipientIds?: number[] | null;
      settings: {
        /** @default "any" */
        direction?: "any" | "up" | "down";
        /**
         * @min 0.01
         * @multipleOf 0.01
         * @max 1000
         */
        percent: number;
        /**
         * @min 60
         * @max 604800
         */
        windowSeconds: number;
      };
      signals?: SignalChoice[];
      target: {
        /** @pattern ^(0x[0-9a-fA-F]{42}|[\w.+-]{1,16}(\/[\w.+-]{1,16})?)$ */
        feed: string;
      };
      type: "feed-move";
    }
  | {
      /**
       * Minimum time between two alerts of a signal, in seconds.
       * @min 0
       * @max 2592000
       * @default 0
       */
      cooldownSeconds?: number;
      /** Minutes without an acknowledgement after which an alert is also sent to `escalateTo`; null: never. Alerts of severity info are not escalated. */
      escalateAfterMinutes?: number | null;
      /**
       * Ids of the recipients of alerts that nobody acknowledges in time, beside the watch’s own recipients.
       * @maxItems 20
       */
      escalateTo?: number[];
      label?: string;
      /** @default "info" */
      minSeverity?: "info" | "warning" | "critical";
      /** Ids of the recipients; null for the default recipients. */
      recipientIds?: number[] | null;
      /** @default {} */
      settings?: object;
      signals?: SignalChoice[];
      target: {
        /** @pattern ^0x[0-9a-fA-F]{40}$ */
        provider: string;
      };
      type: "provider-eligibility";
    }
  | {
      /**
       * Minimum time between two alerts of a signal, in seconds.
       * @min 0
       * @max 2592000
       * @default 0
       */
      cooldownSeconds?: number;
      /** Minutes without an acknowledgement after which an alert is also sent to `escalateTo`; null: never. Alerts of severity info are not escalated. */
      escalateAfterMinutes?: number | null;
      /**
       * Ids of the recipients of alerts that nobody acknowledges in time, beside the watch’s own recipients.
       * @maxItems 20
       */
      escalateTo?: number[];
      label?: string;
      /** @default "info" */
      minSeverity?: "info" | "warning" | "critical";
      /** Ids of the recipients; null for the default recipients. */
      recipientIds?: number[] | null;
      settings: {
        /**
         * @min 1
         * @max 1000000000
         */
        limit: number;
      };
      signals?: SignalChoice[];
      target: object;
      type: "credits-balance";
    }
  | {
      /**
       * Minimum time between two alerts of a signal, in seconds.
       * @min 0
       * @max 2592000
       * @default 0
       */
      cooldownSeconds?: number;
      /** Minutes without an acknowledgement after which an alert is also sent to `escalateTo`; null: never. Alerts of severity info are not escalated. */
      escalateAfterMinutes?: number | null;
      /**
       * Ids of the recipients of alerts that nobody acknowledges in time, beside the watch’s own recipients.
       * @maxItems 20
       */
      escalateTo?: number[];
      label?: string;
      /** @default "info" */
      minSeverity?: "info" | "warning" | "critical";
      /** Ids of the recipients; null for the default recipients. */
      recipientIds?: number[] | null;
      /** @default {} */
      settings?: object;
      signals?: SignalChoice[];
      target: {
        /** @pattern ^0x[0-9a-fA-F]{40}$ */
        provider: string;
      };
      type: "reward-signing";
    }
  | {
      /**
       * Minimum time between two alerts of a signal, in seconds.
       * @min 0
       * @max 2592000
       * @default 0
       */
      cooldownSeconds?: number;
      /** Minutes without an acknowledgement after which an alert is also sent to `escalateTo`; null: never. Alerts of severity info are not escalated. */
      escalateAfterMinutes?: number | null;
      /**
       * Ids of the recipients of alerts that nobody acknowledges in time, beside the watch’s own recipients.
       * @maxItems 20
       */
      escalateTo?: number[];
      label?: string;
      /** @default "info" */
      minSeverity?: "info" | "warning" | "critical";
      /** Ids of the recipients; null for the default recipients. */
      recipientIds?: number[] | null;
      /** @default {} */
      settings?: object;
      signals?: SignalChoice[];
      target: {
        /** @pattern ^0x[0-9a-fA-F]{40}$ */
        provider: string;
      };
      type: "provider-fsp";
    };

export type OpenApiDocument = Partial<Record<string, any>>;

export interface ParameterDefinition {
  default: number | boolean;
  help: Text;
  key: string;
  label: Text;
  max?: number;
  min?: number;
  step?: number;
  type: "integer" | "number" | "boolean";
}

export interface PaymentAsset {
  amountPer1000Credits: string;
  address: string;
  available: boolean;
  bonusBps: number;
  capPerTopup: string | null;
  decimals: number;
  holdingsCap: string | null;
  paused: boolean;
  routerAllowlisted: boolean;
  symbol: string;
}

export interface PaymentOffer {
  asset: string;
  description: string;
  extra: {
    usdPer1000CreditsMicros: string;
    accountEndpoint: string;
    assetDecimals: number;
    assetSymbol: string;
    authEndpoint: string;
    bonusBps: number;
    chainId: number;
    docs: string;
    flow: string;
    minTopupCredits: number;
    priceCredits: number;
    pricingEndpoint: string;
    settlement:
      | "onchain_router_prepaid"
      | "native_transfer_prepaid"
      | "xrpl_tag_prepaid";
    tokenEndpoint: string;
    topupEndpoint: string;
  };
  maxAmountRequired: string;
  maxTimeoutSeconds: number;
  mimeType: string;
  network: string;
  payTo: string;
  /** @format uri */
  resource: string;
  scheme: "flare-watchdog-prepaid";
}

export interface Preview {
  discord?: {
    /** The exact body that would be sent, as text. */
    body: string;
  };
  email?: {
    html: string;
    subject: string;
    text: string;
  };
  rendered: Rendered;
  renderedMessage: Record<string, any>;
  slack?: {
    /** The exact body that would be sent, as text. */
    body: string;
  };
  telegram?: {
    html: string;
  };
  webhook?: {
    /** The exact body that would be sent, as text. */
    body: string;
  };
}

export interface PreviewRequest {
  channel?: "telegram" | "email" | "webhook" | "discord" | "slack";
  data?: Record<string, any>;
  event:
    | "wallet-balance.moved"
    | "feed-move.threshold"
    | "provider.unregistered"
    | "provider.eligibility-lost"
    | "provider.recovered"
    | "credits.low-balance"
    | "credits.recovered"
    | "signing.uptime-open"
    | "signing.rewards-open"
    | "signing.rewards-reminder"
    | "signing.missed"
    | "signing.done"
    | "fsp.ftso-commit"
    | "fsp.ftso-commit.recovered"
    | "fsp.ftso-reveal"
    | "fsp.ftso-reveal.recovered"
    | "fsp.ftso-signature"
    | "fsp.ftso-signature.recovered"
    | "fsp.fdc-bitvote"
    | "fsp.fdc-bitvote.recovered"
    | "fsp.fdc-signature"
    | "fsp.fdc-signature.recovered"
    | "fsp.fdc-submit1"
    | "fsp.fdc-submit1.recovered"
    | "fsp.reveal-offence"
    | "fsp.reveal-offence.recovered"
    | "fsp.signature-mismatch"
    | "fsp.signature-mismatch.recovered"
    | "fsp.signature-grace"
    | "fsp.signature-grace.recovered"
    | "fsp.tx-failed"
    | "fsp.tx-failed.recovered"
    | "fsp.fast-updates"
    | "fsp.fast-updates.recovered"
    | "fsp.registration"
    | "fsp.registration.recovered"
    | "fsp.not-in-policy"
    | "fsp.not-in-policy.recovered"
    | "fsp.fdc-bitvote-length"
    | "fsp.fdc-bitvote-length.recovered"
    | "fsp.fdc-consensus"
    | "fsp.fdc-consensus.recovered"
    | "fsp.fdc-reveal-offence"
    | "fsp.fdc-reveal-offence.recovered"
    | "fsp.mc-anchor"
    | "fsp.mc-anchor.recovered"
    | "fsp.mc-fdc"
    | "fsp.mc-fdc.recovered"
    | "fsp.mc-uptime"
    | "fsp.mc-uptime.recovered"
    | "fsp.validator-not-listed"
    | "fsp.validator-not-listed.recovered"
    | "fsp.balance-low"
    | "fsp.balance-low.recovered"
    | "fsp.rewards-unclaimed"
    | "fsp.rewards-unclaimed.recovered"
    | "fsp.monitoring"
    | "fsp.monitoring.recovered";
  locale?: "en" | "de" | "fr" | "bn" | "zh" | "hi" | "ar";
  severity?: "info" | "warning" | "critical";
  /**
   * @min 1
   * @max 2147483647
   */
  watchId?: number;
}

export interface PricingDocument {
  usdPer1000CreditsMicros: string;
  assets: PaymentAsset[];
  chainId: number;
  docs: string;
  enabled: boolean;
  freeTierDailyCalls: number;
  minTopupCredits: number;
  nativeFlr: {
    amountPer1000Credits: string;
    available: boolean;
    capPerTopup: string | null;
    holdingsCap: string | null;
    note: string;
    paused: boolean;
    payTo: string;
  };
  nativeXrp: {
    amountPer1000Credits: string;
    address: string;
    available: boolean;
    capPerTopup: string | null;
    holdingsCap: string | null;
    note: string;
    paused: boolean;
  };
  network: string;
  resources: MeteredResource[];
  watchdog: {
    slotPriceCreditsPer30d: number;
    durationDiscounts: {
      discountBps: number;
      minPeriods: number;
    }[];
    maxSlotsPerWallet: number;
    model: "slots";
    signalDefinitions: Partial<Record<string, SignalDefinition[]>>;
    types: string[];
    uiDurations: number[];
    volumeDiscounts: {
      discountBps: number;
      minQuantity: number;
    }[];
  };
}

export interface Problem {
  code: string;
  detail: string;
  errors?: {
    code: string;
    detail: string;
    pointer: string;
  }[];
  /** Why the top-up did not succeed; null if no reason is known. */
  reason?: string | null;
  requestId: string;
  /** The missing scope. */
  scope?: string;
  /** How many credits the balance is short. */
  shortfallCredits?: number;
  status: number;
  title: string;
  /** Status of the top-up. */
  topupStatus?: string;
  /** Current price, in credits. */
  totalCredits?: number;
  /** @format uri */
  type: string;
}

export interface ProviderView {
  /** Addresses the provider sends and signs from; null if unknown. */
  addresses: {
    /** @pattern ^0x[0-9a-fA-F]{40}$ */
    signingPolicy: string;
    /** @pattern ^0x[0-9a-fA-F]{40}$ */
    submit: string;
    /** @pattern ^0x[0-9a-fA-F]{40}$ */
    submitSignatures: string;
  } | null;
  /** Time of the last evaluated round; null if there is none. */
  asOf: string | null;
  /** FLR balances of the provider’s addresses. */
  balances: {
    /** @pattern ^0x[0-9a-fA-F]{40}$ */
    address: string;
    /**
     * Balance in wei, as a string of digits; 10^18 wei are 1 FLR.
     * @pattern ^(0|[1-9]\d{0,77})$
     */
    balanceWei: string;
    /** What the address is used for. */
    role: string;
  }[];
  /** Number of the current voting round; null if the chain cannot be read. */
  currentRound: number | null;
  /** Fast updates of the provider; null without data. */
  fastUpdates: {
    /** Number of blocks since the last fast update. */
    blocksSinceUpdate: number;
    /** Block of the last fast update; null if none was seen. */
    lastUpdateBlock: number | null;
    /** Probability that so many blocks without a fast update are chance, 0 to 1. */
    probabilityOfSilence: number;
  } | null;
  /** Whether the provider is in the current signing policy; null if unknown. */
  inPolicy: boolean | null;
  /** Rates reached, beside the minimums of the protocol. */
  minimalConditions: {
    /** Rate over the last 80 rounds; null without enough data. */
    anchor: {
      /** Minimum share that the protocol requires over a reward epoch, 0 to 1. */
      minimum: number;
      /** Rate reached, 0 to 1. */
      rate: number;
    } | null;
    /** Rate over the last 80 rounds; null without enough data. */
    fdc: {
      /** Minimum share that the protocol requires over a reward epoch, 0 to 1. */
      minimum: number;
      /** Rate reached, 0 to 1. */
      rate: number;
    } | null;
    /** Rate over the last 80 rounds; null without enough data. */
    uptime: {
      /** Minimum share that the protocol requires over a reward epoch, 0 to 1. */
      minimum: number;
      /** Rate reached, 0 to 1. */
      rate: number;
    } | null;
  };
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  /** Whether the provider is registered for the current reward epoch; null if unknown. */
  registered: boolean | null;
  /** Whether the provider is registered for the next reward epoch; null before that registration opens. */
  registeredNext: boolean | null;
  /** Expected time at which preparation of the registration for the next reward epoch starts; voters register soon after. Null if the chain cannot be read. */
  registrationOpensAt: string | null;
  /** Number of the current reward epoch; null if unknown. */
  rewardEpoch: number | null;
  /** Newest first. */
  rounds: {
    /** Duties for the FDC in the round. */
    fdc: {
      /** Status of this duty in the round. */
      bitvote:
        | "ok"
        | "late"
        | "early"
        | "missing"
        | "mismatch"
        | "offence"
        | "unknown";
      /** Status of this duty in the round. */
      signature:
        | "ok"
        | "late"
        | "early"
        | "missing"
        | "mismatch"
        | "offence"
        | "unknown";
    };
    /** Duties for the FTSO in the round. */
    ftso: {
      /** Status of this duty in the round. */
      commit:
        | "ok"
        | "late"
        | "early"
        | "missing"
        | "mismatch"
        | "offence"
        | "unknown";
      /** Status of this duty in the round. */
      reveal:
        | "ok"
        | "late"
        | "early"
        | "missing"
        | "mismatch"
        | "offence"
        | "unknown";
      /** Status of this duty in the round. */
      signature:
        | "ok"
        | "late"
        | "early"
        | "missing"
        | "mismatch"
        | "offence"
        | "unknown";
    };
    /** Number of the voting round. */
    id: number;
    /**
     * Start of the voting round.
     * @format date-time
     */
    startsAt: string;
  }[];
  /** Whether the last evaluated round is older than 5 minutes or the chain cannot be read. */
  stale: boolean;
  /** The provider’s validators as listed on the P-chain; null if it was not queried. Watched providers only. */
  validators:
    | {
        /** Whether the P-chain lists the validator. */
        listed: boolean;
        /** NodeID of the validator. */
        nodeId: string;
      }[]
    | null;
  /** Share of the total weight of the signing policy, 0 to 1; null if the provider is not in it. */
  weight: number | null;
}

export interface Purchase {
  autoRenew: boolean;
  /** Number of 30-day periods. */
  periods: number;
  /** Why the last payment did not buy the slots, such as `insufficient_credits`; null without a refusal. */
  reason: string | null;
  slots: number;
  status: "waiting" | "done";
  subscriptionId: number | null;
}

export interface Recipient {
  channel: "telegram" | "email" | "webhook" | "discord" | "slack";
  /** @format date-time */
  createdAt: string;
  default: boolean;
  /**
   * @min 1
   * @max 2147483647
   */
  id: number;
  lastFailureAt: string | null;
  lastSuccessAt: string | null;
  locale: "en" | "de" | "fr" | "bn" | "zh" | "hi" | "ar";
  minSeverity: "info" | "warning" | "critical";
  name: string;
  /** The signing secret, shown only when it is created or rotated. */
  secret?: string;
  status: "pending" | "active" | "disabled" | "blocked";
  statusReason: string | null;
  /** Destination, partly masked. */
  target: string;
  /** IANA time zone, such as Europe/Berlin. */
  timezone: string;
  verifiedAt: string | null;
}

export interface RecipientChanges {
  /**
   * E-mail address, for the channel `email` only.
   * @format email
   * @maxLength 254
   */
  address?: string;
  /** Whether this recipient gets alerts from watches without recipients of their own. */
  default?: boolean;
  locale?: "en" | "de" | "fr" | "bn" | "zh" | "hi" | "ar";
  minSeverity?: "info" | "warning" | "critical";
  name?: string;
  /** true replaces the signing secret of a webhook. */
  rotateSecret?: boolean;
  status?: "active" | "disabled";
  /** IANA time zone, such as Europe/Berlin. */
  timezone?: string;
  /**
   * The URL that messages are posted to, for all other channels.
   * @format uri
   * @maxLength 2048
   */
  url?: string;
}

export interface RecipientList {
  data: Recipient[];
  /** Cursor of the next page; null on the last page. */
  nextCursor: string | null;
}

export interface Rendered {
  body: string;
  locale: "en" | "de" | "fr" | "bn" | "zh" | "hi" | "ar";
  title: string;
}

export interface Settings {
  /** Interval at which alerts are sent as one digest; off sends each alert at once. */
  digest: "off" | "15m" | "1h" | "daily";
  /**
   * Time of day in the time zone of the settings, as HH:MM.
   * @pattern ^([01]\d|2[0-3]):[0-5]\d$
   */
  digestAt: string;
  locale: "en" | "de" | "fr" | "bn" | "zh" | "hi" | "ar";
  minSeverity: "info" | "warning" | "critical";
  quietHours: {
    /** Whether critical alerts are sent during quiet hours too. */
    criticalBypass: boolean;
    enabled: boolean;
    /**
     * Time of day in the time zone of the settings, as HH:MM.
     * @pattern ^([01]\d|2[0-3]):[0-5]\d$
     */
    from: string;
    /**
     * Time of day in the time zone of the settings, as HH:MM.
     * @pattern ^([01]\d|2[0-3]):[0-5]\d$
     */
    to: string;
  };
  /** Whether recoveries are sent. */
  recoveries: boolean;
  repeat: {
    /**
     * When to repeat an unacknowledged critical alert: minutes after it was triggered.
     * @maxItems 24
     */
    critical: number[];
  };
  /** IANA time zone, such as Europe/Berlin. */
  timezone: string;
  /** Version number that increases with every change. */
  version: number;
}

export interface SignalChoice {
  enabled?: boolean;
  id: string;
  parameters?: Partial<Record<string, number | boolean>>;
  recovery?: {
    enabled: boolean;
  };
}

export interface SignalDefinition {
  defaultEnabled: boolean;
  description: Text;
  events: {
    alerts: string[];
    recovery?: string;
  };
  group: {
    def: string;
    help: Text;
    id:
      | "alerts"
      | "ftso"
      | "fdc"
      | "offences"
      | "transactions"
      | "fast-updates"
      | "registration";
    key: string;
  };
  help: {
    action: Text;
    causes: Text;
    checked: Text;
    why: Text;
  };
  id: string;
  label: Text;
  parameters?: ParameterDefinition[];
  recovery?: {
    defaultEnabled: boolean;
  };
}

export interface SignalSetting {
  enabled: boolean;
  id: string;
  parameters: Partial<Record<string, number | boolean>>;
  recovery?: {
    enabled: boolean;
  };
}

export interface SignalState {
  id: string;
  /** Time of the last data about this signal; null before the first. */
  lastEvidenceAt: string | null;
  /** Severity of the active alert; null if there is none. */
  severity: "info" | "warning" | "critical" | null;
  /** Start of this state; null before the first evaluation. */
  since: string | null;
  state: "unknown" | "ok" | "pending" | "firing";
  streak?: number;
}

export interface SlotQuote {
  balanceCredits: number;
  /** Discount in basis points; 100 are 1%. */
  durationDiscountBps: number;
  /** @format date-time */
  endsAt: string;
  listCredits: number;
  /** Number of 30-day periods. */
  periods: number;
  quantity: number;
  /** How many credits the balance is short; 0 if it is enough. */
  shortfallCredits: number;
  slotPriceCredits: number;
  /** @format date-time */
  startsAt: string;
  totalCredits: number;
  /** Discount in basis points; 100 are 1%. */
  volumeDiscountBps: number;
}

export interface Stats {
  alerts24h: number;
  deliveries24h: number;
  /** Share of finished deliveries that were delivered, 0 to 1; null if there are none. */
  deliverySuccessRate24h: number | null;
  /** @format date-time */
  asOf: string;
  creditsSold: number;
  creditsSpent: number;
  topupsConfirmed: number;
  wallets: number;
  watchesActive: number;
}

export interface Subscription {
  /** Whether auto-renew is on. */
  autoRenew: boolean;
  /** @format date-time */
  endsAt: string;
  /**
   * @min 1
   * @max 2147483647
   */
  id: number;
  /** Problem code of the last failed renewal; null if none failed. */
  lastRenewalError: string | null;
  nextRenewalAt: string | null;
  /** Number of 30-day periods. */
  periods: number;
  quantity: number;
  /** @format date-time */
  startsAt: string;
  status: "active" | "grace" | "expired";
  totalCredits: number;
}

export interface SubscriptionChanges {
  autoRenew: boolean;
  /**
   * @min 1
   * @max 2147483647
   */
  id?: number;
}

export interface SubscriptionList {
  capacity: Capacity;
  data: Subscription[];
  /** Cursor of the next page; null on the last page. */
  nextCursor: string | null;
  trial: {
    /** Whether the trial can still be started. */
    available: boolean;
    endsAt: string | null;
    startedAt: string | null;
  };
}

export interface TelegramLink {
  /** @format date-time */
  expiresAt: string;
  /** Link that adds the bot to a group. */
  groupUrl: string;
  /** Link that opens a private chat with the bot. */
  url: string;
}

export interface TelegramLinkRequest {
  /** Name of the recipient; defaults to the chat’s title. */
  name?: string;
  /**
   * What the chat may do; defaults to `read` and `write`.
   * @maxItems 3
   */
  scopes?: ("read" | "write" | "spend")[];
}

export interface TermsAcceptance {
  /** Whether the wallet has accepted the current version. */
  accepted: boolean;
  acceptedAt: string | null;
  acceptedVersion: string | null;
  currentVersion: string;
  url: string;
}

export type TestResult =
  | {
      /** @format uuid */
      deliveryId: string;
      latencyMs: number;
      status: "delivered" | "failed";
      /** HTTP status of the response; null if there was no response. */
      statusCode: number | null;
    }
  | {
      /** @format uuid */
      deliveryId: string;
      status: "queued";
    };

export interface Text {
  def: string;
  key: string;
}

export interface TokenList {
  /** @maxItems 50 */
  data: TokenMetadata[];
  nextCursor: null;
}

export interface TokenMetadata {
  /** @format date-time */
  createdAt: string;
  /** @format date-time */
  expiresAt: string;
  /**
   * @min 1
   * @max 2147483647
   */
  id: number;
  label: string | null;
  /** When the token was last used, to the minute; null if it was never used. */
  lastUsedAt: string | null;
  /** First characters of the token, to recognize it in a list. */
  prefix: string;
  revokedAt: string | null;
  /** Scopes of the token; `read` is always included. */
  scopes: ("read" | "write" | "spend")[];
  status: "active" | "expired" | "revoked";
}

export interface TokenRequest {
  /**
   * Sign-in message, unchanged.
   * @minLength 1
   * @maxLength 4096
   */
  message: string;
  /**
   * EIP-191 signature of the message, in hex. For a contract wallet, the bytes that ERC-1271 or ERC-6492 expects.
   * @minLength 1
   * @maxLength 8194
   */
  signature: string;
}

export interface Topup {
  /**
   * Amount in the smallest unit of the asset, as a string of digits.
   * @pattern ^(0|[1-9]\d{0,77})$
   */
  amount: string;
  /** The token approval to send first; null if the asset is not a token. */
  approval: {
    /** @pattern ^(0|[1-9]\d{0,77})$ */
    amount: string;
    /** @pattern ^0x[0-9a-fA-F]{40}$ */
    spender: string;
    /** @pattern ^0x[0-9a-fA-F]{40}$ */
    token: string;
  } | null;
  asset: string;
  /** Bonus credits on top of the credits bought. */
  bonusCredits: number;
  /** Id of the chain this service runs on. `settlement` says where to pay: XRP is paid on the XRP Ledger. */
  chainId: number;
  confirmations: number;
  /** Call of payNative on the router that a contract wallet (Safe, ERC-4337, multisig) sends instead of `transaction`. Null for assets other than FLR, and if the router does not accept FLR. */
  contractWallet: {
    data: string;
    /** @pattern ^0x[0-9a-fA-F]{40}$ */
    to: string;
    /** @pattern ^(0|[1-9]\d{0,77})$ */
    value: string;
  } | null;
  /** Credits added so far, bonus included. */
  creditedCredits: number;
  credits: number;
  /** Number of decimals of the asset. */
  decimals: number;
  /** Destination tag that an XRP payment must carry; null for other assets. */
  destinationTag: number | null;
  /**
   * End of the locked price.
   * @format date-time
   */
  expiresAt: string;
  /**
   * Payment reference of the top-up: 32 bytes in hex.
   * @pattern ^0x[0-9a-fA-F]{64}$
   */
  handle: string;
  instructions: string;
  /** @format uri */
  page: string;
  /**
   * URL to show as a QR code: the payment page, or a wallet link for XRP.
   * @format uri
   */
  pageQr: string;
  /** Amount paid, in the smallest unit of the asset; null before a payment. */
  paidAmount: string | null;
  /** Address to pay to, on the chain of the asset. */
  payTo: string;
  /** Why the top-up failed or was rejected; `transaction_not_found` while the given transaction has not been found. */
  reason: string | null;
  requiredConfirmations: number;
  settlement:
    | "onchain_router_prepaid"
    | "native_transfer_prepaid"
    | "xrpl_tag_prepaid";
  status:
    | "draft"
    | "submitted"
    | "confirming"
    | "credited"
    | "expired"
    | "failed"
    | "rejected";
  /** Slots that are bought with the credits once they arrive; needs the scope `spend`. */
  then: Purchase | null;
  /** Transaction that the wallet sends; null for XRP. */
  transaction: {
    data: string;
    /** @pattern ^0x[0-9a-fA-F]{40}$ */
    to: string;
    /** @pattern ^(0|[1-9]\d{0,77})$ */
    value: string;
  } | null;
  txHash: string | null;
  /** @pattern ^0x[0-9a-fA-F]{40}$ */
  wallet: string;
}

export interface TopupDraft {
  /**
   * Amount in the smallest unit of the asset, as a string of digits.
   * @pattern ^(0|[1-9]\d{0,77})$
   */
  amount: string;
  /** The token approval to send first; null if the asset is not a token. */
  approval: {
    /** @pattern ^(0|[1-9]\d{0,77})$ */
    amount: string;
    /** @pattern ^0x[0-9a-fA-F]{40}$ */
    spender: string;
    /** @pattern ^0x[0-9a-fA-F]{40}$ */
    token: string;
  } | null;
  asset: string;
  /** Bonus credits on top of the credits bought. */
  bonusCredits: number;
  /** Id of the chain this service runs on. `settlement` says where to pay: XRP is paid on the XRP Ledger. */
  chainId: number;
  /** Call of payNative on the router that a contract wallet (Safe, ERC-4337, multisig) sends instead of `transaction`. Null for assets other than FLR, and if the router does not accept FLR. */
  contractWallet: {
    data: string;
    /** @pattern ^0x[0-9a-fA-F]{40}$ */
    to: string;
    /** @pattern ^(0|[1-9]\d{0,77})$ */
    value: string;
  } | null;
  credits: number;
  /** Number of decimals of the asset. */
  decimals: number;
  /** Destination tag that an XRP payment must carry; null for other assets. */
  destinationTag: number | null;
  /**
   * End of the locked price.
   * @format date-time
   */
  expiresAt: string;
  /**
   * Payment reference of the top-up: 32 bytes in hex.
   * @pattern ^0x[0-9a-fA-F]{64}$
   */
  handle: string;
  instructions: string;
  /** @format uri */
  page: string;
  /**
   * URL to show as a QR code: the payment page, or a wallet link for XRP.
   * @format uri
   */
  pageQr: string;
  /** Address to pay to, on the chain of the asset. */
  payTo: string;
  settlement:
    | "onchain_router_prepaid"
    | "native_transfer_prepaid"
    | "xrpl_tag_prepaid";
  status:
    | "draft"
    | "submitted"
    | "confirming"
    | "credited"
    | "expired"
    | "failed"
    | "rejected";
  /** Slots that are bought with the credits once they arrive; needs the scope `spend`. */
  then: Purchase | null;
  /** Transaction that the wallet sends; null for XRP. */
  transaction: {
    data: string;
    /** @pattern ^0x[0-9a-fA-F]{40}$ */
    to: string;
    /** @pattern ^(0|[1-9]\d{0,77})$ */
    value: string;
  } | null;
  /** @pattern ^0x[0-9a-fA-F]{40}$ */
  wallet: string;
}

export interface Trial {
  /** @format date-time */
  endsAt: string;
  slots: number;
  /** @format date-time */
  startedAt: string;
}

export interface Watch {
  /**
   * Minimum time between two alerts of a signal, in seconds.
   * @min 0
   * @max 2592000
   */
  cooldownSeconds: number;
  /** @format date-time */
  createdAt: string;
  /** Minutes without an acknowledgement after which an alert is also sent to `escalateTo`; null: never. Alerts of severity info are not escalated. */
  escalateAfterMinutes: number | null;
  /** Ids of the recipients of alerts that nobody acknowledges in time, beside the watch’s own recipients. */
  escalateTo: number[];
  /** no_data while the target cannot be read. */
  health: "ok" | "no_data";
  /**
   * @min 1
   * @max 2147483647
   */
  id: number;
  label: string;
  lastEvaluatedAt: string | null;
  /** The last observed value; null before the first. The shape depends on `type`. */
  lastObservation: any;
  minSeverity: "info" | "warning" | "critical";
  /** Chats and e-mail get no messages until this time; null if not muted. */
  mutedUntil: string | null;
  /** Ids of the recipients; null for the default recipients. */
  recipientIds: number[] | null;
  /** Settings of the watch. The shape depends on `type`. */
  settings: any;
  signalStates: SignalState[];
  signals: SignalSetting[];
  status: "active" | "paused" | "suspended";
  /** What is watched, as given at creation. The shape depends on `type`. */
  target: any;
  type:
    | "wallet-balance"
    | "feed-move"
    | "provider-eligibility"
    | "credits-balance"
    | "reward-signing"
    | "provider-fsp";
  /** @format date-time */
  updatedAt: string;
  /** Version number that increases with every change by the owner. */
  version: number;
}

export interface WatchChanges {
  /**
   * Minimum time between two alerts of a signal, in seconds.
   * @min 0
   * @max 2592000
   */
  cooldownSeconds?: number;
  /** Minutes without an acknowledgement after which an alert is also sent to `escalateTo`; null: never. Alerts of severity info are not escalated. */
  escalateAfterMinutes?: number | null;
  /**
   * Ids of the recipients of alerts that nobody acknowledges in time, beside the watch’s own recipients.
   * @maxItems 20
   */
  escalateTo?: number[];
  label?: string;
  minSeverity?: "info" | "warning" | "critical";
  /** Chats and e-mail get no messages until this time; null if not muted. */
  mutedUntil?: string | null;
  /** Ids of the recipients; null for the default recipients. */
  recipientIds?: number[] | null;
  settings?: Partial<Record<string, any>>;
  signals?: SignalChoice[];
  status?: "active" | "paused";
}

export interface WatchList {
  data: Watch[];
  /** Cursor of the next page; null on the last page. */
  nextCursor: string | null;
}

export interface WebhookPayload {
  /** Number of the alert; null in a test. */
  alertId: number | null;
  /** Values of the event, as an object that depends on the event. Accept unknown properties. */
  data: Record<string, any>;
  /**
   * UUID of the delivery, the same for every attempt. Use it to discard duplicates.
   * @format uuid
   */
  deliveryId: string;
  /** Name of the event, one from the list of events. */
  event: string;
  /**
   * Time of the event on the chain (ISO 8601, UTC).
   * @format date-time
   */
  firedAt: string;
  /** Group of the signal; null if there is none. */
  group: string | null;
  /** Name of the watch; null in a test without a watch. */
  label: string | null;
  /** Version of this schema, always 2. */
  payloadVersion: 2;
  /** Title and text in the recipient’s language. */
  rendered: {
    body: string;
    locale: "en" | "de" | "fr" | "bn" | "zh" | "hi" | "ar";
    title: string;
  };
  /** The complete message in the recipient’s language. Accept unknown properties. */
  renderedMessage: {
    alertId: number | null;
    body: string;
    event: string;
    fields: {
      href?: string;
      key: string;
      label: string;
      value: string;
    }[];
    /** @format date-time */
    firedAt: string;
    link: string;
    severity: "info" | "warning" | "critical";
    test: boolean;
    title: string;
    watchId: number | null;
    watchLabel: string | null;
  };
  /** Severity of the alert; info for a recovery. */
  severity: "info" | "warning" | "critical";
  /** Id of the signal that raised the alert; null if the event has no signal. */
  signal: string | null;
  /** Type of the watch; null if there is none. */
  type: string | null;
  /** Number of the watch; null in a test without a watch. */
  watchId: number | null;
}
