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
    nextCursor: string | null;
  };
  slots: Capacity;
  /** @pattern ^0x[0-9a-fA-F]{40}$ */
  wallet: string;
}

export interface Alert {
  acknowledgedAt: string | null;
  /**
   * Depends on `event`. More properties may come.
   *
   * - `fsp.monitoring`: since (string), lastBlock (object or null), reason (string), until (string or null)
   * - `fsp.monitoring.recovered`: since (string), lastBlock (object or null), reason (string), until (string or null)
   * - `wallet-balance.moved`: address (string), asset (string), symbol (string), decimals (integer), previousAmount (string), currentAmount (string), changeAmount (string), threshold (string), direction (string), blockNumber (integer), blockTime (string)
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
  /** An alert of a signal without a recovery stays `firing` until it is acknowledged. */
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
  /** EIP-4361 text. Sign it exactly as it is (personal_sign), whitespace included. */
  message: string;
  /** Works once, for five minutes. */
  nonce: string;
  /**
   * The wallet that must sign.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  wallet: string;
}

export interface ChallengeRequest {
  /**
   * A name for the token in lists.
   * @minLength 1
   * @maxLength 40
   */
  label?: string;
  /**
   * What the token may do besides reading: `write`, `spend`. Ask only for what you need.
   * @maxItems 3
   * @default []
   */
  scopes?: ("read" | "write" | "spend")[];
  /**
   * The wallet that will sign.
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
   * The mailbox, for `email`.
   * @format email
   * @maxLength 254
   */
  address?: string;
  rotateSecret?: boolean;
  /**
   * Where messages are posted to, for every other channel.
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
  /** The signing secret. Shown only when it is made or rotated. */
  secret?: string;
  status: "pending" | "active" | "disabled" | "blocked" | null;
  statusReason: string | null;
  target: string | null;
}

export interface ConfirmTopup {
  /**
   * 32 bytes in hex, as the chain of the asset writes them.
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
   * Thirty days after it was issued.
   * @format date-time
   */
  expiresAt: string;
  /** What the token may do. `read` is always included. */
  scopes: ("read" | "write" | "spend")[];
  /** Send it as `Authorization: Bearer`. It is not shown again. */
  token: string;
  /** @pattern ^0x[0-9a-fA-F]{40}$ */
  wallet: string;
}

export interface LedgerEntry {
  balanceAfterCredits: number;
  /** @format date-time */
  createdAt: string;
  deltaCredits: number;
  /** Counts the entries of this wallet: 1, 2, 3 … */
  id: number;
  note?: string;
  reference: string;
  type: "topup" | "bonus" | "usage" | "subscription" | "refund" | "adjustment";
}

export interface MeteredResource {
  /** Ways to pay that can be used now. */
  accepts: PaymentOffer[];
  description: string;
  /** Credits for one call. */
  priceCredits: number;
  resource:
    | "rewards-intelligence-reports"
    | "providers-rewards"
    | "ftso-analytics";
  /** Where it is called, and all paths below; null: this service does not offer it. A request has 300 seconds to arrive whole. */
  url: string | null;
}

export interface NewRecipient {
  /**
   * The mailbox, for `email`.
   * @format email
   * @maxLength 254
   */
  address?: string;
  channel: "telegram" | "email" | "webhook" | "discord" | "slack";
  /** Told by watches that name no recipients. */
  default?: boolean;
  locale?: "en" | "de" | "fr" | "bn" | "zh" | "hi" | "ar";
  minSeverity?: "info" | "warning" | "critical";
  name: string;
  timezone?: string;
  /**
   * Where messages are posted to, for every other channel.
   * @format uri
   * @maxLength 2048
   */
  url?: string;
}

export interface NewSettings {
  digest: "off" | "15m" | "1h" | "daily";
  /** @pattern ^([01]\d|2[0-3]):[0-5]\d$ */
  digestAt: string;
  locale: "en" | "de" | "fr" | "bn" | "zh" | "hi" | "ar";
  minSeverity: "info" | "warning" | "critical";
  quietHours: {
    /** Critical alerts come through all the same. */
    criticalBypass: boolean;
    enabled: boolean;
    /** @pattern ^([01]\d|2[0-3]):[0-5]\d$ */
    from: string;
    /** @pattern ^([01]\d|2[0-3]):[0-5]\d$ */
    to: string;
  };
  recoveries: boolean;
  repeat: {
    /**
     * Minutes after the alert at which an unacknowledged one is told again.
     * @maxItems 24
     */
    critical: number[];
  };
  timezone: string;
  /** Counts changes. */
  version?: number;
}

export interface NewSubscription {
  /** @default false */
  autoRenew?: boolean;
  /**
   * Buy at this price only: the `totalCredits` of a quote.
   * @min 0
   */
  expectedCredits?: number;
  /**
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
   * Symbol of a payment asset, such as FLR.
   * @maxLength 32
   */
  asset?: string;
  /**
   * @min 10000
   * @max 1000000000000
   */
  credits?: number;
}

export type NewWatch =
  | {
      /**
       * @min 0
       * @max 2592000
       * @default 0
       */
      cooldownSeconds?: number;
      label?: string;
      /** @default "info" */
      minSeverity?: "info" | "warning" | "critical";
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
       * @min 0
       * @max 2592000
       * @default 0
       */
      cooldownSeconds?: number;
      label?: string;
      /** @default "info" */
      minSeverity?: "info" | "warning" | "critical";
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
       * @min 0
       * @max 2592000
       * @default 0
       */
      cooldownSeconds?: number;
      label?: string;
      /** @default "info" */
      minSeverity?: "info" | "warning" | "critical";
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
       * @min 0
       * @max 2592000
       * @default 0
       */
      cooldownSeconds?: number;
      label?: string;
      /** @default "info" */
      minSeverity?: "info" | "warning" | "critical";
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
       * @min 0
       * @max 2592000
       * @default 0
       */
      cooldownSeconds?: number;
      label?: string;
      /** @default "info" */
      minSeverity?: "info" | "warning" | "critical";
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
       * @min 0
       * @max 2592000
       * @default 0
       */
      cooldownSeconds?: number;
      label?: string;
      /** @default "info" */
      minSeverity?: "info" | "warning" | "critical";
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
    /** The exact body that would be sent. */
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
    /** The exact body that would be sent. */
    body: string;
  };
  telegram?: {
    html: string;
  };
  webhook?: {
    /** The exact body that would be sent. */
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
  /** Why nothing came of it. */
  reason?: string | null;
  requestId: string;
  /** Which scope is missing. */
  scope?: string;
  /** How many credits are missing. */
  shortfallCredits?: number;
  status: number;
  title: string;
  /** What became of a top-up. */
  topupStatus?: string;
  /** What it costs now. */
  totalCredits?: number;
  /** @format uri */
  type: string;
}

export interface ProviderView {
  addresses: {
    /** @pattern ^0x[0-9a-fA-F]{40}$ */
    signingPolicy: string;
    /** @pattern ^0x[0-9a-fA-F]{40}$ */
    submit: string;
    /** @pattern ^0x[0-9a-fA-F]{40}$ */
    submitSignatures: string;
  } | null;
  asOf: string | null;
  balances: {
    /** @pattern ^0x[0-9a-fA-F]{40}$ */
    address: string;
    /** @pattern ^(0|[1-9]\d{0,77})$ */
    balanceWei: string;
    role: string;
  }[];
  currentRound: number | null;
  fastUpdates: {
    blocksSinceUpdate: number;
    lastUpdateBlock: number | null;
    probabilityOfSilence: number;
  } | null;
  /** In the current signing policy; null while that is not known. */
  inPolicy: boolean | null;
  minimalConditions: {
    /** Over the last 80 rounds; null without enough evidence. */
    anchor: {
      /** What the protocol asks for over a reward epoch. */
      minimum: number;
      /** 0 to 1. */
      rate: number;
    } | null;
    /** Over the last 80 rounds; null without enough evidence. */
    fdc: {
      /** What the protocol asks for over a reward epoch. */
      minimum: number;
      /** 0 to 1. */
      rate: number;
    } | null;
    /** Over the last 80 rounds; null without enough evidence. */
    uptime: {
      /** What the protocol asks for over a reward epoch. */
      minimum: number;
      /** 0 to 1. */
      rate: number;
    } | null;
  };
  /** @pattern ^0x[0-9a-fA-F]{40}$ */
  provider: string;
  /** Registered for the current reward epoch; null while that is not known. */
  registered: boolean | null;
  /** Null before registration for the next reward epoch opens. */
  registeredNext: boolean | null;
  /** When the registration for the next reward epoch is prepared; voters register soon after. Null without the chain. */
  registrationOpensAt: string | null;
  rewardEpoch: number | null;
  /** Newest first. */
  rounds: {
    fdc: {
      bitvote:
        | "ok"
        | "late"
        | "early"
        | "missing"
        | "mismatch"
        | "offence"
        | "unknown";
      signature:
        | "ok"
        | "late"
        | "early"
        | "missing"
        | "mismatch"
        | "offence"
        | "unknown";
    };
    ftso: {
      commit:
        | "ok"
        | "late"
        | "early"
        | "missing"
        | "mismatch"
        | "offence"
        | "unknown";
      reveal:
        | "ok"
        | "late"
        | "early"
        | "missing"
        | "mismatch"
        | "offence"
        | "unknown";
      signature:
        | "ok"
        | "late"
        | "early"
        | "missing"
        | "mismatch"
        | "offence"
        | "unknown";
    };
    id: number;
    /** @format date-time */
    startsAt: string;
  }[];
  /** The last judged round is older than 5 minutes, or the chain cannot be read. */
  stale: boolean;
  /** As the P-chain lists them; null where it was not asked. Watched providers only. */
  validators:
    | {
        listed: boolean;
        nodeId: string;
      }[]
    | null;
  /** Share of the weight of the signing policy, 0 to 1. */
  weight: number | null;
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
  /** The signing secret. Shown only when it is made or rotated. */
  secret?: string;
  status: "pending" | "active" | "disabled" | "blocked";
  statusReason: string | null;
  /** The destination, masked. */
  target: string;
  timezone: string;
  verifiedAt: string | null;
}

export interface RecipientChanges {
  /**
   * The mailbox, for `email`.
   * @format email
   * @maxLength 254
   */
  address?: string;
  /** Told by watches that name no recipients. */
  default?: boolean;
  locale?: "en" | "de" | "fr" | "bn" | "zh" | "hi" | "ar";
  minSeverity?: "info" | "warning" | "critical";
  name?: string;
  rotateSecret?: boolean;
  status?: "active" | "disabled";
  timezone?: string;
  /**
   * Where messages are posted to, for every other channel.
   * @format uri
   * @maxLength 2048
   */
  url?: string;
}

export interface RecipientList {
  data: Recipient[];
  nextCursor: string | null;
}

export interface Rendered {
  body: string;
  locale: "en" | "de" | "fr" | "bn" | "zh" | "hi" | "ar";
  title: string;
}

export interface Settings {
  digest: "off" | "15m" | "1h" | "daily";
  /** @pattern ^([01]\d|2[0-3]):[0-5]\d$ */
  digestAt: string;
  locale: "en" | "de" | "fr" | "bn" | "zh" | "hi" | "ar";
  minSeverity: "info" | "warning" | "critical";
  quietHours: {
    /** Critical alerts come through all the same. */
    criticalBypass: boolean;
    enabled: boolean;
    /** @pattern ^([01]\d|2[0-3]):[0-5]\d$ */
    from: string;
    /** @pattern ^([01]\d|2[0-3]):[0-5]\d$ */
    to: string;
  };
  recoveries: boolean;
  repeat: {
    /**
     * Minutes after the alert at which an unacknowledged one is told again.
     * @maxItems 24
     */
    critical: number[];
  };
  timezone: string;
  /** Counts changes. */
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
  lastEvidenceAt: string | null;
  /** Of the open alert. */
  severity: "info" | "warning" | "critical" | null;
  since: string | null;
  state: "unknown" | "ok" | "pending" | "firing";
  streak?: number;
}

export interface SlotQuote {
  balanceCredits: number;
  durationDiscountBps: number;
  /** @format date-time */
  endsAt: string;
  listCredits: number;
  periods: number;
  quantity: number;
  /** 0 when the balance is enough. */
  shortfallCredits: number;
  slotPriceCredits: number;
  /** @format date-time */
  startsAt: string;
  totalCredits: number;
  volumeDiscountBps: number;
}

export interface Stats {
  alerts24h: number;
  deliveries24h: number;
  /** Delivered of those that are finished, 0 to 1; null when there are none. */
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
  autoRenew: boolean;
  /** @format date-time */
  endsAt: string;
  /**
   * @min 1
   * @max 2147483647
   */
  id: number;
  /** Code of the problem that the last renewal failed with. */
  lastRenewalError: string | null;
  nextRenewalAt: string | null;
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
  nextCursor: string | null;
  trial: {
    /** Whether it can still be started. */
    available: boolean;
    endsAt: string | null;
    startedAt: string | null;
  };
}

export interface TelegramLink {
  /** @format date-time */
  expiresAt: string;
  /** Adds the bot to a group. */
  groupUrl: string;
  /** Opens a private chat with the bot. */
  url: string;
}

export interface TelegramLinkRequest {
  /** Of the recipient; else the chat’s title. */
  name?: string;
  /**
   * What the chat may do; `read` and `write` when nothing is said.
   * @maxItems 3
   */
  scopes?: ("read" | "write" | "spend")[];
}

export interface TermsAcceptance {
  /** Whether the current version is accepted. */
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
      /** Null when nobody answered. */
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
  /** To the minute; null when it was never used. */
  lastUsedAt: string | null;
  /** The first characters of the token, to tell it from others. */
  prefix: string;
  revokedAt: string | null;
  /** What the token may do. `read` is always included. */
  scopes: ("read" | "write" | "spend")[];
  status: "active" | "expired" | "revoked";
}

export interface TokenRequest {
  /**
   * The message of the challenge, unchanged.
   * @minLength 1
   * @maxLength 4096
   */
  message: string;
  /**
   * EIP-191 signature of the message, hexadecimal. Of a contract wallet: what ERC-1271 or ERC-6492 asks for.
   * @minLength 1
   * @maxLength 8194
   */
  signature: string;
}

export interface Topup {
  /**
   * In the smallest unit of the asset.
   * @pattern ^(0|[1-9]\d{0,77})$
   */
  amount: string;
  /** What the token contract is told first; null where there is no token. */
  approval: {
    /** @pattern ^(0|[1-9]\d{0,77})$ */
    amount: string;
    /** @pattern ^0x[0-9a-fA-F]{40}$ */
    spender: string;
    /** @pattern ^0x[0-9a-fA-F]{40}$ */
    token: string;
  } | null;
  asset: string;
  bonusCredits: number;
  /** The chain this service works on. Where a payment goes is in settlement: XRP is paid on the XRP Ledger. */
  chainId: number;
  confirmations: number;
  /** What a contract wallet (Safe, ERC-4337, multisig) sends instead of transaction: a call of payNative on the router. Null for other assets than FLR, and where the router does not take FLR. */
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
  decimals: number;
  destinationTag: number | null;
  /** @format date-time */
  expiresAt: string;
  /** @pattern ^0x[0-9a-fA-F]{64}$ */
  handle: string;
  instructions: string;
  /** @format uri */
  page: string;
  /**
   * For a QR code: the page, or a wallet link for XRP.
   * @format uri
   */
  pageQr: string;
  /** What was paid; null before a payment. */
  paidAmount: string | null;
  payTo: string;
  /** Why it failed or was rejected; transaction_not_found while nobody knows the transaction that was named. */
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
  /** What the wallet sends; null for XRP. */
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
   * In the smallest unit of the asset.
   * @pattern ^(0|[1-9]\d{0,77})$
   */
  amount: string;
  /** What the token contract is told first; null where there is no token. */
  approval: {
    /** @pattern ^(0|[1-9]\d{0,77})$ */
    amount: string;
    /** @pattern ^0x[0-9a-fA-F]{40}$ */
    spender: string;
    /** @pattern ^0x[0-9a-fA-F]{40}$ */
    token: string;
  } | null;
  asset: string;
  bonusCredits: number;
  /** The chain this service works on. Where a payment goes is in settlement: XRP is paid on the XRP Ledger. */
  chainId: number;
  /** What a contract wallet (Safe, ERC-4337, multisig) sends instead of transaction: a call of payNative on the router. Null for other assets than FLR, and where the router does not take FLR. */
  contractWallet: {
    data: string;
    /** @pattern ^0x[0-9a-fA-F]{40}$ */
    to: string;
    /** @pattern ^(0|[1-9]\d{0,77})$ */
    value: string;
  } | null;
  credits: number;
  decimals: number;
  destinationTag: number | null;
  /** @format date-time */
  expiresAt: string;
  /** @pattern ^0x[0-9a-fA-F]{64}$ */
  handle: string;
  instructions: string;
  /** @format uri */
  page: string;
  /**
   * For a QR code: the page, or a wallet link for XRP.
   * @format uri
   */
  pageQr: string;
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
  /** What the wallet sends; null for XRP. */
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
   * @min 0
   * @max 2592000
   */
  cooldownSeconds: number;
  /** @format date-time */
  createdAt: string;
  health: "ok" | "no_data";
  /**
   * @min 1
   * @max 2147483647
   */
  id: number;
  label: string;
  lastEvaluatedAt: string | null;
  /** What was seen last, null before that. Its form depends on `type`. */
  lastObservation: any;
  minSeverity: "info" | "warning" | "critical";
  mutedUntil: string | null;
  recipientIds: number[] | null;
  /** Its form depends on `type`. */
  settings: any;
  signalStates: SignalState[];
  signals: SignalSetting[];
  status: "active" | "paused" | "suspended";
  /** As given at creation; its form depends on `type`. */
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
  /** Counts changes by the owner. */
  version: number;
}

export interface WatchChanges {
  /**
   * @min 0
   * @max 2592000
   */
  cooldownSeconds?: number;
  label?: string;
  minSeverity?: "info" | "warning" | "critical";
  mutedUntil?: string | null;
  recipientIds?: number[] | null;
  settings?: Partial<Record<string, any>>;
  signals?: SignalChoice[];
  status?: "active" | "paused";
}

export interface WatchList {
  data: Watch[];
  nextCursor: string | null;
}

export interface WebhookPayload {
  /** Number of the alert; null in a test. */
  alertId: number | null;
  /** Values of the event, which differ from event to event. Accept properties you do not know. */
  data: Record<string, any>;
  /**
   * The same on every attempt: drop a delivery you have seen.
   * @format uuid
   */
  deliveryId: string;
  /** Name of the event, one of those in the list of events. */
  event: string;
  /**
   * When it happened on the chain.
   * @format date-time
   */
  firedAt: string;
  /** Group of the signal; null where there is none. */
  group: string | null;
  /** Name of the watch; null in a test without a watch. */
  label: string | null;
  /** Version of this schema: always 2. */
  payloadVersion: 2;
  /** Title and text in the language of the recipient. */
  rendered: {
    body: string;
    locale: "en" | "de" | "fr" | "bn" | "zh" | "hi" | "ar";
    title: string;
  };
  /** The complete message in the language of the recipient. Accept properties you do not know. */
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
  /** How bad it is. A recovery has info. */
  severity: "info" | "warning" | "critical";
  /** Signal of the watch; null where the event comes from no signal. */
  signal: string | null;
  /** Type of the watch; null where there is none. */
  type: string | null;
  /** Number of the watch; null in a test without a watch. */
  watchId: number | null;
}
