export interface AcceptTerms {
  /**
   * Version of the terms to accept.
   * @minLength 1
   * @maxLength 100
   * @pattern ^[^\u0000-\u001f\u007f-\u009f]*$
   */
  version: string;
}

export interface Account {
  /** Balance of the wallet, in credits. */
  balanceCredits: number;
  /** Free calls for the day. */
  freeTier: {
    /** Number of free calls a day. */
    limit: number;
    /**
     * Time at which the count starts again.
     * @format date-time
     */
    resetsAt: any;
    /** Free calls used today. */
    used: number;
  };
  /** Changes of the balance, newest first. */
  ledger: {
    /** Entries on this page. */
    data: LedgerEntry[];
    /** Cursor of the next page; null on the last page. */
    nextCursor: string | null;
  };
  /** Slots of the wallet. */
  slots: Capacity;
  /**
   * Address of the wallet.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  wallet: string;
}

export interface AcknowledgeInput {
  /** false removes the acknowledgement; true is the default. */
  acknowledged?: boolean;
  /**
   * Note about the alert, such as what is being done; replaces the one before
   * @minLength 1
   * @maxLength 200
   * @pattern ^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069 \u00a0\u00ad\u0300-\u036f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200d\u202f\u205f-\u2065\u206a-\u206f\u20d0-\u20f0\u2800\u3000\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff][^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$
   */
  note?: string;
}

export interface Acknowledgement {
  /** Time of the acknowledgement; null without one. */
  acknowledgedAt: null;
  /** Name of the person who acknowledged the alert, as shown in messages; null until someone acknowledges it. */
  acknowledgedBy: string | null;
  /**
   * Number that identifies the object.
   * @min 1
   * @max 2147483647
   */
  id: number;
  /** Note that a person wrote about the alert */
  note: string | null;
}

export interface Alert {
  /** Time of the acknowledgement; null without one. */
  acknowledgedAt: null;
  /** Name of the person who acknowledged the alert, as shown in messages; null until someone acknowledges it. */
  acknowledgedBy: string | null;
  /**
   * Values of the event, as an object that depends on `event`. More properties may be added.
   *
   * - `fsp.monitoring`: since (string), lastBlock (object or null), reason (string), until (string or null)
   * - `fsp.monitoring.recovered`: since (string), lastBlock (object or null), reason (string), until (string or null)
   * - `wallet-balance.moved`: address (string), asset (string), symbol (string), decimals (integer), previousAmount (string), currentAmount (string), changeAmount (string), threshold (string), direction (string), counterparty (string or null), transactionHash (string or null), transactions (array), transactionCount (integer), usd (string or null), blockNumber (integer), blockTime (string), otherChanges (array), isTopUp (boolean), topupHandle (string), counterpartyRole (string)
   * - `wallet-balance.floor`: address (string), asset (string), symbol (string), decimals (integer), currentAmount (string), level (string), usd (string or null), blockNumber (integer), blockTime (string)
   * - `wallet-balance.floor.recovered`: address (string), asset (string), symbol (string), decimals (integer), currentAmount (string), level (string), usd (string or null), blockNumber (integer), blockTime (string)
   * - `wallet-balance.ceiling`: address (string), asset (string), symbol (string), decimals (integer), currentAmount (string), level (string), usd (string or null), blockNumber (integer), blockTime (string)
   * - `wallet-balance.ceiling.recovered`: address (string), asset (string), symbol (string), decimals (integer), currentAmount (string), level (string), usd (string or null), blockNumber (integer), blockTime (string)
   * - `wallet-balance.days-left`: address (string), asset (string), symbol (string), decimals (integer), currentAmount (string), spentDay (string), spentWeek (string), secondsLeft (number or null), days (integer), blockNumber (integer), blockTime (string)
   * - `wallet-balance.days-left.recovered`: address (string), asset (string), symbol (string), decimals (integer), currentAmount (string), spentDay (string), spentWeek (string), secondsLeft (number or null), days (integer), blockNumber (integer), blockTime (string)
   * - `feed-move.threshold`: feed (string), feedId (string), fromPrice (string), toPrice (string), movePercent (number), thresholdPercent (number), windowSeconds (integer), direction (string), fromTime (string), toTime (string), blockNumber (integer)
   * - `feed-move.below`: feed (string), feedId (string), price (string), level (string), blockNumber (integer), blockTime (string)
   * - `feed-move.below.recovered`: feed (string), feedId (string), price (string), level (string), blockNumber (integer), blockTime (string)
   * - `feed-move.above`: feed (string), feedId (string), price (string), level (string), blockNumber (integer), blockTime (string)
   * - `feed-move.above.recovered`: feed (string), feedId (string), price (string), level (string), blockNumber (integer), blockTime (string)
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
   * - `fsp.ftso-commit`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.ftso-commit.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.ftso-reveal`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.ftso-reveal.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.ftso-signature`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.ftso-signature.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-bitvote`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-bitvote.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-signature`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-signature.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-submit1`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-submit1.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.reveal-offence`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.reveal-offence.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.signature-mismatch`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.signature-mismatch.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.signature-grace`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.signature-grace.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.tx-failed`: provider (string), tx (string), from (string), role (string), to (string), contract (string), selector (string), function (string), reason (string or null), block (integer), gasUsed (integer), gasLimit (integer)
   * - `fsp.tx-failed.recovered`: provider (string), tx (string), from (string), role (string), to (string), contract (string), selector (string), function (string), reason (string or null), block (integer), gasUsed (integer), gasLimit (integer)
   * - `fsp.fast-updates`: provider (string), rewardEpochId (integer), blocksSinceUpdate (integer), lastUpdateBlock (integer or null), probabilityOfSilence (string), threshold (number), sortitionWeight (integer), sampleSize (number), onePercentBlocks (integer), weightShare (number), rule (string), tx (string), updateBlock (integer), feedsSent (integer), feedCount (integer), isAccepted (boolean), since (string), gapSeconds (integer), others (undefined)
   * - `fsp.fast-updates.recovered`: provider (string), rewardEpochId (integer), blocksSinceUpdate (integer), lastUpdateBlock (integer or null), probabilityOfSilence (string), threshold (number), sortitionWeight (integer), sampleSize (number), onePercentBlocks (integer), weightShare (number), rule (string), tx (string), updateBlock (integer), feedsSent (integer), feedCount (integer), isAccepted (boolean), since (string), gapSeconds (integer), others (undefined)
   * - `fsp.registration`: provider (string), rewardEpochId (integer), openedAt (string), closesAtEarliest (string), minutes (integer), isClosed (boolean), preRegistered (boolean or null), preRegistrationFailed (boolean), contractsMovedAt (string)
   * - `fsp.registration.recovered`: provider (string), rewardEpochId (integer), openedAt (string), closesAtEarliest (string), minutes (integer), isClosed (boolean), preRegistered (boolean or null), preRegistrationFailed (boolean), contractsMovedAt (string)
   * - `fsp.not-in-policy`: provider (string), rewardEpochId (integer), startVotingRoundId (integer), voters (integer), startsAt (string), active (boolean)
   * - `fsp.not-in-policy.recovered`: provider (string), rewardEpochId (integer), startVotingRoundId (integer), voters (integer), startsAt (string), active (boolean)
   * - `fsp.mc-anchor`: provider (string), nodeId (string), rewardEpochId (integer), votingRoundId (integer), stage (string), used (number), rate (number), protocolMinimum (number), rounds (integer), roundsUnknown (integer), done (integer), possible (number), roundsToMiss (integer), roundsLeft (integer), epochEndsAt (string), budgetEndsAt (string or null), rateSeconds (integer or null)
   * - `fsp.mc-anchor.recovered`: provider (string), nodeId (string), rewardEpochId (integer), votingRoundId (integer), stage (string), used (number), rate (number), protocolMinimum (number), rounds (integer), roundsUnknown (integer), done (integer), possible (number), roundsToMiss (integer), roundsLeft (integer), epochEndsAt (string), budgetEndsAt (string or null), rateSeconds (integer or null)
   * - `fsp.mc-fdc`: provider (string), nodeId (string), rewardEpochId (integer), votingRoundId (integer), stage (string), used (number), rate (number), protocolMinimum (number), rounds (integer), roundsUnknown (integer), done (integer), possible (number), roundsToMiss (integer), roundsLeft (integer), epochEndsAt (string), budgetEndsAt (string or null), rateSeconds (integer or null)
   * - `fsp.mc-fdc.recovered`: provider (string), nodeId (string), rewardEpochId (integer), votingRoundId (integer), stage (string), used (number), rate (number), protocolMinimum (number), rounds (integer), roundsUnknown (integer), done (integer), possible (number), roundsToMiss (integer), roundsLeft (integer), epochEndsAt (string), budgetEndsAt (string or null), rateSeconds (integer or null)
   * - `fsp.mc-fast-updates`: provider (string), nodeId (string), rewardEpochId (integer), votingRoundId (integer), stage (string), used (number), rate (number), protocolMinimum (number), rounds (integer), roundsUnknown (integer), done (integer), possible (number), roundsToMiss (integer), roundsLeft (integer), epochEndsAt (string), budgetEndsAt (string or null), rateSeconds (integer or null)
   * - `fsp.mc-fast-updates.recovered`: provider (string), nodeId (string), rewardEpochId (integer), votingRoundId (integer), stage (string), used (number), rate (number), protocolMinimum (number), rounds (integer), roundsUnknown (integer), done (integer), possible (number), roundsToMiss (integer), roundsLeft (integer), epochEndsAt (string), budgetEndsAt (string or null), rateSeconds (integer or null)
   * - `fsp.mc-uptime`: provider (string), nodeId (string), rewardEpochId (integer), votingRoundId (integer), stage (string), used (number), rate (number), protocolMinimum (number), rounds (integer), roundsUnknown (integer), done (integer), possible (number), roundsToMiss (integer), roundsLeft (integer), epochEndsAt (string), budgetEndsAt (string or null), rateSeconds (integer or null)
   * - `fsp.mc-uptime.recovered`: provider (string), nodeId (string), rewardEpochId (integer), votingRoundId (integer), stage (string), used (number), rate (number), protocolMinimum (number), rounds (integer), roundsUnknown (integer), done (integer), possible (number), roundsToMiss (integer), roundsLeft (integer), epochEndsAt (string), budgetEndsAt (string or null), rateSeconds (integer or null)
   * - `fsp.stake-end`: provider (string), nodeId (string), stakeEndsAt (string), secondsLeft (integer), days (integer)
   * - `fsp.stake-end.recovered`: provider (string), nodeId (string), stakeEndsAt (string), secondsLeft (integer), days (integer)
   * - `fsp.days-left`: provider (string), role (string), address (string), balanceWei (string), spentDayWei (string), spentWeekWei (string), secondsLeft (number or null), days (integer)
   * - `fsp.days-left.recovered`: provider (string), role (string), address (string), balanceWei (string), spentDayWei (string), spentWeekWei (string), secondsLeft (number or null), days (integer)
   * - `fsp.fdc-bitvote-length`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-bitvote-length.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-consensus`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-consensus.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-reveal-offence`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-reveal-offence.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.validator-not-listed`: provider (string), nodeIds (array), listed (integer), stakeEndsAt (string)
   * - `fsp.validator-not-listed.recovered`: provider (string), nodeIds (array), listed (integer), stakeEndsAt (string)
   * - `fsp.balance-low`: provider (string), role (string), address (string), balanceWei (string), limitWei (string)
   * - `fsp.balance-low.recovered`: provider (string), role (string), address (string), balanceWei (string), limitWei (string)
   * - `fsp.rewards-unclaimed`: provider (string), epochs (array), amountWei (string), expiresAt (string or null)
   * - `fsp.rewards-unclaimed.recovered`: provider (string), epochs (array), amountWei (string), expiresAt (string or null)
   */
  data: Record<string, any>;
  /** Deliveries of the alert, one for each recipient. */
  deliveries: Delivery[];
  /** Time from the alert to its recovery, in seconds; null without a recovery. */
  durationSeconds: number | null;
  /** `maintenance` if the alert fired during planned maintenance, so that it was sent to nobody then; else null. */
  during: "maintenance" | null;
  /** Name of the event. */
  event: string;
  /**
   * Time of the event on the chain (ISO 8601, UTC).
   * @format date-time
   */
  firedAt: any;
  /** Group of the signal; null without one. */
  group: string | null;
  /**
   * Number that identifies the object.
   * @min 1
   * @max 2147483647
   */
  id: number;
  /**
   * Number of the incident that the alert or recovery belongs to. An incident is one or several alerts of a watch with one cause, from the first to the last recovery. Each wallet counts from 1.
   * @min 1
   * @max 2147483647
   */
  incidentId: number;
  /** Note that a person wrote about the alert */
  note: string | null;
  /** Name of the person or token that wrote the note */
  notedBy: string | null;
  /** Time of the recovery; null until then. */
  recoveredAt: null;
  /** Number of the alert that this recovery ends; null for alerts. */
  recoveryOf: number | null;
  /** Title and text of the message. */
  rendered: Rendered;
  /** Severity of the alert. */
  severity: "info" | "warning" | "critical";
  /** Id of the signal; null without one. */
  signal: string | null;
  /** State of the alert. */
  state: "firing" | "recovered" | "acknowledged" | "closed";
  /** Type of the watch. */
  type: string;
  /**
   * Number of the watch.
   * @min 1
   * @max 2147483647
   */
  watchId: number;
  /** Name of the watch. */
  watchLabel: string;
}

export interface AlertEvidence {
  /**
   * Number of the alert.
   * @min 1
   * @max 2147483647
   */
  alertId: number;
  /** The first and the last block that were read for the claim. `first` is null if only one block matters or if it is unknown. */
  blocks: {
    /** First block that was read; null if only one block matters or if it is unknown. */
    first: {
      /**
       * Time of the block.
       * @format date-time
       */
      at: any;
      /**
       * Hash of the block: 32 bytes in hex.
       * @pattern ^0x[0-9a-fA-F]{64}$
       */
      hash: string;
      /** Number of the block. */
      number: number;
    } | null;
    /** Last block that was read. */
    last: {
      /**
       * Time of the block.
       * @format date-time
       */
      at: any;
      /**
       * Hash of the block: 32 bytes in hex.
       * @pattern ^0x[0-9a-fA-F]{64}$
       */
      hash: string;
      /** Number of the block. */
      number: number;
    };
  } | null;
  /** Id of the chain; 14 is Flare. */
  chainId: number;
  /** What the alert states about the chain. Its properties depend on `kind`; null if the chain alone does not prove the alert. */
  claim: EvidenceClaim | null;
  /**
   * Values of the event, as an object that depends on `event`. More properties may be added.
   *
   * - `fsp.monitoring`: since (string), lastBlock (object or null), reason (string), until (string or null)
   * - `fsp.monitoring.recovered`: since (string), lastBlock (object or null), reason (string), until (string or null)
   * - `wallet-balance.moved`: address (string), asset (string), symbol (string), decimals (integer), previousAmount (string), currentAmount (string), changeAmount (string), threshold (string), direction (string), counterparty (string or null), transactionHash (string or null), transactions (array), transactionCount (integer), usd (string or null), blockNumber (integer), blockTime (string), otherChanges (array), isTopUp (boolean), topupHandle (string), counterpartyRole (string)
   * - `wallet-balance.floor`: address (string), asset (string), symbol (string), decimals (integer), currentAmount (string), level (string), usd (string or null), blockNumber (integer), blockTime (string)
   * - `wallet-balance.floor.recovered`: address (string), asset (string), symbol (string), decimals (integer), currentAmount (string), level (string), usd (string or null), blockNumber (integer), blockTime (string)
   * - `wallet-balance.ceiling`: address (string), asset (string), symbol (string), decimals (integer), currentAmount (string), level (string), usd (string or null), blockNumber (integer), blockTime (string)
   * - `wallet-balance.ceiling.recovered`: address (string), asset (string), symbol (string), decimals (integer), currentAmount (string), level (string), usd (string or null), blockNumber (integer), blockTime (string)
   * - `wallet-balance.days-left`: address (string), asset (string), symbol (string), decimals (integer), currentAmount (string), spentDay (string), spentWeek (string), secondsLeft (number or null), days (integer), blockNumber (integer), blockTime (string)
   * - `wallet-balance.days-left.recovered`: address (string), asset (string), symbol (string), decimals (integer), currentAmount (string), spentDay (string), spentWeek (string), secondsLeft (number or null), days (integer), blockNumber (integer), blockTime (string)
   * - `feed-move.threshold`: feed (string), feedId (string), fromPrice (string), toPrice (string), movePercent (number), thresholdPercent (number), windowSeconds (integer), direction (string), fromTime (string), toTime (string), blockNumber (integer)
   * - `feed-move.below`: feed (string), feedId (string), price (string), level (string), blockNumber (integer), blockTime (string)
   * - `feed-move.below.recovered`: feed (string), feedId (string), price (string), level (string), blockNumber (integer), blockTime (string)
   * - `feed-move.above`: feed (string), feedId (string), price (string), level (string), blockNumber (integer), blockTime (string)
   * - `feed-move.above.recovered`: feed (string), feedId (string), price (string), level (string), blockNumber (integer), blockTime (string)
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
   * - `fsp.ftso-commit`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.ftso-commit.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.ftso-reveal`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.ftso-reveal.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.ftso-signature`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.ftso-signature.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-bitvote`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-bitvote.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-signature`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-signature.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-submit1`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-submit1.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.reveal-offence`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.reveal-offence.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.signature-mismatch`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.signature-mismatch.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.signature-grace`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.signature-grace.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.tx-failed`: provider (string), tx (string), from (string), role (string), to (string), contract (string), selector (string), function (string), reason (string or null), block (integer), gasUsed (integer), gasLimit (integer)
   * - `fsp.tx-failed.recovered`: provider (string), tx (string), from (string), role (string), to (string), contract (string), selector (string), function (string), reason (string or null), block (integer), gasUsed (integer), gasLimit (integer)
   * - `fsp.fast-updates`: provider (string), rewardEpochId (integer), blocksSinceUpdate (integer), lastUpdateBlock (integer or null), probabilityOfSilence (string), threshold (number), sortitionWeight (integer), sampleSize (number), onePercentBlocks (integer), weightShare (number), rule (string), tx (string), updateBlock (integer), feedsSent (integer), feedCount (integer), isAccepted (boolean), since (string), gapSeconds (integer), others (undefined)
   * - `fsp.fast-updates.recovered`: provider (string), rewardEpochId (integer), blocksSinceUpdate (integer), lastUpdateBlock (integer or null), probabilityOfSilence (string), threshold (number), sortitionWeight (integer), sampleSize (number), onePercentBlocks (integer), weightShare (number), rule (string), tx (string), updateBlock (integer), feedsSent (integer), feedCount (integer), isAccepted (boolean), since (string), gapSeconds (integer), others (undefined)
   * - `fsp.registration`: provider (string), rewardEpochId (integer), openedAt (string), closesAtEarliest (string), minutes (integer), isClosed (boolean), preRegistered (boolean or null), preRegistrationFailed (boolean), contractsMovedAt (string)
   * - `fsp.registration.recovered`: provider (string), rewardEpochId (integer), openedAt (string), closesAtEarliest (string), minutes (integer), isClosed (boolean), preRegistered (boolean or null), preRegistrationFailed (boolean), contractsMovedAt (string)
   * - `fsp.not-in-policy`: provider (string), rewardEpochId (integer), startVotingRoundId (integer), voters (integer), startsAt (string), active (boolean)
   * - `fsp.not-in-policy.recovered`: provider (string), rewardEpochId (integer), startVotingRoundId (integer), voters (integer), startsAt (string), active (boolean)
   * - `fsp.mc-anchor`: provider (string), nodeId (string), rewardEpochId (integer), votingRoundId (integer), stage (string), used (number), rate (number), protocolMinimum (number), rounds (integer), roundsUnknown (integer), done (integer), possible (number), roundsToMiss (integer), roundsLeft (integer), epochEndsAt (string), budgetEndsAt (string or null), rateSeconds (integer or null)
   * - `fsp.mc-anchor.recovered`: provider (string), nodeId (string), rewardEpochId (integer), votingRoundId (integer), stage (string), used (number), rate (number), protocolMinimum (number), rounds (integer), roundsUnknown (integer), done (integer), possible (number), roundsToMiss (integer), roundsLeft (integer), epochEndsAt (string), budgetEndsAt (string or null), rateSeconds (integer or null)
   * - `fsp.mc-fdc`: provider (string), nodeId (string), rewardEpochId (integer), votingRoundId (integer), stage (string), used (number), rate (number), protocolMinimum (number), rounds (integer), roundsUnknown (integer), done (integer), possible (number), roundsToMiss (integer), roundsLeft (integer), epochEndsAt (string), budgetEndsAt (string or null), rateSeconds (integer or null)
   * - `fsp.mc-fdc.recovered`: provider (string), nodeId (string), rewardEpochId (integer), votingRoundId (integer), stage (string), used (number), rate (number), protocolMinimum (number), rounds (integer), roundsUnknown (integer), done (integer), possible (number), roundsToMiss (integer), roundsLeft (integer), epochEndsAt (string), budgetEndsAt (string or null), rateSeconds (integer or null)
   * - `fsp.mc-fast-updates`: provider (string), nodeId (string), rewardEpochId (integer), votingRoundId (integer), stage (string), used (number), rate (number), protocolMinimum (number), rounds (integer), roundsUnknown (integer), done (integer), possible (number), roundsToMiss (integer), roundsLeft (integer), epochEndsAt (string), budgetEndsAt (string or null), rateSeconds (integer or null)
   * - `fsp.mc-fast-updates.recovered`: provider (string), nodeId (string), rewardEpochId (integer), votingRoundId (integer), stage (string), used (number), rate (number), protocolMinimum (number), rounds (integer), roundsUnknown (integer), done (integer), possible (number), roundsToMiss (integer), roundsLeft (integer), epochEndsAt (string), budgetEndsAt (string or null), rateSeconds (integer or null)
   * - `fsp.mc-uptime`: provider (string), nodeId (string), rewardEpochId (integer), votingRoundId (integer), stage (string), used (number), rate (number), protocolMinimum (number), rounds (integer), roundsUnknown (integer), done (integer), possible (number), roundsToMiss (integer), roundsLeft (integer), epochEndsAt (string), budgetEndsAt (string or null), rateSeconds (integer or null)
   * - `fsp.mc-uptime.recovered`: provider (string), nodeId (string), rewardEpochId (integer), votingRoundId (integer), stage (string), used (number), rate (number), protocolMinimum (number), rounds (integer), roundsUnknown (integer), done (integer), possible (number), roundsToMiss (integer), roundsLeft (integer), epochEndsAt (string), budgetEndsAt (string or null), rateSeconds (integer or null)
   * - `fsp.stake-end`: provider (string), nodeId (string), stakeEndsAt (string), secondsLeft (integer), days (integer)
   * - `fsp.stake-end.recovered`: provider (string), nodeId (string), stakeEndsAt (string), secondsLeft (integer), days (integer)
   * - `fsp.days-left`: provider (string), role (string), address (string), balanceWei (string), spentDayWei (string), spentWeekWei (string), secondsLeft (number or null), days (integer)
   * - `fsp.days-left.recovered`: provider (string), role (string), address (string), balanceWei (string), spentDayWei (string), spentWeekWei (string), secondsLeft (number or null), days (integer)
   * - `fsp.fdc-bitvote-length`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-bitvote-length.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-consensus`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-consensus.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-reveal-offence`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-reveal-offence.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.validator-not-listed`: provider (string), nodeIds (array), listed (integer), stakeEndsAt (string)
   * - `fsp.validator-not-listed.recovered`: provider (string), nodeIds (array), listed (integer), stakeEndsAt (string)
   * - `fsp.balance-low`: provider (string), role (string), address (string), balanceWei (string), limitWei (string)
   * - `fsp.balance-low.recovered`: provider (string), role (string), address (string), balanceWei (string), limitWei (string)
   * - `fsp.rewards-unclaimed`: provider (string), epochs (array), amountWei (string), expiresAt (string or null)
   * - `fsp.rewards-unclaimed.recovered`: provider (string), epochs (array), amountWei (string), expiresAt (string or null)
   */
  data: Record<string, any>;
  /** Name of the event. */
  event: string;
  /**
   * Time of the event on the chain (ISO 8601, UTC).
   * @format date-time
   */
  firedAt: any;
  /** What the signal checks, in words; null without a signal. */
  rule: string | null;
  /** Severity of the alert. */
  severity: "info" | "warning" | "critical";
  /** What was read for the claim. */
  sources: EvidenceSources;
  /** Transactions that the claim is about. */
  transactions: EvidenceTransaction[];
  /** Why there is no claim: it is a recovery, it is about the P-chain or published data, or it is not about a data provider. */
  unproven: "recovery" | "p-chain" | "other" | null;
  /** Version of the document’s format. */
  version: 1;
}

export interface AlertList {
  /** Entries on this page. */
  data: ListedAlert[];
  /** Cursor of the next page; null on the last page. In a very large history, a page with a filter can have fewer alerts than the limit, or none, although others follow. */
  nextCursor: string | null;
}

export interface AlertSelection {
  /** Selects all alerts that match the filters. */
  all?: true;
  /**
   * Selects alerts that were triggered before this time.
   * @format date-time
   */
  before?: any;
  /** Name of the event. */
  event?:
    | "wallet-balance.moved"
    | "wallet-balance.floor"
    | "wallet-balance.floor.recovered"
    | "wallet-balance.ceiling"
    | "wallet-balance.ceiling.recovered"
    | "wallet-balance.days-left"
    | "wallet-balance.days-left.recovered"
    | "feed-move.threshold"
    | "feed-move.below"
    | "feed-move.below.recovered"
    | "feed-move.above"
    | "feed-move.above.recovered"
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
    | "fsp.mc-anchor"
    | "fsp.mc-anchor.recovered"
    | "fsp.mc-fdc"
    | "fsp.mc-fdc.recovered"
    | "fsp.mc-fast-updates"
    | "fsp.mc-fast-updates.recovered"
    | "fsp.mc-uptime"
    | "fsp.mc-uptime.recovered"
    | "fsp.stake-end"
    | "fsp.stake-end.recovered"
    | "fsp.days-left"
    | "fsp.days-left.recovered"
    | "fsp.fdc-bitvote-length"
    | "fsp.fdc-bitvote-length.recovered"
    | "fsp.fdc-consensus"
    | "fsp.fdc-consensus.recovered"
    | "fsp.fdc-reveal-offence"
    | "fsp.fdc-reveal-offence.recovered"
    | "fsp.validator-not-listed"
    | "fsp.validator-not-listed.recovered"
    | "fsp.balance-low"
    | "fsp.balance-low.recovered"
    | "fsp.rewards-unclaimed"
    | "fsp.rewards-unclaimed.recovered"
    | "fsp.monitoring"
    | "fsp.monitoring.recovered";
  /**
   * Start of the period, included.
   * @format date-time
   */
  from?: any;
  /** Group of the signal. */
  group?:
    | "alerts"
    | "ftso"
    | "fdc"
    | "offences"
    | "transactions"
    | "fast-updates"
    | "registration";
  /**
   * Numbers of the alerts to delete, 500 at most.
   * @maxItems 500
   * @minItems 1
   */
  ids?: number[];
  /** Severity of the alert. */
  severity?: "info" | "warning" | "critical";
  /**
   * Id of the signal.
   * @maxLength 64
   */
  signal?: string;
  /** State of the alert. An alert whose signal has no recovery stays `firing` until it is acknowledged. */
  state?: "firing" | "recovered" | "acknowledged" | "closed";
  /**
   * End of the period, excluded.
   * @format date-time
   */
  to?: any;
  /** Type of the watch. */
  type?:
    | "wallet-balance"
    | "feed-move"
    | "provider-eligibility"
    | "credits-balance"
    | "reward-signing"
    | "provider-fsp";
  /**
   * Number of the watch.
   * @min 1
   * @max 2147483647
   */
  watchId?: number;
}

export interface AnsweredTest {
  /**
   * UUID of the delivery, the same for every attempt.
   * @format uuid
   */
  deliveryId: string;
  /** Error of the last attempt; null without one. */
  lastError: string | null;
  /** Time until the response, in milliseconds. */
  latencyMs: number;
  /** Result of the test; queued: it is sent soon. */
  status: "delivered" | "failed";
  /** HTTP status of the response; null if there was no response. */
  statusCode: number | null;
}

export interface Backtest {
  /**
   * The newest alerts, newest first, at most 100.
   * @maxItems 100
   */
  alerts: {
    /**
     * Time at which the alert would have been raised.
     * @format date-time
     */
    at: any;
    /** Entries on this page. */
    data: Record<string, any>;
    /** Name of the event. */
    event: string;
    /** Whether it would have been a recovery. */
    isRecovery: boolean;
    /** Severity of the alert. */
    severity: "info" | "warning" | "critical";
    /** Id of the signal; null without one. */
    signal: string | null;
    /** Title in one sentence. */
    title: string;
  }[];
  /** Whether the data covers all requested days in full detail; false if `gaps` has an entry. */
  complete: boolean;
  /** Number of alerts by severity; recoveries are counted separately. */
  counts: {
    /**
     * Number of critical alerts.
     * @min 0
     */
    critical: number;
    /**
     * Number of info alerts.
     * @min 0
     */
    info: number;
    /**
     * Number of recoveries.
     * @min 0
     */
    recovery: number;
    /**
     * Number of warnings.
     * @min 0
     */
    warning: number;
  };
  /** Number of days that were requested. */
  days: number;
  /** Start of the time covered; null if no data was found. */
  from: null;
  /** What the data does not show, as a code and a sentence. */
  gaps: {
    /** Error code, the same in every language. */
    code:
      | "starts_later"
      | "has_holes"
      | "coarse_prices"
      | "unwatched_parts"
      | "sampled_balances"
      | "no_archive"
      | "chain_unavailable"
      | "vote_end_unknown"
      | "too_much"
      | "no_data";
    /** Text without formatting. */
    text: string;
  }[];
  /** Number of incidents that began, by their highest severity. */
  incidentCounts: {
    /**
     * Number of critical incidents.
     * @min 0
     */
    critical: number;
    /**
     * Number of incidents of severity info.
     * @min 0
     */
    info: number;
    /**
     * Number of incidents of severity warning.
     * @min 0
     */
    warning: number;
  };
  /**
   * The newest incidents, newest first, at most 100. `endedAt` is null while an alert is open, and if nothing ends it.
   * @maxItems 100
   */
  incidents: {
    /**
     * Number of alerts and recoveries of the incident; `parts` has the first 20.
     * @min 0
     */
    count: number;
    /** Time at which the incident ended; null if it did not. */
    endedAt: null;
    /** The first alerts and recoveries of the incident. */
    parts: {
      /**
       * Time of the alert or recovery.
       * @format date-time
       */
      at: any;
      /** Name of the event. */
      event: string;
      /** Whether it is a recovery. */
      isRecovery: boolean;
      /** Severity of the alert. */
      severity: "info" | "warning" | "critical";
      /** Id of the signal; null without one. */
      signal: string | null;
      /** Title in one sentence. */
      title: string;
    }[];
    /** Severity of the alert. */
    severity: "info" | "warning" | "critical";
    /**
     * Start of the trial; null if it was never started.
     * @format date-time
     */
    startedAt: any;
    /** Title in one sentence. */
    title: string;
  }[];
  /**
   * Number of values evaluated.
   * @min 0
   */
  observations: number;
  /** Number of alerts in each 24 hours of the requested time, oldest first. `known` is false if nothing is known about these hours. */
  perDay: {
    /** Number of alerts by severity; recoveries are counted separately. */
    counts: {
      /**
       * Number of critical alerts.
       * @min 0
       */
      critical: number;
      /**
       * Number of info alerts.
       * @min 0
       */
      info: number;
      /**
       * Number of recoveries.
       * @min 0
       */
      recovery: number;
      /**
       * Number of warnings.
       * @min 0
       */
      warning: number;
    };
    /**
     * Start of the period, included.
     * @format date-time
     */
    from: any;
    /** Number of incidents that began, by their highest severity. */
    incidents: {
      /**
       * Number of critical incidents.
       * @min 0
       */
      critical: number;
      /**
       * Number of incidents of severity info.
       * @min 0
       */
      info: number;
      /**
       * Number of incidents of severity warning.
       * @min 0
       */
      warning: number;
    };
    /** Whether anything is known of the target in these 24 hours; false if no data of them is stored. */
    known: boolean;
  }[];
  /** End of the time covered; null if no data was found. */
  to: null;
}

export interface BalanceChangeData {
  /**
   * Address whose balance changed.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  address: string;
  /** Symbol of the chain’s own coin, or the address of a token. */
  asset: "FLR" | string;
  /** Number of the block after which it was observed. */
  blockNumber: number;
  /**
   * Time of that block.
   * @format date-time
   */
  blockTime: any;
  /**
   * Change of the balance in the smallest unit; negative if coins left.
   * @pattern ^-?\d{1,78}$
   */
  changeAmount: string;
  /** The other side of the transfer; null if there are several or none is known. */
  counterparty: string | null;
  /** What is known about the counterparty: `own-wallet`: the wallet of the watch’s owner; `watched`: the address of another watch of that owner; `seen`: in an earlier alert of the watch; `new`: in none of its recent alerts; `unknown`: no single counterparty. Absent for the payment of a top-up and in older alerts. */
  counterpartyRole?: "own-wallet" | "watched" | "seen" | "new" | "unknown";
  /**
   * Balance after the change, in the smallest unit.
   * @pattern ^(0|[1-9]\d{0,77})$
   */
  currentAmount: string;
  /**
   * Number of decimals of the asset.
   * @min 0
   * @max 77
   */
  decimals: number;
  /** Whether coins arrived (incoming) or left (outgoing). */
  direction: "incoming" | "outgoing";
  /** True if the transfer pays for a top-up of the watch’s owner; otherwise absent. */
  isTopUp?: true;
  otherChanges?: {
    asset: "FLR" | string;
    /** @pattern ^-?\d{1,78}$ */
    changeAmount: string;
    /**
     * @min 0
     * @max 77
     */
    decimals: number;
    symbol: string;
  }[];
  /**
   * Balance before the change, in the smallest unit.
   * @pattern ^(0|[1-9]\d{0,77})$
   */
  previousAmount: string;
  /** Symbol of the asset. */
  symbol: string;
  /** Change of the balance that raises an alert, in whole coins, such as 100. */
  threshold: string;
  /**
   * Payment reference of the top-up that the transfer pays for: 32 bytes in hex. Absent for other transfers, and if the transfer could pay for several top-ups.
   * @pattern ^0x[0-9a-fA-F]{64}$
   */
  topupHandle?: string;
  /** @min 0 */
  transactionCount: number;
  /** Hash of the transaction; null if there are several or none is known. */
  transactionHash: string | null;
  /** @maxItems 10 */
  transactions: {
    /** @pattern ^-?\d{1,78}$ */
    amount: string;
    counterparty: string | null;
    /** @pattern ^0x[0-9a-fA-F]{64}$ */
    transactionHash: string;
  }[];
  /** Value of the change in US dollars, without a sign; null without a price. */
  usd: string | null;
}

export interface BalanceChangeEvent {
  /** Values of the event, as an object that depends on the event. Accept unknown properties. */
  data: BalanceChangeData;
  /** Name of the event; see the list of events. */
  event: "wallet-balance.moved";
}

export interface BalanceClaim {
  /**
   * Address whose balance is too low.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  address: string;
  /**
   * Balance in wei, as a string of digits; 10^18 wei are 1 FLR.
   * @pattern ^(0|[1-9]\d{0,77})$
   */
  balanceWei: string;
  /** Number of the block of the transaction, or of the block at whose end the claim holds. */
  block: number;
  /** Kind of the claim, which determines its other properties. */
  kind: "balance";
  /**
   * Balance in wei below which an alert is raised, as a string of digits.
   * @pattern ^(0|[1-9]\d{0,77})$
   */
  limitWei: string;
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  /** What the address is used for. */
  role: string;
}

export interface BalanceLevelData {
  /** @pattern ^0x[0-9a-fA-F]{40}$ */
  address: string;
  /** Symbol of the chain’s own coin, or the address of a token. */
  asset: "*" | "FLR" | string;
  /** Number of the block after which it was observed. */
  blockNumber: number;
  /**
   * Time of that block.
   * @format date-time
   */
  blockTime: any;
  /**
   * Balance after the change, in the smallest unit.
   * @pattern ^(0|[1-9]\d{0,77})$
   */
  currentAmount: string;
  /**
   * Number of decimals of the asset.
   * @min 0
   * @max 77
   */
  decimals: number;
  level: string;
  /** Symbol of the asset. */
  symbol: string;
  /** Value of the change in US dollars, without a sign; null without a price. */
  usd: string | null;
}

export interface BalanceLevelEvent {
  /** Values of the event, as an object that depends on the event. Accept unknown properties. */
  data: BalanceLevelData;
  /** Name of the event; see the list of events. */
  event:
    | "wallet-balance.floor"
    | "wallet-balance.floor.recovered"
    | "wallet-balance.ceiling"
    | "wallet-balance.ceiling.recovered";
}

export interface Capacity {
  /** Free slots. */
  available: number;
  /** Largest number of slots of a wallet. */
  max: number;
  /** Slots bought. */
  purchased: number;
  /** Slots of the trial. */
  trial: number;
  /** Slots in use. */
  used: number;
}

export interface ChainOutageData {
  lastBlock: {
    /** @format date-time */
    at: any;
    number: number;
  } | null;
  reason:
    | "no_block"
    | "no_answer"
    | "behind"
    | "target_unreadable"
    | "watch_unreadable";
  /**
   * When the problem or its recovery began.
   * @format date-time
   */
  since: any;
  until: null;
}

export interface ChainOutageEvent {
  /** Values of the event, as an object that depends on the event. Accept unknown properties. */
  data: ChainOutageData;
  /** Name of the event; see the list of events. */
  event: "fsp.monitoring" | "fsp.monitoring.recovered";
}

export interface Challenge {
  /**
   * Time at which the message was issued.
   * @format date-time
   */
  issuedAt: any;
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
   * @pattern ^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069 \u00a0\u00ad\u0300-\u036f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200d\u202f\u205f-\u2065\u206a-\u206f\u20d0-\u20f0\u2800\u3000\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff][^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$
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
  /** Entries on this page. */
  data: ChannelState[];
  /** Always null: the list is complete. */
  nextCursor: string | null;
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
   * The URL that messages are posted to, for every channel except `email`. For `pagerduty` also the integration key alone.
   * @format uri
   * @maxLength 2048
   */
  url?: string;
}

export interface ChannelState {
  /** Whether this service offers the channel. */
  available: boolean;
  /** Whether the wallet has a destination in this channel. */
  configured: boolean;
  /** Name of the channel. */
  key:
    | "telegram"
    | "email"
    | "webhook"
    | "discord"
    | "slack"
    | "ntfy"
    | "pagerduty";
  /** Setup of the channel: input takes an address, link opens a chat. */
  kind: "input" | "link";
  /** Time of the last failed delivery; null without one. */
  lastFailureAt: null;
  /** Time of the last successful delivery; null before the first. */
  lastSuccessAt: null;
  /** The signing secret, shown only when it is created or rotated. */
  secret?: string;
  /** Status; takes effect only while `active`. */
  status: "pending" | "active" | "disabled" | "blocked" | null;
  /** Why the destination is off; null if it is not. */
  statusReason: string | null;
  /** Destination, partly masked; null without one. */
  target: string | null;
}

export interface ConfirmTopup {
  /**
   * Transaction hash: 32 bytes in hex, in the format of the asset’s chain.
   * @pattern ^(0x)?[0-9a-fA-F]{64}$
   */
  txHash: string;
}

export interface CreditsBalanceWatchRequest {
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
   * Ids of the recipients that get an alert no one has acknowledged in time, in addition to the watch’s own recipients.
   * @maxItems 20
   */
  escalateTo?: number[];
  /**
   * Name of the watch; by default the service makes one from the target.
   * @minLength 1
   * @maxLength 40
   * @pattern ^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069 \u00a0\u00ad\u0300-\u036f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200d\u202f\u205f-\u2065\u206a-\u206f\u20d0-\u20f0\u2800\u3000\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff][^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$
   */
  label?: string;
  /**
   * Minimum severity: less severe alerts are not sent.
   * @default "info"
   */
  minSeverity?: "info" | "warning" | "critical";
  /** Ids of the recipients; null or an empty list for the default recipients, not for nobody. */
  recipientIds?: number[] | null;
  /** Settings of the watch. The shape depends on `type`. */
  settings: {
    /**
     * Balance in credits below which an alert is raised.
     * @min 1
     * @max 1000000000
     */
    limit: number;
  };
  /**
   * Settings of the signals; omitted ones have their defaults.
   * @maxItems 1
   * @uniqueItems true
   */
  signals?: SignalChoice[];
  /** What to watch. The shape depends on `type`. */
  target: object;
  /** Type of the watch. */
  type: "credits-balance";
}

export interface CreditsThresholdData {
  /** Balance of the wallet, in credits. */
  balanceCredits: number;
  limitCredits: number;
  nextRenewal: {
    /** @format date-time */
    at: any;
    credits: number;
  } | null;
}

export interface CreditsThresholdEvent {
  /** Values of the event, as an object that depends on the event. Accept unknown properties. */
  data: CreditsThresholdData;
  /** Name of the event; see the list of events. */
  event: "credits.low-balance" | "credits.recovered";
}

export interface DaysLeftData {
  /** @pattern ^0x[0-9a-fA-F]{40}$ */
  address: string;
  /** Symbol of the chain’s own coin, or the address of a token. */
  asset: "FLR" | string;
  /** Number of the block after which it was observed. */
  blockNumber: number;
  /**
   * Time of that block.
   * @format date-time
   */
  blockTime: any;
  /**
   * Balance after the change, in the smallest unit.
   * @pattern ^(0|[1-9]\d{0,77})$
   */
  currentAmount: string;
  days: number;
  /**
   * Number of decimals of the asset.
   * @min 0
   * @max 77
   */
  decimals: number;
  secondsLeft: number | null;
  /** @pattern ^(0|[1-9]\d{0,77})$ */
  spentDay: string;
  /** @pattern ^(0|[1-9]\d{0,77})$ */
  spentWeek: string;
  /** Symbol of the asset. */
  symbol: string;
}

export interface DaysLeftEvent {
  /** Values of the event, as an object that depends on the event. Accept unknown properties. */
  data: DaysLeftData;
  /** Name of the event; see the list of events. */
  event: "wallet-balance.days-left" | "wallet-balance.days-left.recovered";
}

export interface DeletedAlerts {
  /** Number of deleted alerts. */
  deleted: number;
}

export interface Delivery {
  /** Number of attempts so far. */
  attempts: number;
  /** Channel that the recipient is notified through. */
  channel:
    | "telegram"
    | "email"
    | "webhook"
    | "discord"
    | "slack"
    | "ntfy"
    | "pagerduty";
  /** Time of delivery; null until then. */
  deliveredAt: null;
  /**
   * UUID of the delivery, the same for every attempt.
   * @format uuid
   */
  deliveryId: string;
  /** Error of the last attempt; null without one. */
  lastError: string | null;
  /** HTTP status of the last attempt; null without a response. */
  lastStatusCode: number | null;
  /** Time of the next attempt; null if there is none. */
  nextAttemptAt: null;
  /**
   * Number of the recipient.
   * @min 1
   * @max 2147483647
   */
  recipientId: number;
  /** Status of the delivery; held and muted: not sent for now; throttled: over the hourly limit. */
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

export interface EligibilityClaim {
  /** Conditions that were not met, as the calculation names them. */
  failures: string[];
  /** Kind of the claim, which determines its other properties. */
  kind: "eligibility";
  /** Number of passes that the provider has left; null if the calculation does not state it. */
  passes: number | null;
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  /** Number of the reward epoch. */
  rewardEpoch: number;
}

export interface EmailRecipientRequest {
  /**
   * E-mail address, for the channel `email` only.
   * @format email
   * @maxLength 254
   */
  address: string;
  /** Channel that the recipient is notified through. */
  channel: "email";
  /** Whether this recipient gets alerts from watches without recipients of their own. If left out: true while the wallet has no active default recipient and no active channel, otherwise false. */
  default?: boolean;
  /** Language of the texts. */
  locale?: "en" | "de" | "fr" | "bn" | "zh" | "hi" | "ar";
  /** Minimum severity: less severe alerts are not sent. */
  minSeverity?: "info" | "warning" | "critical";
  /**
   * Name of the recipient.
   * @minLength 1
   * @maxLength 40
   * @pattern ^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069 \u00a0\u00ad\u0300-\u036f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200d\u202f\u205f-\u2065\u206a-\u206f\u20d0-\u20f0\u2800\u3000\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff][^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$
   */
  name: string;
  /**
   * IANA time zone, such as Europe/Berlin.
   * @minLength 1
   * @maxLength 64
   */
  timezone?: string;
}

export interface EpochReport {
  /**
   * Number of these rounds in which a duty was not fulfilled.
   * @min 0
   */
  badRounds: number;
  /** The duties of a round, in order. */
  duties: {
    /** The duty. */
    duty: "commit" | "reveal" | "signature" | "bitvote" | "fdcSignature";
    /** Time between the submission and the deadline. Null if no times are stored. */
    margin: {
      /** Median of the last third of the rounds minus that of the first third: negative if the provider became later. Null with fewer than 90 rounds. */
      driftSeconds: number | null;
      /** Least number of seconds that were left. */
      leastSeconds: number;
      /** Median of the seconds that were left. Negative: after the deadline, which for a signature is the end of its grace period. */
      medianSeconds: number;
      /**
       * Number of rounds whose time is known.
       * @min 0
       */
      rounds: number;
    } | null;
    /**
     * Number of these rounds in which it was missed.
     * @min 0
     */
    missed: number;
    /**
     * Number of rounds in which the result of the duty is known.
     * @min 0
     */
    rounds: number;
  }[];
  /** Whether the provider is eligible for the rewards of this epoch by the published data. Null if unknown. */
  eligible: boolean | null;
  /** Failed conditions, in the words of the published data. */
  failures: string[];
  /**
   * First day (UTC) with a stored round.
   * @format date
   */
  firstDay: string;
  /** Whether the reward epoch has ended; if not, the figures are those so far. */
  isOver: boolean;
  /**
   * Last day (UTC) with a stored round.
   * @format date
   */
  lastDay: string;
  /** What went wrong: spent error budgets first, then checks by their bad rounds. */
  mend: {
    /** Number of bad rounds. Null for a minimal condition whose error budget was spent. */
    rounds: number | null;
    /** Id of the signal of `provider-fsp` that evaluates this; its help says what to do. */
    signal: string;
  }[];
  /** The minimal conditions of the reward epoch. */
  minimalConditions: {
    /** The condition at the last stored round of the reward epoch; null if unknown. */
    anchor: {
      /** Minimum share that the protocol requires over a reward epoch, 0 to 1. */
      minimum: number;
      /** Rate reached, 0 to 1. */
      rate: number;
      /** Used part of the error budget; above 1 the condition can no longer be met. */
      used: number;
    } | null;
    /** The condition at the last stored round of the reward epoch; null if unknown. */
    fastUpdates: {
      /** Minimum share that the protocol requires over a reward epoch, 0 to 1. */
      minimum: number;
      /** Rate reached, 0 to 1. */
      rate: number;
      /** Used part of the error budget; above 1 the condition can no longer be met. */
      used: number;
    } | null;
    /** The condition at the last stored round of the reward epoch; null if unknown. */
    fdc: {
      /** Minimum share that the protocol requires over a reward epoch, 0 to 1. */
      minimum: number;
      /** Rate reached, 0 to 1. */
      rate: number;
      /** Used part of the error budget; above 1 the condition can no longer be met. */
      used: number;
    } | null;
    /** The condition at the last stored round of the reward epoch; null if unknown. */
    uptime: {
      /** Minimum share that the protocol requires over a reward epoch, 0 to 1. */
      minimum: number;
      /** Rate reached, 0 to 1. */
      rate: number;
      /** Used part of the error budget; above 1 the condition can no longer be met. */
      used: number;
    } | null;
  };
  /** Public name; null if there is none. */
  name: string | null;
  /** Number of passes by the published data; null if unknown. */
  passes: number | null;
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  /** Place among all providers of the reward epoch by the share of rounds without an unfulfilled duty. Null without a known round. */
  rank: {
    /**
     * Number of providers with a known round.
     * @min 1
     */
    of: number;
    /**
     * Place; 1 is the best. Equal providers share a place.
     * @min 1
     */
    place: number;
  } | null;
  /** Share of the rounds without an unfulfilled duty, rounded down to four decimals. */
  rate: number | null;
  /**
   * Number of the reward epoch.
   * @min 0
   */
  rewardEpoch: number;
  /** Published rewards of the reward epoch. */
  rewards: {
    /** The provider’s own rewards in wei. Null unless the published data names some. */
    amountWei: string | null;
    /** `published`, `not-published` yet, or `not-read` because this service has no source of rewards. */
    state: "published" | "not-published" | "not-read";
  };
  /**
   * Number of rounds with a known result.
   * @min 0
   */
  rounds: number;
}

export interface ErrorBudgetData {
  /** Time at which the budget ends at the present rate; null if it lasts until the reward epoch ends. */
  budgetEndsAt: null;
  /** Number of fulfilled cases in these rounds: prices, or rounds of the FDC. */
  done: number;
  /**
   * Time at which the reward epoch is expected to end.
   * @format date-time
   */
  epochEndsAt: any;
  /** NodeID of the validator. */
  nodeId?: string;
  /** Number of possible cases in these rounds. */
  possible: number;
  /** Minimum share that the protocol requires over a reward epoch, 0 to 1. */
  protocolMinimum: number;
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  /** Rate reached, 0 to 1. */
  rate: number;
  /** Length in seconds of the time over which the rate was counted; null while it is unknown. */
  rateSeconds: number | null;
  /** Number of the reward epoch. */
  rewardEpochId: number;
  /** Number of voting rounds of the reward epoch that were counted. */
  rounds: number;
  /** Number of voting rounds that the reward epoch has left. */
  roundsLeft: number;
  /** Number of whole voting rounds that may still be missed. */
  roundsToMiss: number;
  /** Number of voting rounds of the reward epoch so far of which nothing is known, and which are not in the used share; absent if they are few. */
  roundsUnknown?: number;
  /** early: the set share is used, and the budget does not last at the present rate; most: 80% is used; spent: the condition can no longer be met; lasts: the budget lasts again. */
  stage: "early" | "most" | "spent" | "lasts";
  /** Share of the error budget of the reward epoch that is used; 1 and more: the condition can no longer be met. */
  used: number;
  /** Number of the voting round. */
  votingRoundId: number;
}

export interface ErrorBudgetEvent {
  /** Values of the event, as an object that depends on the event. Accept unknown properties. */
  data: ErrorBudgetData;
  /** Name of the event; see the list of events. */
  event:
    | "fsp.mc-anchor"
    | "fsp.mc-anchor.recovered"
    | "fsp.mc-fdc"
    | "fsp.mc-fdc.recovered"
    | "fsp.mc-fast-updates"
    | "fsp.mc-fast-updates.recovered"
    | "fsp.mc-uptime"
    | "fsp.mc-uptime.recovered";
}

export type EvidenceClaim =
  | RoundClaim
  | RateClaim
  | FailedCallClaim
  | SilenceClaim
  | UpdateClaim
  | RegistrationClaim
  | MembershipClaim
  | BalanceClaim
  | VoteClaim
  | EligibilityClaim
  | RewardsClaim
  | ListingClaim;

export interface EvidenceSources {
  /** Addresses of the provider. */
  accounts: string[];
  /** Contracts that were read. */
  contracts: {
    /** Addresses of the contract, former ones included. */
    addresses: string[];
    /** Name of the contract in Flare’s contract registry. */
    name: string;
  }[];
  /** Events of the contracts that were read. */
  events: {
    /** Name of the event in the contract. */
    name: string;
    /**
     * First topic of the event’s log: 32 bytes in hex.
     * @pattern ^0x[0-9a-fA-F]{64}$
     */
    topic: string;
  }[];
  /** Functions whose calls were read. */
  functions: {
    /** Name of the function. */
    name: string;
    /** Selector of the function: 4 bytes in hex. */
    selector: string;
  }[];
}

export interface EvidenceTransaction {
  /** Number of the block that contains the transaction. */
  block: number;
  /**
   * Hash of the block: 32 bytes in hex.
   * @pattern ^0x[0-9a-fA-F]{64}$
   */
  blockHash: string;
  /** Parts of the submission, one for each protocol and voting round. */
  frames: {
    /** Length of the payload, in bytes. */
    bytes: number;
    /** Payload for the protocol, in hex. */
    payload: string;
    /** Number of the protocol: 100 for the FTSO, 200 for the FDC. */
    protocol: number;
    /** Number of the voting round. */
    round: number;
  }[];
  /** Submit function that was called, such as submit1; null for another function. */
  function: string | null;
  /**
   * Hash of the transaction.
   * @pattern ^0x[0-9a-fA-F]{64}$
   */
  hash: string;
  /** Position of the transaction in the block, from 0. */
  index: number;
  /** Calldata of the transaction, in hex. */
  input: string;
  /** Address that the transaction was sent to; null if it created a contract. */
  receiver: string | null;
  /**
   * Address that sent the transaction.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  sender: string;
}

export interface FailedCallClaim {
  /** Number of the block of the transaction, or of the block at whose end the claim holds. */
  block: number;
  /** Gas limit of the transaction, in units of gas. */
  gasLimit: number;
  /** Gas that the transaction used, in units of gas. */
  gasUsed: number;
  /** Kind of the claim, which determines its other properties. */
  kind: "failed-call";
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  /**
   * Address that the transaction was sent to.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  receiver: string;
  /** Selector of the function: 4 bytes in hex. */
  selector: string;
  /**
   * Address that sent the transaction.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  sender: string;
  /**
   * Hash of the failed transaction, or of the one with the fast update.
   * @pattern ^0x[0-9a-fA-F]{64}$
   */
  transaction: string;
}

export interface FailedTransactionData {
  block: number;
  /** Name of the contract in Flare’s contract registry. */
  contract: string;
  /**
   * Address that sent the transaction.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  from: string;
  /** Name of the function. */
  function: string;
  /** Gas limit of the transaction, in units of gas. */
  gasLimit: number;
  /** Gas that the transaction used, in units of gas. */
  gasUsed: number;
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  reason: string | null;
  /** What the address is used for. */
  role: string;
  /** Selector of the function: 4 bytes in hex. */
  selector: string;
  /**
   * Address that the transaction was sent to.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  to: string;
  /**
   * Hash of the failed transaction, or of the one with the fast update.
   * @pattern ^0x[0-9a-fA-F]{64}$
   */
  tx: string;
}

export interface FailedTransactionEvent {
  /** Values of the event, as an object that depends on the event. Accept unknown properties. */
  data: FailedTransactionData;
  /** Name of the event; see the list of events. */
  event: "fsp.tx-failed" | "fsp.tx-failed.recovered";
}

export interface FastUpdateData {
  /** Number of blocks since the last fast update. */
  blocksSinceUpdate: number;
  /** Number of feeds that there are. */
  feedCount?: number;
  /** Number of feeds that the fast update covers. */
  feedsSent?: number;
  /** Length of the gap, in seconds. */
  gapSeconds: number;
  /** Whether the FastUpdater contract accepted the update. */
  isAccepted?: boolean;
  /** Block of the last fast update; null if none was seen. */
  lastUpdateBlock: number | null;
  /** Number of blocks in 1% of a reward epoch. */
  onePercentBlocks: number;
  /** How many of the other providers failed the same duty in the same rounds. Absent if nothing is known of them. */
  others?: OtherProviders;
  /** Probability that this many blocks without a fast update occur by chance, as text such as 3.1e-9. */
  probabilityOfSilence: string;
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  /** Number of the reward epoch. */
  rewardEpochId: number;
  /** Rule that raised the alert: probability, one-percent for `onePercentBlocks`, or too-long for an update for more feeds than there are. */
  rule: "probability" | "one-percent" | "too-long";
  /** Expected number of fast updates per block, from all providers. */
  sampleSize: number;
  /**
   * When the problem or its recovery began.
   * @format date-time
   */
  since: any;
  /** Number of the provider’s entries in the draw for fast updates, out of 4096. */
  sortitionWeight: number;
  /** Limit of the rate or of the probability, below which an alert is raised, 0 to 1. */
  threshold: number;
  /**
   * Hash of the failed transaction, or of the one with the fast update.
   * @pattern ^0x[0-9a-fA-F]{64}$
   */
  tx?: string;
  /** Number of the block of the transaction, or of the block at whose end the claim holds. */
  updateBlock?: number;
  /** Share of the total weight of the signing policy, 0 to 1. */
  weightShare: number;
}

export interface FastUpdateEvent {
  /** Values of the event, as an object that depends on the event. Accept unknown properties. */
  data: FastUpdateData;
  /** Name of the event; see the list of events. */
  event: "fsp.fast-updates" | "fsp.fast-updates.recovered";
}

export interface FeedMoveWatchRequest {
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
   * Ids of the recipients that get an alert no one has acknowledged in time, in addition to the watch’s own recipients.
   * @maxItems 20
   */
  escalateTo?: number[];
  /**
   * Name of the watch; by default the service makes one from the target.
   * @minLength 1
   * @maxLength 40
   * @pattern ^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069 \u00a0\u00ad\u0300-\u036f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200d\u202f\u205f-\u2065\u206a-\u206f\u20d0-\u20f0\u2800\u3000\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff][^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$
   */
  label?: string;
  /**
   * Minimum severity: less severe alerts are not sent.
   * @default "info"
   */
  minSeverity?: "info" | "warning" | "critical";
  /** Ids of the recipients; null or an empty list for the default recipients, not for nobody. */
  recipientIds?: number[] | null;
  /** Settings of the watch. The shape depends on `type`. */
  settings: {
    /** Price in US dollars above which an alert is raised; null for none. */
    above?: string | null;
    /** Price in US dollars below which an alert is raised; null for none. */
    below?: string | null;
    /**
     * Direction of changes that raise an alert: any, up or down.
     * @default "any"
     */
    direction?: "any" | "up" | "down";
    /** Price change that raises an alert, in percent. */
    percent?: number | null;
    /**
     * Time within which the price has to move, in seconds.
     * @min 60
     * @max 604800
     */
    windowSeconds?: number;
  };
  /**
   * Settings of the signals; omitted ones have their defaults.
   * @maxItems 3
   * @uniqueItems true
   */
  signals?: SignalChoice[];
  /** What to watch. The shape depends on `type`. */
  target: {
    /**
     * Name of the price feed, such as FLR/USD.
     * @pattern ^(0x[0-9a-fA-F]{42}|[\w.+-]{1,16}(\/[\w.+-]{1,16})?)$
     */
    feed: string;
  };
  /** Type of the watch. */
  type: "feed-move";
}

export interface Incident {
  /** Time of the acknowledgement; null without one. */
  acknowledgedAt: null;
  /** Name of the person who acknowledged the incident; null while one of its active alerts is not acknowledged. */
  acknowledgedBy: string | null;
  /** Alerts and recoveries of the incident, newest first; at most the newest 100. */
  alerts: Alert[];
  /** Time from the alert to its recovery, in seconds; null without a recovery. */
  durationSeconds: number | null;
  /**
   * Time of the event on the chain (ISO 8601, UTC).
   * @format date-time
   */
  firedAt: any;
  /**
   * Number of the incident that the alert or recovery belongs to. An incident is one or several alerts of a watch with one cause, from the first to the last recovery. Each wallet counts from 1.
   * @min 1
   * @max 2147483647
   */
  id: number;
  /** Time of the recovery; null until then. */
  recoveredAt: null;
  /** Highest severity of the incident so far. */
  severity: "info" | "warning" | "critical";
  /** State of the incident: `firing` while one of its alerts is, then `acknowledged` until the last one has recovered. */
  state: "firing" | "recovered" | "acknowledged" | "closed";
  /** Title in one sentence. */
  title: string;
}

export interface IssuedToken {
  /**
   * When the token expires: 30 days after it was issued.
   * @format date-time
   */
  expiresAt: any;
  /** Scopes of the token; `read` is always included. */
  scopes: ("read" | "write" | "spend")[];
  /** The API token, sent as `Authorization: Bearer`. It is not shown again. */
  token: string;
  /**
   * Address of the wallet.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  wallet: string;
}

export interface LedgerEntry {
  /** Balance after this entry, in credits. */
  balanceAfterCredits: number;
  /**
   * Time of creation.
   * @format date-time
   */
  createdAt: any;
  /** Change of the balance in credits; negative for a charge. */
  deltaCredits: number;
  /** Number of the ledger entry, counted per wallet: 1, 2, 3… */
  id: number;
  /** Remark; may be absent. */
  note?: string;
  /** Unique cause of the entry, such as a top-up or a subscription. */
  reference: string;
  /** Kind of the entry. */
  type: "topup" | "bonus" | "usage" | "subscription" | "refund" | "adjustment";
}

export interface ListedAlert {
  /** Time of the acknowledgement; null without one. */
  acknowledgedAt: null;
  /** Name of the person who acknowledged the alert, as shown in messages; null until someone acknowledges it. */
  acknowledgedBy: string | null;
  /**
   * Values of the event, as an object that depends on `event`. More properties may be added.
   *
   * - `fsp.monitoring`: since (string), lastBlock (object or null), reason (string), until (string or null)
   * - `fsp.monitoring.recovered`: since (string), lastBlock (object or null), reason (string), until (string or null)
   * - `wallet-balance.moved`: address (string), asset (string), symbol (string), decimals (integer), previousAmount (string), currentAmount (string), changeAmount (string), threshold (string), direction (string), counterparty (string or null), transactionHash (string or null), transactions (array), transactionCount (integer), usd (string or null), blockNumber (integer), blockTime (string), otherChanges (array), isTopUp (boolean), topupHandle (string), counterpartyRole (string)
   * - `wallet-balance.floor`: address (string), asset (string), symbol (string), decimals (integer), currentAmount (string), level (string), usd (string or null), blockNumber (integer), blockTime (string)
   * - `wallet-balance.floor.recovered`: address (string), asset (string), symbol (string), decimals (integer), currentAmount (string), level (string), usd (string or null), blockNumber (integer), blockTime (string)
   * - `wallet-balance.ceiling`: address (string), asset (string), symbol (string), decimals (integer), currentAmount (string), level (string), usd (string or null), blockNumber (integer), blockTime (string)
   * - `wallet-balance.ceiling.recovered`: address (string), asset (string), symbol (string), decimals (integer), currentAmount (string), level (string), usd (string or null), blockNumber (integer), blockTime (string)
   * - `wallet-balance.days-left`: address (string), asset (string), symbol (string), decimals (integer), currentAmount (string), spentDay (string), spentWeek (string), secondsLeft (number or null), days (integer), blockNumber (integer), blockTime (string)
   * - `wallet-balance.days-left.recovered`: address (string), asset (string), symbol (string), decimals (integer), currentAmount (string), spentDay (string), spentWeek (string), secondsLeft (number or null), days (integer), blockNumber (integer), blockTime (string)
   * - `feed-move.threshold`: feed (string), feedId (string), fromPrice (string), toPrice (string), movePercent (number), thresholdPercent (number), windowSeconds (integer), direction (string), fromTime (string), toTime (string), blockNumber (integer)
   * - `feed-move.below`: feed (string), feedId (string), price (string), level (string), blockNumber (integer), blockTime (string)
   * - `feed-move.below.recovered`: feed (string), feedId (string), price (string), level (string), blockNumber (integer), blockTime (string)
   * - `feed-move.above`: feed (string), feedId (string), price (string), level (string), blockNumber (integer), blockTime (string)
   * - `feed-move.above.recovered`: feed (string), feedId (string), price (string), level (string), blockNumber (integer), blockTime (string)
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
   * - `fsp.ftso-commit`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.ftso-commit.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.ftso-reveal`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.ftso-reveal.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.ftso-signature`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.ftso-signature.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-bitvote`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-bitvote.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-signature`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-signature.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-submit1`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-submit1.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.reveal-offence`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.reveal-offence.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.signature-mismatch`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.signature-mismatch.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.signature-grace`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.signature-grace.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.tx-failed`: provider (string), tx (string), from (string), role (string), to (string), contract (string), selector (string), function (string), reason (string or null), block (integer), gasUsed (integer), gasLimit (integer)
   * - `fsp.tx-failed.recovered`: provider (string), tx (string), from (string), role (string), to (string), contract (string), selector (string), function (string), reason (string or null), block (integer), gasUsed (integer), gasLimit (integer)
   * - `fsp.fast-updates`: provider (string), rewardEpochId (integer), blocksSinceUpdate (integer), lastUpdateBlock (integer or null), probabilityOfSilence (string), threshold (number), sortitionWeight (integer), sampleSize (number), onePercentBlocks (integer), weightShare (number), rule (string), tx (string), updateBlock (integer), feedsSent (integer), feedCount (integer), isAccepted (boolean), since (string), gapSeconds (integer), others (undefined)
   * - `fsp.fast-updates.recovered`: provider (string), rewardEpochId (integer), blocksSinceUpdate (integer), lastUpdateBlock (integer or null), probabilityOfSilence (string), threshold (number), sortitionWeight (integer), sampleSize (number), onePercentBlocks (integer), weightShare (number), rule (string), tx (string), updateBlock (integer), feedsSent (integer), feedCount (integer), isAccepted (boolean), since (string), gapSeconds (integer), others (undefined)
   * - `fsp.registration`: provider (string), rewardEpochId (integer), openedAt (string), closesAtEarliest (string), minutes (integer), isClosed (boolean), preRegistered (boolean or null), preRegistrationFailed (boolean), contractsMovedAt (string)
   * - `fsp.registration.recovered`: provider (string), rewardEpochId (integer), openedAt (string), closesAtEarliest (string), minutes (integer), isClosed (boolean), preRegistered (boolean or null), preRegistrationFailed (boolean), contractsMovedAt (string)
   * - `fsp.not-in-policy`: provider (string), rewardEpochId (integer), startVotingRoundId (integer), voters (integer), startsAt (string), active (boolean)
   * - `fsp.not-in-policy.recovered`: provider (string), rewardEpochId (integer), startVotingRoundId (integer), voters (integer), startsAt (string), active (boolean)
   * - `fsp.mc-anchor`: provider (string), nodeId (string), rewardEpochId (integer), votingRoundId (integer), stage (string), used (number), rate (number), protocolMinimum (number), rounds (integer), roundsUnknown (integer), done (integer), possible (number), roundsToMiss (integer), roundsLeft (integer), epochEndsAt (string), budgetEndsAt (string or null), rateSeconds (integer or null)
   * - `fsp.mc-anchor.recovered`: provider (string), nodeId (string), rewardEpochId (integer), votingRoundId (integer), stage (string), used (number), rate (number), protocolMinimum (number), rounds (integer), roundsUnknown (integer), done (integer), possible (number), roundsToMiss (integer), roundsLeft (integer), epochEndsAt (string), budgetEndsAt (string or null), rateSeconds (integer or null)
   * - `fsp.mc-fdc`: provider (string), nodeId (string), rewardEpochId (integer), votingRoundId (integer), stage (string), used (number), rate (number), protocolMinimum (number), rounds (integer), roundsUnknown (integer), done (integer), possible (number), roundsToMiss (integer), roundsLeft (integer), epochEndsAt (string), budgetEndsAt (string or null), rateSeconds (integer or null)
   * - `fsp.mc-fdc.recovered`: provider (string), nodeId (string), rewardEpochId (integer), votingRoundId (integer), stage (string), used (number), rate (number), protocolMinimum (number), rounds (integer), roundsUnknown (integer), done (integer), possible (number), roundsToMiss (integer), roundsLeft (integer), epochEndsAt (string), budgetEndsAt (string or null), rateSeconds (integer or null)
   * - `fsp.mc-fast-updates`: provider (string), nodeId (string), rewardEpochId (integer), votingRoundId (integer), stage (string), used (number), rate (number), protocolMinimum (number), rounds (integer), roundsUnknown (integer), done (integer), possible (number), roundsToMiss (integer), roundsLeft (integer), epochEndsAt (string), budgetEndsAt (string or null), rateSeconds (integer or null)
   * - `fsp.mc-fast-updates.recovered`: provider (string), nodeId (string), rewardEpochId (integer), votingRoundId (integer), stage (string), used (number), rate (number), protocolMinimum (number), rounds (integer), roundsUnknown (integer), done (integer), possible (number), roundsToMiss (integer), roundsLeft (integer), epochEndsAt (string), budgetEndsAt (string or null), rateSeconds (integer or null)
   * - `fsp.mc-uptime`: provider (string), nodeId (string), rewardEpochId (integer), votingRoundId (integer), stage (string), used (number), rate (number), protocolMinimum (number), rounds (integer), roundsUnknown (integer), done (integer), possible (number), roundsToMiss (integer), roundsLeft (integer), epochEndsAt (string), budgetEndsAt (string or null), rateSeconds (integer or null)
   * - `fsp.mc-uptime.recovered`: provider (string), nodeId (string), rewardEpochId (integer), votingRoundId (integer), stage (string), used (number), rate (number), protocolMinimum (number), rounds (integer), roundsUnknown (integer), done (integer), possible (number), roundsToMiss (integer), roundsLeft (integer), epochEndsAt (string), budgetEndsAt (string or null), rateSeconds (integer or null)
   * - `fsp.stake-end`: provider (string), nodeId (string), stakeEndsAt (string), secondsLeft (integer), days (integer)
   * - `fsp.stake-end.recovered`: provider (string), nodeId (string), stakeEndsAt (string), secondsLeft (integer), days (integer)
   * - `fsp.days-left`: provider (string), role (string), address (string), balanceWei (string), spentDayWei (string), spentWeekWei (string), secondsLeft (number or null), days (integer)
   * - `fsp.days-left.recovered`: provider (string), role (string), address (string), balanceWei (string), spentDayWei (string), spentWeekWei (string), secondsLeft (number or null), days (integer)
   * - `fsp.fdc-bitvote-length`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-bitvote-length.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-consensus`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-consensus.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-reveal-offence`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.fdc-reveal-offence.recovered`: provider (string), votingRoundId (integer), firstRoundId (integer), rewardEpochId (integer), since (string), streak (integer), missedRounds (integer), gapSeconds (integer), reason (string or null), tx (string or null), sentTo (string), submission (string), address (string or null), others (undefined), cost (undefined)
   * - `fsp.validator-not-listed`: provider (string), nodeIds (array), listed (integer), stakeEndsAt (string)
   * - `fsp.validator-not-listed.recovered`: provider (string), nodeIds (array), listed (integer), stakeEndsAt (string)
   * - `fsp.balance-low`: provider (string), role (string), address (string), balanceWei (string), limitWei (string)
   * - `fsp.balance-low.recovered`: provider (string), role (string), address (string), balanceWei (string), limitWei (string)
   * - `fsp.rewards-unclaimed`: provider (string), epochs (array), amountWei (string), expiresAt (string or null)
   * - `fsp.rewards-unclaimed.recovered`: provider (string), epochs (array), amountWei (string), expiresAt (string or null)
   */
  data: Record<string, any>;
  /** Deliveries of the alert, one for each recipient. */
  deliveries: Delivery[];
  /** Time from the alert to its recovery, in seconds; null without a recovery. */
  durationSeconds: number | null;
  /** `maintenance` if the alert fired during planned maintenance, so that it was sent to nobody then; else null. */
  during: "maintenance" | null;
  /** Name of the event. */
  event: string;
  /**
   * Time of the event on the chain (ISO 8601, UTC).
   * @format date-time
   */
  firedAt: any;
  /** Group of the signal; null without one. */
  group: string | null;
  /**
   * Number that identifies the object.
   * @min 1
   * @max 2147483647
   */
  id: number;
  /** The incident that begins with this alert; with `group=incident` only. */
  incident?: Incident;
  /**
   * Number of the incident that the alert or recovery belongs to. An incident is one or several alerts of a watch with one cause, from the first to the last recovery. Each wallet counts from 1.
   * @min 1
   * @max 2147483647
   */
  incidentId: number;
  /** Note that a person wrote about the alert */
  note: string | null;
  /** Name of the person or token that wrote the note */
  notedBy: string | null;
  /** Time of the recovery; null until then. */
  recoveredAt: null;
  /** Number of the alert that this recovery ends; null for alerts. */
  recoveryOf: number | null;
  /** Title and text of the message. */
  rendered: Rendered;
  /** Severity of the alert. */
  severity: "info" | "warning" | "critical";
  /** Id of the signal; null without one. */
  signal: string | null;
  /** State of the signal; pending: failing, but not yet long enough for an alert. */
  state: "firing" | "recovered" | "acknowledged" | "closed";
  /** Type of the watch. */
  type: string;
  /**
   * Number of the watch.
   * @min 1
   * @max 2147483647
   */
  watchId: number;
  /** Name of the watch. */
  watchLabel: string;
}

export interface ListingClaim {
  /** Number of the block of the transaction, or of the block at whose end the claim holds. */
  block: number;
  /** Kind of the claim, which determines its other properties. */
  kind: "listing";
  /** Nodes of the provider that were not listed as validators on the P-chain. */
  nodeIds: string[];
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
}

export interface LowBalanceData {
  /**
   * Address whose balance is too low.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  address: string;
  /**
   * Balance in wei, as a string of digits; 10^18 wei are 1 FLR.
   * @pattern ^(0|[1-9]\d{0,77})$
   */
  balanceWei: string;
  /**
   * Balance in wei below which an alert is raised, as a string of digits.
   * @pattern ^(0|[1-9]\d{0,77})$
   */
  limitWei: string;
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  /** What the address is used for. */
  role: string;
}

export interface LowBalanceEvent {
  /** Values of the event, as an object that depends on the event. Accept unknown properties. */
  data: LowBalanceData;
  /** Name of the event; see the list of events. */
  event: "fsp.balance-low" | "fsp.balance-low.recovered";
}

export interface MaintenanceRequest {
  /**
   * Start of the window; of a weekly one, of the first.
   * @format date-time
   */
  from?: any;
  /**
   * Length of the window in minutes.
   * @min 1
   * @max 8640
   */
  minutes: number;
  /**
   * Name of the recipient.
   * @minLength 1
   * @maxLength 40
   * @pattern ^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069 \u00a0\u00ad\u0300-\u036f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200d\u202f\u205f-\u2065\u206a-\u206f\u20d0-\u20f0\u2800\u3000\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff][^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$
   */
  name: string;
  /** `weekly`: at the same time of day in the time zone of the settings; null: once. */
  repeat?: "weekly" | null;
  /** The watches that it is for; null for all. */
  watchIds?: number[] | null;
}

export interface MaintenanceWindow {
  /**
   * Start of the window; of a weekly one, of the first.
   * @format date-time
   */
  from: any;
  /**
   * Id of the window, chosen by the caller or by the service.
   * @pattern ^[A-Za-z0-9_-]{1,36}$
   */
  id: string;
  /**
   * Name of the recipient.
   * @minLength 1
   * @maxLength 40
   * @pattern ^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069 \u00a0\u00ad\u0300-\u036f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200d\u202f\u205f-\u2065\u206a-\u206f\u20d0-\u20f0\u2800\u3000\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff][^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$
   */
  name: string;
  /** `weekly`: at the same time of day in the time zone of the settings; null: once. */
  repeat: "weekly" | null;
  /**
   * End of the window, which is not part of it; at most six days after the start.
   * @format date-time
   */
  until: any;
  /** The watches that it is for; null for all. */
  watchIds: number[] | null;
}

export interface MaintenanceWindowRequest {
  /**
   * Start of the window; of a weekly one, of the first.
   * @format date-time
   */
  from: any;
  /**
   * Id of the window, chosen by the caller or by the service.
   * @pattern ^[A-Za-z0-9_-]{1,36}$
   */
  id?: string;
  /**
   * Name of the recipient.
   * @minLength 1
   * @maxLength 40
   * @pattern ^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069 \u00a0\u00ad\u0300-\u036f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200d\u202f\u205f-\u2065\u206a-\u206f\u20d0-\u20f0\u2800\u3000\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff][^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$
   */
  name: string;
  /** `weekly`: at the same time of day in the time zone of the settings; null: once. */
  repeat: "weekly" | null;
  /**
   * End of the window, which is not part of it; at most six days after the start.
   * @format date-time
   */
  until: any;
  /** The watches that it is for; null for all. */
  watchIds: number[] | null;
}

export interface MembershipClaim {
  /** Kind of the claim, which determines its other properties. */
  kind: "membership";
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  /** Number of the reward epoch. */
  rewardEpoch: number;
  /** Number of the first voting round of the reward epoch; null if the alert does not state it. */
  startRound: number | null;
  /** Number of voters in the signing policy; null if the alert does not state it. */
  voters: number | null;
}

export interface MeteredResource {
  /** Payment options that are available now. */
  accepts: PaymentOffer[];
  /** Description in one sentence. */
  description: string;
  /** Price of one call, in credits. */
  priceCredits: number;
  /** The resource that was called. */
  resource:
    | "rewards-intelligence-reports"
    | "providers-rewards"
    | "ftso-analytics";
  /** Base URL, including all paths below it; null if this service does not offer the resource. A request must arrive in full within 300 seconds. */
  url: string | null;
}

export type OpenApiDocument = Partial<Record<string, any>>;

export interface OtherProviders {
  /** Number of other providers that failed it in each of the rounds. */
  failed: number;
  /** Number of other providers of which it is known, without those that failed it all the time before. */
  total: number;
}

export interface OutageCost {
  /** What the provider’s published rewards come to for as many rounds, in wei; null if none are published. A single duty earns only a part of it. Penalties are not included. */
  amountWei: string | null;
  /** Number of voting rounds in a reward epoch. */
  ofRounds: number;
  /** Number of rounds that failed since the outage began. */
  rounds: number;
  /** The published rewards of the provider that the amount follows from; null without an amount. */
  source: {
    /**
     * Published rewards of the provider in that reward epoch, in wei.
     * @pattern ^(0|[1-9]\d{0,77})$
     */
    amountWei: string;
    /** Number of the reward epoch. */
    rewardEpochId: number;
    /** The provider’s share of the weight when the round was stored, divided by its share in that reward epoch; the amount is multiplied by it. Null if it is not known. */
    weightRatio: number | null;
  } | null;
  /** Symbol of the token. */
  symbol: string;
}

export interface ParameterDefinition {
  /** Default value. */
  default: number | boolean;
  /** Explanation. */
  help: Text;
  /** Name in the parameters of the signal. */
  key: string;
  /** Label of the value. */
  label: Text;
  /** Largest value. */
  max?: number;
  /** Smallest value. */
  min?: number;
  /** Smallest difference between two values. */
  step?: number;
  /** Type of the value. */
  type: "integer" | "number" | "boolean";
}

export interface PaymentAsset {
  /** Price of 1000 credits in the smallest unit of the asset; 0 without a price. */
  amountPer1000Credits: string;
  /** Address of the token; the zero address while the chain cannot be read. */
  address: string;
  /** Whether payments in this asset are accepted now. */
  available: boolean;
  /** Bonus in basis points; 100 are 1%. */
  bonusBps: number;
  /** Largest top-up in the smallest unit of the asset; null without a limit. */
  capPerTopup: string | null;
  /** Number of decimals of the asset. */
  decimals: number;
  /** Largest amount that the service may hold, in the smallest unit; null without a limit. */
  holdingsCap: string | null;
  /** Whether payments in this asset are paused. */
  paused: boolean;
  /** Whether the router accepts the token. */
  routerAllowlisted: boolean;
  /** Symbol of the token. */
  symbol: string;
}

export interface PaymentOffer {
  /** Address of the token; the zero address for the native coin of the chain. */
  asset: string;
  /** Description in one sentence. */
  description: string;
  /** Further terms of the offer. */
  extra: {
    /** Price of 1000 credits in millionths of a dollar. */
    usdPer1000CreditsMicros: string;
    /** Path of the account. */
    accountEndpoint: string;
    /** Number of decimals of the asset. */
    assetDecimals: number;
    /** Symbol of the payment asset. */
    assetSymbol: string;
    /** Path that returns the message to sign. */
    authEndpoint: string;
    /** Bonus in basis points; 100 are 1%. */
    bonusBps: number;
    /** Id of the chain; 14 is Flare. */
    chainId: number;
    /** Path of the documentation. */
    docs: string;
    /** How to pay, in words. */
    flow: string;
    /** Smallest top-up, in credits. */
    minTopupCredits: number;
    /** Price of one call, in credits. */
    priceCredits: number;
    /** Path of the prices. */
    pricingEndpoint: string;
    /** How the payment is settled: through the router, as a native transfer, or on the XRP Ledger. */
    settlement:
      | "onchain_router_prepaid"
      | "native_transfer_prepaid"
      | "xrpl_tag_prepaid"
      | "x402_exact";
    /** Path that issues an API token. */
    tokenEndpoint: string;
    /** Path that quotes a top-up. */
    topupEndpoint: string;
  };
  /** Amount due for this call; 0, because calls are paid with credits. */
  maxAmountRequired: string;
  /** Time for which the offer holds, in seconds. */
  maxTimeoutSeconds: number;
  /** Media type of the response. */
  mimeType: string;
  /** Name of the chain. */
  network: string;
  /** Address to pay to. */
  payTo: string;
  /**
   * The resource that was called.
   * @format uri
   */
  resource: string;
  /** Payment scheme: prepaid credits. */
  scheme: "flare-watchdog-prepaid";
}

export interface PolicyMembershipData {
  active: boolean;
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  /** Number of the reward epoch. */
  rewardEpochId: number;
  /** Number of the first voting round of the reward epoch; null if the alert does not state it. */
  startVotingRoundId: number;
  /** @format date-time */
  startsAt: any;
  /** Number of voters in the signing policy; null if the alert does not state it. */
  voters: number;
}

export interface PolicyMembershipEvent {
  /** Values of the event, as an object that depends on the event. Accept unknown properties. */
  data: PolicyMembershipData;
  /** Name of the event; see the list of events. */
  event: "fsp.not-in-policy" | "fsp.not-in-policy.recovered";
}

export interface Preview {
  /** The message for Discord. */
  discord?: {
    /** The exact body that would be sent, as text. */
    body: string;
  };
  /** The message as an e-mail. */
  email?: {
    /** Text with HTML tags. */
    html: string;
    /** Subject of the e-mail. */
    subject: string;
    /** Text without formatting. */
    text: string;
  };
  /** The message for ntfy. */
  ntfy?: {
    /** The exact body that would be sent, as text. */
    body: string;
  };
  /** The event for PagerDuty. */
  pagerduty?: {
    /** The exact body that would be sent, as text. */
    body: string;
  };
  /** Title and text of the message. */
  rendered: Rendered;
  /** The complete message. */
  renderedMessage: Record<string, any>;
  /** The message for Slack. */
  slack?: {
    /** The exact body that would be sent, as text. */
    body: string;
  };
  /** The message for Telegram. */
  telegram?: {
    /** Text with HTML tags. */
    html: string;
  };
  /** The message as the body of a webhook request. */
  webhook?: {
    /** The exact body that would be sent, as text. */
    body: string;
  };
}

export interface PreviewRequest {
  /** Channel that the recipient is notified through. */
  channel?:
    | "telegram"
    | "email"
    | "webhook"
    | "discord"
    | "slack"
    | "ntfy"
    | "pagerduty";
  /** Values of the event; those of the example by default. */
  data?: Record<string, any>;
  /** Name of the event. */
  event:
    | "wallet-balance.moved"
    | "wallet-balance.floor"
    | "wallet-balance.floor.recovered"
    | "wallet-balance.ceiling"
    | "wallet-balance.ceiling.recovered"
    | "wallet-balance.days-left"
    | "wallet-balance.days-left.recovered"
    | "feed-move.threshold"
    | "feed-move.below"
    | "feed-move.below.recovered"
    | "feed-move.above"
    | "feed-move.above.recovered"
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
    | "fsp.mc-anchor"
    | "fsp.mc-anchor.recovered"
    | "fsp.mc-fdc"
    | "fsp.mc-fdc.recovered"
    | "fsp.mc-fast-updates"
    | "fsp.mc-fast-updates.recovered"
    | "fsp.mc-uptime"
    | "fsp.mc-uptime.recovered"
    | "fsp.stake-end"
    | "fsp.stake-end.recovered"
    | "fsp.days-left"
    | "fsp.days-left.recovered"
    | "fsp.fdc-bitvote-length"
    | "fsp.fdc-bitvote-length.recovered"
    | "fsp.fdc-consensus"
    | "fsp.fdc-consensus.recovered"
    | "fsp.fdc-reveal-offence"
    | "fsp.fdc-reveal-offence.recovered"
    | "fsp.validator-not-listed"
    | "fsp.validator-not-listed.recovered"
    | "fsp.balance-low"
    | "fsp.balance-low.recovered"
    | "fsp.rewards-unclaimed"
    | "fsp.rewards-unclaimed.recovered"
    | "fsp.monitoring"
    | "fsp.monitoring.recovered";
  /** Language of the texts. */
  locale?: "en" | "de" | "fr" | "bn" | "zh" | "hi" | "ar";
  /** Severity of the alert. */
  severity?: "info" | "warning" | "critical";
  /**
   * Number of the watch.
   * @min 1
   * @max 2147483647
   */
  watchId?: number;
}

export interface PriceLevelData {
  /** Number of the block after which it was observed. */
  blockNumber: number;
  /**
   * Time of that block.
   * @format date-time
   */
  blockTime: any;
  /** Name of the price feed, such as FLR/USD. */
  feed: string;
  /** Id of the price feed: 21 bytes in hex. */
  feedId: string;
  level: string;
  price: string;
}

export interface PriceLevelEvent {
  /** Values of the event, as an object that depends on the event. Accept unknown properties. */
  data: PriceLevelData;
  /** Name of the event; see the list of events. */
  event:
    | "feed-move.below"
    | "feed-move.below.recovered"
    | "feed-move.above"
    | "feed-move.above.recovered";
}

export interface PriceMoveData {
  /** Number of the block after which it was observed. */
  blockNumber: number;
  /** Direction of changes that raise an alert: any, up or down. */
  direction: "any" | "up" | "down";
  /** Name of the price feed, such as FLR/USD. */
  feed: string;
  /** Id of the price feed: 21 bytes in hex. */
  feedId: string;
  /** Price at the start, in US dollars. */
  fromPrice: string;
  /**
   * Time of the first price.
   * @format date-time
   */
  fromTime: any;
  /** Move of the price in percent; negative if it fell. */
  movePercent: number;
  /** Move, in percent, that raises an alert. */
  thresholdPercent: number;
  /** Price at the end, in US dollars. */
  toPrice: string;
  /**
   * Time of the last price.
   * @format date-time
   */
  toTime: any;
  /** Time within which the price has to move, in seconds. */
  windowSeconds: number;
}

export interface PriceMoveEvent {
  /** Values of the event, as an object that depends on the event. Accept unknown properties. */
  data: PriceMoveData;
  /** Name of the event; see the list of events. */
  event: "feed-move.threshold";
}

export interface PricingDocument {
  /** Price of 1000 credits in millionths of a dollar. */
  usdPer1000CreditsMicros: string;
  /** Tokens that pay for credits. */
  assets: PaymentAsset[];
  /** Id of the chain; 14 is Flare. */
  chainId: number;
  /** Path of the documentation. */
  docs: string;
  /** Whether this service sells credits and slots. */
  enabled: boolean;
  /** Number of free calls a day. */
  freeTierDailyCalls: number;
  /** Smallest top-up, in credits. */
  minTopupCredits: number;
  /** Payment in FLR. */
  nativeFlr: {
    /** Price of 1000 credits in the smallest unit of the asset; 0 without a price. */
    amountPer1000Credits: string;
    /** Whether payments in this asset are accepted now. */
    available: boolean;
    /** Largest top-up in the smallest unit of the asset; null without a limit. */
    capPerTopup: string | null;
    /** Largest amount that the service may hold, in the smallest unit; null without a limit. */
    holdingsCap: string | null;
    /** Remark; may be absent. */
    note: string;
    /** Whether payments in this asset are paused. */
    paused: boolean;
    /** Address to pay to. */
    payTo: string;
  };
  /** Payment in XRP on the XRP Ledger. */
  nativeXrp: {
    /** Price of 1000 credits in the smallest unit of the asset; 0 without a price. */
    amountPer1000Credits: string;
    /** XRP Ledger account that payments go to; empty while it is unknown. */
    address: string;
    /** Whether payments in this asset are accepted now. */
    available: boolean;
    /** Largest top-up in the smallest unit of the asset; null without a limit. */
    capPerTopup: string | null;
    /** Largest amount that the service may hold, in the smallest unit; null without a limit. */
    holdingsCap: string | null;
    /** Remark; may be absent. */
    note: string;
    /** Whether payments in this asset are paused. */
    paused: boolean;
  };
  /** Name of the chain. */
  network: string;
  /** Metered resources with their prices. */
  resources: MeteredResource[];
  /** Slots, watch types and signals. */
  watchdog: {
    /** Price of one slot for 30 days, in credits. */
    slotPriceCreditsPer30d: number;
    /** Discounts for long terms. */
    durationDiscounts: {
      /** Discount in basis points; 100 are 1%. */
      discountBps: number;
      /** Minimum number of 30-day periods for the discount. */
      minPeriods: number;
    }[];
    /** Largest number of slots of a wallet. */
    maxSlotsPerWallet: number;
    /** What is sold: slots, one for each watch. */
    model: "slots";
    /** Signals of every watch type. */
    signalDefinitions: Partial<Record<string, SignalDefinition[]>>;
    /** Names of all watch types. */
    types: string[];
    /** Terms that the service offers to people, in 30-day periods. */
    uiDurations: number[];
    /** Discounts for many slots. */
    volumeDiscounts: {
      /** Discount in basis points; 100 are 1%. */
      discountBps: number;
      /** Minimum number of slots for the discount. */
      minQuantity: number;
    }[];
  };
}

export interface Problem {
  /** Error code, the same in every language. */
  code: string;
  /** What happened and what to do, in the language of the request. */
  detail: string;
  /** Every invalid field. */
  errors?: {
    /** Error code, the same in every language. */
    code: string;
    /** What happened and what to do, in the language of the request. */
    detail: string;
    /** Place of the field, as a JSON pointer. */
    pointer: string;
  }[];
  /** Why the top-up did not succeed; null if no reason is known. */
  reason?: string | null;
  /** Id of the request. */
  requestId: string;
  /** The missing scope. */
  scope?: string;
  /** Number of credits missing. */
  shortfallCredits?: number;
  /** HTTP status. */
  status: number;
  /** Title in one sentence. */
  title: string;
  /** Status of the top-up. */
  topupStatus?: string;
  /** Current price, in credits. */
  totalCredits?: number;
  /**
   * Link that explains the error.
   * @format uri
   */
  type: string;
}

export interface ProviderDaysLeftData {
  /** @pattern ^0x[0-9a-fA-F]{40}$ */
  address: string;
  /**
   * Balance in wei, as a string of digits; 10^18 wei are 1 FLR.
   * @pattern ^(0|[1-9]\d{0,77})$
   */
  balanceWei: string;
  days: number;
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  /** What the address is used for. */
  role: string;
  secondsLeft: number | null;
  /** @pattern ^(0|[1-9]\d{0,77})$ */
  spentDayWei: string;
  /** @pattern ^(0|[1-9]\d{0,77})$ */
  spentWeekWei: string;
}

export interface ProviderDaysLeftEvent {
  /** Values of the event, as an object that depends on the event. Accept unknown properties. */
  data: ProviderDaysLeftData;
  /** Name of the event; see the list of events. */
  event: "fsp.days-left" | "fsp.days-left.recovered";
}

export interface ProviderEligibilityWatchRequest {
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
   * Ids of the recipients that get an alert no one has acknowledged in time, in addition to the watch’s own recipients.
   * @maxItems 20
   */
  escalateTo?: number[];
  /**
   * Name of the watch; by default the service makes one from the target.
   * @minLength 1
   * @maxLength 40
   * @pattern ^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069 \u00a0\u00ad\u0300-\u036f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200d\u202f\u205f-\u2065\u206a-\u206f\u20d0-\u20f0\u2800\u3000\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff][^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$
   */
  label?: string;
  /**
   * Minimum severity: less severe alerts are not sent.
   * @default "info"
   */
  minSeverity?: "info" | "warning" | "critical";
  /** Ids of the recipients; null or an empty list for the default recipients, not for nobody. */
  recipientIds?: number[] | null;
  /**
   * Settings of the watch. The shape depends on `type`.
   * @default {}
   */
  settings?: object;
  /**
   * Settings of the signals; omitted ones have their defaults.
   * @maxItems 1
   * @uniqueItems true
   */
  signals?: SignalChoice[];
  /** What to watch. The shape depends on `type`. */
  target: {
    /**
     * Any address of the data provider to watch.
     * @pattern ^0x[0-9a-fA-F]{40}$
     */
    provider: string;
  };
  /** Type of the watch. */
  type: "provider-eligibility";
}

export interface ProviderFspWatchRequest {
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
   * Ids of the recipients that get an alert no one has acknowledged in time, in addition to the watch’s own recipients.
   * @maxItems 20
   */
  escalateTo?: number[];
  /**
   * Name of the watch; by default the service makes one from the target.
   * @minLength 1
   * @maxLength 40
   * @pattern ^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069 \u00a0\u00ad\u0300-\u036f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200d\u202f\u205f-\u2065\u206a-\u206f\u20d0-\u20f0\u2800\u3000\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff][^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$
   */
  label?: string;
  /**
   * Minimum severity: less severe alerts are not sent.
   * @default "info"
   */
  minSeverity?: "info" | "warning" | "critical";
  /** Ids of the recipients; null or an empty list for the default recipients, not for nobody. */
  recipientIds?: number[] | null;
  /**
   * Settings of the watch. The shape depends on `type`.
   * @default {}
   */
  settings?: object;
  /**
   * Settings of the signals; omitted ones have their defaults.
   * @maxItems 25
   * @uniqueItems true
   */
  signals?: SignalChoice[];
  /** What to watch. The shape depends on `type`. */
  target: {
    /**
     * Any address of the data provider to watch.
     * @pattern ^0x[0-9a-fA-F]{40}$
     */
    provider: string;
  };
  /** Type of the watch. */
  type: "provider-fsp";
}

export interface ProviderStatusData {
  /**
   * Time of that block.
   * @format date-time
   */
  blockTime: any;
  eligibilityEpochId: number | null;
  eligible: boolean | null;
  failures: string[];
  lost?: "registered" | "eligible";
  passes: number | null;
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  providerName: string | null;
  recovered: ("registered" | "eligible")[];
  registered: boolean;
  /** Number of the reward epoch. */
  rewardEpochId: number;
}

export interface ProviderStatusEvent {
  /** Values of the event, as an object that depends on the event. Accept unknown properties. */
  data: ProviderStatusData;
  /** Name of the event; see the list of events. */
  event:
    | "provider.unregistered"
    | "provider.eligibility-lost"
    | "provider.recovered";
}

export interface ProviderView {
  /** Counts of the provider’s evaluated rounds over the last 30 days, up to the newest stored day. Null before the first evaluated round. */
  last30Days: {
    /** Number of these rounds in which a duty was not fulfilled. */
    badRounds: number;
    /** Number of days with evaluated rounds. */
    days: number;
    /** Share of the rounds without an unfulfilled duty, rounded down to four decimals. */
    rate: number;
    /** Number of rounds with a known result. */
    rounds: number;
  } | null;
  /** Addresses the provider sends and signs from; null if unknown. */
  addresses: {
    /**
     * Address that signs for the signing policy.
     * @pattern ^0x[0-9a-fA-F]{40}$
     */
    signingPolicy: string;
    /**
     * Address that submits commits and reveals.
     * @pattern ^0x[0-9a-fA-F]{40}$
     */
    submit: string;
    /**
     * Address that submits signatures.
     * @pattern ^0x[0-9a-fA-F]{40}$
     */
    submitSignatures: string;
  } | null;
  /** Time of the last evaluated round; null if there is none. */
  asOf: null;
  /** FLR balances of the provider’s addresses. */
  balances: {
    /**
     * Address whose balance is given.
     * @pattern ^0x[0-9a-fA-F]{40}$
     */
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
    /** Probability that this many blocks without a fast update occur by chance, 0 to 1. */
    probabilityOfSilence: number;
  } | null;
  /** Whether the provider is in the current signing policy; null if unknown. */
  inPolicy: boolean | null;
  /** The minimal conditions of the reward epoch: rates reached, minimums of the protocol, and error budgets. */
  minimalConditions: {
    /** How the provider stands in the reward epoch; null where nothing is known. */
    anchor: {
      /** End of the error budget at the present rate; null if it lasts, or if the rate is not known. */
      budgetEndsAt: null;
      /**
       * Expected end of the reward epoch.
       * @format date-time
       */
      epochEndsAt: any;
      /** Minimum share that the protocol requires over a reward epoch, 0 to 1. */
      minimum: number;
      /** Rate reached, 0 to 1. */
      rate: number;
      /** Rounds until the reward epoch ends. */
      roundsLeft: number;
      /** Whole rounds that may still go wrong. */
      roundsToMiss: number;
      /** Used part of the error budget; above 1 the condition can no longer be met. */
      used: number;
    } | null;
    /** How the provider stands in the reward epoch; null where nothing is known. */
    fastUpdates: {
      /** End of the error budget at the present rate; null if it lasts, or if the rate is not known. */
      budgetEndsAt: null;
      /**
       * Expected end of the reward epoch.
       * @format date-time
       */
      epochEndsAt: any;
      /** Minimum share that the protocol requires over a reward epoch, 0 to 1. */
      minimum: number;
      /** Rate reached, 0 to 1. */
      rate: number;
      /** Rounds until the reward epoch ends. */
      roundsLeft: number;
      /** Whole rounds that may still go wrong. */
      roundsToMiss: number;
      /** Used part of the error budget; above 1 the condition can no longer be met. */
      used: number;
    } | null;
    /** How the provider stands in the reward epoch; null where nothing is known. */
    fdc: {
      /** End of the error budget at the present rate; null if it lasts, or if the rate is not known. */
      budgetEndsAt: null;
      /**
       * Expected end of the reward epoch.
       * @format date-time
       */
      epochEndsAt: any;
      /** Minimum share that the protocol requires over a reward epoch, 0 to 1. */
      minimum: number;
      /** Rate reached, 0 to 1. */
      rate: number;
      /** Rounds until the reward epoch ends. */
      roundsLeft: number;
      /** Whole rounds that may still go wrong. */
      roundsToMiss: number;
      /** Used part of the error budget; above 1 the condition can no longer be met. */
      used: number;
    } | null;
    /** How the provider stands in the reward epoch; null where nothing is known. */
    uptime: {
      /** End of the error budget at the present rate; null if it lasts, or if the rate is not known. */
      budgetEndsAt: null;
      /**
       * Expected end of the reward epoch.
       * @format date-time
       */
      epochEndsAt: any;
      /** Minimum share that the protocol requires over a reward epoch, 0 to 1. */
      minimum: number;
      /** Rate reached, 0 to 1. */
      rate: number;
      /** Rounds until the reward epoch ends. */
      roundsLeft: number;
      /** Whole rounds that may still go wrong. */
      roundsToMiss: number;
      /** Used part of the error budget; above 1 the condition can no longer be met. */
      used: number;
    } | null;
  };
  /** How many of the other providers failed the duties that the provider failed in the newest stored round; of several duties, the one that the fewest of them failed. Null if the provider failed none, or nothing is known of the others. */
  others: OtherProviders | null;
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  /** Whether the provider is registered for the current reward epoch; null if unknown. */
  registered: boolean | null;
  /** Whether the provider is registered for the next reward epoch; null before that registration opens. */
  registeredNext: boolean | null;
  /** Expected time at which preparations for the registration of the next reward epoch begin; voters register soon after. Null if the chain cannot be read. */
  registrationOpensAt: null;
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
    startsAt: any;
  }[];
  /** Whether the last evaluated round is older than 5 minutes or the chain cannot be read. */
  stale: boolean;
  /** The provider’s validators as listed on the P-chain; null if the P-chain was not queried. Watched providers only. */
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
  /** Whether auto-renew is on. */
  autoRenew: boolean;
  /** Number of 30-day periods. */
  periods: number;
  /** Why the last payment did not buy the slots, such as `insufficient_credits`; null if no purchase was refused. */
  reason: string | null;
  /** Number of slots. */
  slots: number;
  /** waiting until the credits arrive, done once the slots are bought. */
  status: "waiting" | "done";
  /** Number of the subscription; null before the purchase. */
  subscriptionId: number | null;
}

export interface PurchaseRequest {
  /** Whether auto-renew is on. */
  autoRenew?: boolean;
  /**
   * Number of 30-day periods.
   * @min 1
   * @max 120
   */
  periods: number;
  /**
   * Number of slots.
   * @min 1
   * @max 20
   */
  slots: number;
}

export interface QueuedTest {
  /**
   * UUID of the delivery, the same for every attempt.
   * @format uuid
   */
  deliveryId: string;
  /** Result of the test; queued: it is sent soon. */
  status: "queued";
}

export interface RateClaim {
  /** Minimal condition: mc-anchor, prices close to the median; mc-fdc, participation in the FDC. */
  condition: "mc-anchor" | "mc-fdc";
  /** Number of fulfilled cases in these rounds: prices, or rounds of the FDC. */
  done: number;
  /** Kind of the claim, which determines its other properties. */
  kind: "rate";
  /** Number of possible cases in these rounds. */
  possible: number;
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  /** Number of the reward epoch. */
  rewardEpoch: number;
  /** Number of the last voting round that the claim is about. */
  round: number;
  /** Number of voting rounds counted, up to `round`. */
  rounds: number;
  /** Share of the error budget of the reward epoch that is used; 1 and more: the condition can no longer be met. */
  used: number;
}

export interface Recipient {
  /** Channel that the recipient is notified through. */
  channel:
    | "telegram"
    | "email"
    | "webhook"
    | "discord"
    | "slack"
    | "ntfy"
    | "pagerduty";
  /**
   * Time of creation.
   * @format date-time
   */
  createdAt: any;
  /** Whether this recipient gets alerts from watches without recipients of their own. */
  default: boolean;
  /**
   * Number that identifies the object.
   * @min 1
   * @max 2147483647
   */
  id: number;
  /** Time of the last failed delivery; null without one. */
  lastFailureAt: null;
  /** Time of the last successful delivery; null before the first. */
  lastSuccessAt: null;
  /** Language of the texts. */
  locale: "en" | "de" | "fr" | "bn" | "zh" | "hi" | "ar";
  /** Minimum severity: less severe alerts are not sent. */
  minSeverity: "info" | "warning" | "critical";
  /** Name of the recipient. */
  name: string;
  /** The signing secret, shown only when it is created or rotated. */
  secret?: string;
  /** Status; takes effect only while `active`. */
  status: "pending" | "active" | "disabled" | "blocked";
  /** Why the destination is off; null if it is not. */
  statusReason: string | null;
  /** Destination, partly masked. */
  target: string;
  /** IANA time zone, such as Europe/Berlin. */
  timezone: string;
  /** Time of the confirmation; null until then. */
  verifiedAt: null;
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
  /** Language of the texts. */
  locale?: "en" | "de" | "fr" | "bn" | "zh" | "hi" | "ar";
  /** Minimum severity: less severe alerts are not sent. */
  minSeverity?: "info" | "warning" | "critical";
  /**
   * Name of the recipient.
   * @minLength 1
   * @maxLength 40
   * @pattern ^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069 \u00a0\u00ad\u0300-\u036f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200d\u202f\u205f-\u2065\u206a-\u206f\u20d0-\u20f0\u2800\u3000\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff][^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$
   */
  name?: string;
  /** true replaces the signing secret of a webhook. */
  rotateSecret?: boolean;
  /** disabled switches the recipient off, active on again. */
  status?: "active" | "disabled";
  /**
   * IANA time zone, such as Europe/Berlin.
   * @minLength 1
   * @maxLength 64
   */
  timezone?: string;
  /**
   * The URL that messages are posted to, for every channel except `email`. For `pagerduty` also the integration key alone.
   * @format uri
   * @maxLength 2048
   */
  url?: string;
}

export interface RecipientList {
  /** Entries on this page. */
  data: Recipient[];
  /** Cursor of the next page; null on the last page. */
  nextCursor: string | null;
}

export type RecipientRequest =
  | EmailRecipientRequest
  | UrlRecipientRequest
  | TelegramRecipientRequest;

export interface RegistrationClaim {
  /** Number of the block of the transaction, or of the block at whose end the claim holds. */
  block: number;
  /** Whether registration was already closed at the end of `block`. */
  isClosed: boolean;
  /** Kind of the claim, which determines its other properties. */
  kind: "registration";
  /** Minutes after which an alert is raised: since registration opened, the reward epoch ended (uptime vote) or its rewards were published (rewards vote). Null if the vote has concluded. */
  minutes: number;
  /**
   * Time at which registration or the vote opened; null if unknown.
   * @format date-time
   */
  openedAt: any;
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  /** Number of the reward epoch. */
  rewardEpoch: number;
}

export interface RegistrationData {
  /** @format date-time */
  closesAtEarliest: any;
  /** @format date-time */
  contractsMovedAt?: any;
  isClosed: boolean;
  /** Minutes after which an alert is raised: since registration opened, the reward epoch ended (uptime vote) or its rewards were published (rewards vote). Null if the vote has concluded. */
  minutes: number;
  /**
   * Time at which registration or the vote opened; null if unknown.
   * @format date-time
   */
  openedAt: any;
  preRegistered: boolean | null;
  preRegistrationFailed: boolean;
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  /** Number of the reward epoch. */
  rewardEpochId: number;
}

export interface RegistrationEvent {
  /** Values of the event, as an object that depends on the event. Accept unknown properties. */
  data: RegistrationData;
  /** Name of the event; see the list of events. */
  event: "fsp.registration" | "fsp.registration.recovered";
}

export interface Rendered {
  /** Text of the message. */
  body: string;
  /** Language of the texts. */
  locale: "en" | "de" | "fr" | "bn" | "zh" | "hi" | "ar";
  /** Title in one sentence. */
  title: string;
}

export interface Renewal {
  /**
   * Expected price in credits, the `totalCredits` of a quote. At any other price, nothing is bought.
   * @min 0
   * @max 1000000000000
   */
  expectedCredits?: number;
  /**
   * Number of the term; the one that was bought has number 1.
   * @min 1
   * @max 1000000
   */
  term: number;
}

export interface RenewalQuote {
  /** Price and time of the next term. */
  quote: SlotQuote;
  /** The subscription as it is paid now. */
  subscription: Subscription;
  /**
   * Number of the term; the one that was bought has number 1.
   * @min 1
   * @max 1000000
   */
  term: number;
}

export interface RewardSigningData {
  concludedAt: null;
  /** @format date-time */
  endedAt: any;
  /** Time at which registration or the vote opened; null if unknown. */
  openedAt: null;
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  publishedAt: null;
  /** Number of the reward epoch. */
  rewardEpochId: number;
  signedAt: null;
  /** Whether the provider signed a hash other than the winning one. */
  signedOtherHash: boolean;
  /** What the vote is about: the uptime or the rewards of the reward epoch. */
  vote: "uptime" | "rewards";
  weightSignedPercent: number | null;
}

export interface RewardSigningEvent {
  /** Values of the event, as an object that depends on the event. Accept unknown properties. */
  data: RewardSigningData;
  /** Name of the event; see the list of events. */
  event:
    | "signing.uptime-open"
    | "signing.rewards-open"
    | "signing.rewards-reminder"
    | "signing.missed"
    | "signing.done";
}

export interface RewardSigningWatchRequest {
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
   * Ids of the recipients that get an alert no one has acknowledged in time, in addition to the watch’s own recipients.
   * @maxItems 20
   */
  escalateTo?: number[];
  /**
   * Name of the watch; by default the service makes one from the target.
   * @minLength 1
   * @maxLength 40
   * @pattern ^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069 \u00a0\u00ad\u0300-\u036f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200d\u202f\u205f-\u2065\u206a-\u206f\u20d0-\u20f0\u2800\u3000\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff][^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$
   */
  label?: string;
  /**
   * Minimum severity: less severe alerts are not sent.
   * @default "info"
   */
  minSeverity?: "info" | "warning" | "critical";
  /** Ids of the recipients; null or an empty list for the default recipients, not for nobody. */
  recipientIds?: number[] | null;
  /**
   * Settings of the watch. The shape depends on `type`.
   * @default {}
   */
  settings?: object;
  /**
   * Settings of the signals; omitted ones have their defaults.
   * @maxItems 1
   * @uniqueItems true
   */
  signals?: SignalChoice[];
  /** What to watch. The shape depends on `type`. */
  target: {
    /**
     * Any address of the data provider to watch.
     * @pattern ^0x[0-9a-fA-F]{40}$
     */
    provider: string;
  };
  /** Type of the watch. */
  type: "reward-signing";
}

export interface RewardsClaim {
  /**
   * Sum of the provider’s own unclaimed rewards in wei, as a string of digits.
   * @pattern ^(0|[1-9]\d{0,77})$
   */
  amountWei: string;
  /** Number of the block of the transaction, or of the block at whose end the claim holds. */
  block: number;
  /** Reward epochs of the unclaimed rewards, oldest first. */
  epochs: number[];
  /** Time at which the oldest rewards expire; null if unknown. */
  expiresAt: null;
  /** Kind of the claim, which determines its other properties. */
  kind: "rewards";
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
}

export interface RoundClaim {
  /** Checks, at least one of which `round` failed. */
  checks: (
    | "commit"
    | "reveal"
    | "revealOffence"
    | "signature"
    | "fdcSignature"
    | "bitVote"
    | "bitVoteLength"
    | "consensus"
    | "fdcOffence"
    | "strayCommit"
    | "mismatch"
    | "fdcMismatch"
    | "grace"
    | "fdcGrace"
    | "feedValues"
  )[];
  /** Number of the first bad voting round since the last good one. */
  firstRound: number;
  /** Kind of the claim, which determines its other properties. */
  kind: "round";
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  /** Number of bad voting rounds in a row that raises an alert. */
  required: number;
  /** Number of the reward epoch. */
  rewardEpoch: number;
  /** Number of the last voting round that the claim is about. */
  round: number;
  /** Number of bad voting rounds in a row, up to `round`. */
  streak: number;
  /** Values of the failed check, as an object that depends on the check. */
  values: Record<string, any>;
}

export interface RoundStreakData {
  /** Address that must send or sign the submission. */
  address?: string | null;
  /** What the outage costs so far. Absent if the number of rounds in a reward epoch is unknown. */
  cost?: OutageCost;
  /** Number of the first bad voting round since the last good one. */
  firstRoundId?: number;
  /** Length of the gap, in seconds. */
  gapSeconds?: number;
  /** Number of voting rounds missed; recoveries only. */
  missedRounds?: number;
  /** How many of the other providers failed the same duty in the same rounds. Absent if nothing is known of them. */
  others?: OtherProviders;
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  /** Why the submission does not count, such as missing, late or former-address; null or absent where the check has no reasons. */
  reason?: string | null;
  /** Number of the reward epoch. */
  rewardEpochId: number;
  /**
   * Address that the transaction was sent to; only with the reason former-address.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  sentTo?: string;
  /**
   * When the problem or its recovery began.
   * @format date-time
   */
  since: any;
  /** Number of bad evaluations in a row. */
  streak?: number;
  /**
   * Address of the Submission contract of the round; only with the reason former-address.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  submission?: string;
  /** Hash of the transaction that does not count; null if there is none. */
  tx?: string | null;
  /** Number of the voting round. */
  votingRoundId: number;
  [key: string]: any;
}

export interface RoundStreakEvent {
  /** Values of the event, as an object that depends on the event. Accept unknown properties. */
  data: RoundStreakData;
  /** Name of the event; see the list of events. */
  event:
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
    | "fsp.fdc-bitvote-length"
    | "fsp.fdc-bitvote-length.recovered"
    | "fsp.fdc-consensus"
    | "fsp.fdc-consensus.recovered"
    | "fsp.fdc-reveal-offence"
    | "fsp.fdc-reveal-offence.recovered";
}

export interface Settings {
  /** Interval at which alerts are sent as one digest; off sends each alert immediately. */
  digest: "off" | "15m" | "1h" | "daily";
  /**
   * Time of day in the time zone of the settings, as HH:MM.
   * @pattern ^([01]\d|2[0-3]):[0-5]\d$
   */
  digestAt: string;
  /**
   * Whether people get a report on each watched provider after each reward epoch: once the rewards are published, or two days after the end of the epoch. Programs never get it.
   * @default false
   */
  epochReport?: boolean;
  /** Language of the texts. */
  locale: "en" | "de" | "fr" | "bn" | "zh" | "hi" | "ar";
  /**
   * Planned maintenance. Alerts that fire during it are recorded and sent to nobody, programs included; those that are still active at its end are sent then. In a request: without it the windows stay as they are. Windows that have ended are removed.
   * @maxItems 20
   */
  maintenance: MaintenanceWindow[];
  /** Minimum severity: less severe alerts are not sent. */
  minSeverity: "info" | "warning" | "critical";
  /** Quiet hours: alerts are held until they end. */
  quietHours: {
    /** Whether critical alerts are sent during quiet hours too. */
    criticalBypass: boolean;
    /** true: on; false: off. */
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
  /** Repetition of critical alerts. */
  repeat: {
    /**
     * When to repeat an unacknowledged critical alert: minutes after it was triggered.
     * @maxItems 24
     * @uniqueItems true
     */
    critical: number[];
  };
  /**
   * IANA time zone, such as Europe/Berlin.
   * @minLength 1
   * @maxLength 64
   */
  timezone: string;
  /**
   * Version number that increases with every change.
   * @min 0
   * @max 2147483647
   */
  version: number;
  /**
   * Whether people get a card about the last week of each provider and wallet, on Monday at 9 in their time zone; at most 3. Programs never get it.
   * @default false
   */
  weeklyCard?: boolean;
}

export interface SettingsRequest {
  /** Interval at which alerts are sent as one digest; off sends each alert immediately. */
  digest: "off" | "15m" | "1h" | "daily";
  /**
   * Time of day in the time zone of the settings, as HH:MM.
   * @pattern ^([01]\d|2[0-3]):[0-5]\d$
   */
  digestAt: string;
  /**
   * Whether people get a report on each watched provider after each reward epoch: once the rewards are published, or two days after the end of the epoch. Programs never get it.
   * @default false
   */
  epochReport?: boolean;
  /** Language of the texts. */
  locale: "en" | "de" | "fr" | "bn" | "zh" | "hi" | "ar";
  /**
   * Planned maintenance. Alerts that fire during it are recorded and sent to nobody, programs included; those that are still active at its end are sent then. In a request: without it the windows stay as they are. Windows that have ended are removed.
   * @maxItems 20
   */
  maintenance?: MaintenanceWindowRequest[];
  /** Minimum severity: less severe alerts are not sent. */
  minSeverity: "info" | "warning" | "critical";
  /** Quiet hours: alerts are held until they end. */
  quietHours: {
    /** Whether critical alerts are sent during quiet hours too. */
    criticalBypass: boolean;
    /** true: on; false: off. */
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
  /** Repetition of critical alerts. */
  repeat: {
    /**
     * When to repeat an unacknowledged critical alert: minutes after it was triggered.
     * @maxItems 24
     * @uniqueItems true
     */
    critical: number[];
  };
  /**
   * IANA time zone, such as Europe/Berlin.
   * @minLength 1
   * @maxLength 64
   */
  timezone: string;
  /**
   * Version number that increases with every change.
   * @min 0
   * @max 2147483647
   */
  version?: number;
  /**
   * Whether people get a card about the last week of each provider and wallet, on Monday at 9 in their time zone; at most 3. Programs never get it.
   * @default false
   */
  weeklyCard?: boolean;
}

export interface SignalChoice {
  /** true: on; false: off. */
  enabled?: boolean;
  /**
   * Id of the signal.
   * @maxLength 64
   */
  id: string;
  /** Values of the parameters by name; omitted ones have their defaults. */
  parameters?: Partial<Record<string, number | boolean>>;
  /** Whether a recovery is sent too; absent for signals without one. */
  recovery?: {
    /** true: on; false: off. */
    enabled: boolean;
  };
}

export interface SignalDefinition {
  /** Default of `enabled` in a new watch. */
  defaultEnabled: boolean;
  /** Description in one sentence. */
  description: Text;
  /** Events of the signal. */
  events: {
    /** Events that raise an alert. */
    alerts: string[];
    /** Event of the recovery; absent without one. */
    recovery?: string;
  };
  /** Group of the signal; null without one. */
  group: {
    /** Text in English. */
    def: string;
    /** Explanation. */
    help: Text;
    /** Id of the group. */
    id:
      | "alerts"
      | "ftso"
      | "fdc"
      | "offences"
      | "transactions"
      | "fast-updates"
      | "registration";
    /** Key of the text. */
    key: string;
  };
  /** Explanation. */
  help: {
    /** What to do. */
    action: Text;
    /** Usual causes. */
    causes: Text;
    /** What the signal checks. */
    checked: Text;
    /** Why it matters. */
    why: Text;
  };
  /** Id of the signal. */
  id: string;
  /** Label of the value. */
  label: Text;
  /** Parameters of the signal. */
  parameters?: ParameterDefinition[];
  /** Whether a recovery is sent too; absent for signals without one. */
  recovery?: {
    /** Default of `enabled` in a new watch. */
    defaultEnabled: boolean;
  };
}

export interface SignalSetting {
  /** true: on; false: off. */
  enabled: boolean;
  /** Id of the signal. */
  id: string;
  /** Values of the parameters by name; omitted ones have their defaults. */
  parameters: Partial<Record<string, number | boolean>>;
  /** Whether a recovery is sent too; absent for signals without one. */
  recovery?: {
    /** true: on; false: off. */
    enabled: boolean;
  };
}

export interface SignalState {
  /** Id of the signal. */
  id: string;
  /** Time of the last data about this signal; null before the first. */
  lastEvidenceAt: null;
  /** Severity of the active alert; null if there is none. */
  severity: "info" | "warning" | "critical" | null;
  /** Start of this state; null before the first evaluation. */
  since: null;
  /** State of the signal; pending: failing, but not yet long enough for an alert. */
  state: "unknown" | "ok" | "pending" | "firing";
  /** Number of bad evaluations in a row. */
  streak?: number;
}

export interface SilenceClaim {
  /** Number of the block of the transaction, or of the block at whose end the claim holds. */
  block: number;
  /** Number of blocks since the last fast update. */
  blocksSinceUpdate: number;
  /** Kind of the claim, which determines its other properties. */
  kind: "silence";
  /** Block of the last fast update; null if none was seen. */
  lastUpdateBlock: number | null;
  /** Number of blocks in 1% of a reward epoch. */
  onePercentBlocks: number;
  /** Probability that this many blocks without a fast update occur by chance, as text such as 3.1e-9. */
  probability: string;
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  /** Number of the reward epoch. */
  rewardEpoch: number;
  /** Limit that raised the alert: probability, or one-percent for `onePercentBlocks`. */
  rule: "probability" | "one-percent";
  /** Expected number of fast updates per block, from all providers. */
  sampleSize: number;
  /** Number of the provider’s entries in the draw for fast updates, out of 4096. */
  sortitionWeight: number;
  /** Limit of the rate or of the probability, below which an alert is raised, 0 to 1. */
  threshold: number;
}

export interface SlotQuote {
  /** Balance of the wallet, in credits. */
  balanceCredits: number;
  /** Discount in basis points; 100 are 1%. */
  durationDiscountBps: number;
  /**
   * End of the term.
   * @format date-time
   */
  endsAt: any;
  /** Price before discounts, in credits. */
  listCredits: number;
  /** Number of 30-day periods. */
  periods: number;
  /** Number of slots. */
  quantity: number;
  /** Number of credits missing; 0 if there are enough. */
  shortfallCredits: number;
  /** Price of one slot for 30 days, in credits. */
  slotPriceCredits: number;
  /**
   * Start of the term.
   * @format date-time
   */
  startsAt: any;
  /** Price with discounts, in credits. */
  totalCredits: number;
  /** Discount in basis points; 100 are 1%. */
  volumeDiscountBps: number;
}

export interface StakeEndData {
  days: number;
  /** NodeID of the validator. */
  nodeId: string;
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  secondsLeft: number;
  /** @format date-time */
  stakeEndsAt: any;
}

export interface StakeEndEvent {
  /** Values of the event, as an object that depends on the event. Accept unknown properties. */
  data: StakeEndData;
  /** Name of the event; see the list of events. */
  event: "fsp.stake-end" | "fsp.stake-end.recovered";
}

export interface Stats {
  /** Number of alerts in the last 24 hours. */
  alerts24h: number;
  /** Number of deliveries in the last 24 hours. */
  deliveries24h: number;
  /** Share of finished deliveries that were delivered, 0 to 1; null if there are none. */
  deliverySuccessRate24h: number | null;
  /**
   * Time of these figures.
   * @format date-time
   */
  asOf: any;
  /** Credits sold so far. */
  creditsSold: number;
  /** Credits spent so far. */
  creditsSpent: number;
  /** Number of confirmed top-ups. */
  topupsConfirmed: number;
  /** Number of wallets with an account. */
  wallets: number;
  /** Number of active watches. */
  watchesActive: number;
}

export interface Subscription {
  /** Whether auto-renew is on. */
  autoRenew: boolean;
  /**
   * End of the term.
   * @format date-time
   */
  endsAt: any;
  /**
   * Number that identifies the object.
   * @min 1
   * @max 2147483647
   */
  id: number;
  /** Problem code of the last failed renewal; null if none failed. */
  lastRenewalError: string | null;
  /** Time of the next renewal; null without auto-renew. */
  nextRenewalAt: null;
  /** Number of 30-day periods. */
  periods: number;
  /** Number of slots. */
  quantity: number;
  /**
   * Start of the term.
   * @format date-time
   */
  startsAt: any;
  /** Status of the subscription; grace: ended, but its slots still work for a while. */
  status: "active" | "grace" | "expired";
  /** Price with discounts, in credits. */
  totalCredits: number;
}

export interface SubscriptionChanges {
  /** Whether auto-renew is on. */
  autoRenew: boolean;
  /**
   * Number of the subscription; if omitted, all subscriptions that have not expired.
   * @min 1
   * @max 2147483647
   */
  id?: number;
}

export interface SubscriptionList {
  /** Slots of the wallet. */
  capacity: Capacity;
  /** Entries on this page. */
  data: Subscription[];
  /** Cursor of the next page; null on the last page. */
  nextCursor: string | null;
  /** The free trial. */
  trial: {
    /** Whether the trial can still be started. */
    available: boolean;
    /** End of the trial; null if it was never started. */
    endsAt: null;
    /** Start of the trial; null if it was never started. */
    startedAt: null;
  };
}

export interface SubscriptionRequest {
  /**
   * Whether auto-renew is on.
   * @default false
   */
  autoRenew?: boolean;
  /**
   * Expected price in credits, the `totalCredits` of a quote. At any other price, nothing is bought.
   * @min 0
   * @max 1000000000000
   */
  expectedCredits?: number;
  /**
   * Number of 30-day periods.
   * @min 1
   * @max 120
   */
  periods: number;
  /**
   * Number of slots.
   * @min 1
   * @max 20
   */
  quantity: number;
}

export interface TelegramLink {
  /**
   * Expiry time.
   * @format date-time
   */
  expiresAt: any;
  /** Link that adds the bot to a group. */
  groupUrl: string;
  /** Link that opens a private chat with the bot. */
  url: string;
}

export interface TelegramLinkRequest {
  /**
   * Name of the recipient; defaults to the chat’s title.
   * @minLength 1
   * @maxLength 40
   * @pattern ^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069 \u00a0\u00ad\u0300-\u036f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200d\u202f\u205f-\u2065\u206a-\u206f\u20d0-\u20f0\u2800\u3000\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff][^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$
   */
  name?: string;
  /**
   * What the chat may do; defaults to `read` and `write`.
   * @maxItems 3
   */
  scopes?: ("read" | "write" | "spend")[];
}

export interface TelegramRecipientRequest {
  /** Channel that the recipient is notified through. */
  channel: "telegram";
  /** Whether this recipient gets alerts from watches without recipients of their own. If left out: true while the wallet has no active default recipient and no active channel, otherwise false. */
  default?: boolean;
  /** Language of the texts. */
  locale?: "en" | "de" | "fr" | "bn" | "zh" | "hi" | "ar";
  /** Minimum severity: less severe alerts are not sent. */
  minSeverity?: "info" | "warning" | "critical";
  /**
   * Name of the recipient.
   * @minLength 1
   * @maxLength 40
   * @pattern ^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069 \u00a0\u00ad\u0300-\u036f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200d\u202f\u205f-\u2065\u206a-\u206f\u20d0-\u20f0\u2800\u3000\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff][^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$
   */
  name: string;
  /**
   * IANA time zone, such as Europe/Berlin.
   * @minLength 1
   * @maxLength 64
   */
  timezone?: string;
}

export interface TermsAcceptance {
  /** Whether the wallet has accepted the current version. */
  accepted: boolean;
  /** Time at which the wallet accepted the terms; null until then. */
  acceptedAt: null;
  /** Version of the terms that the wallet accepted; null until then. */
  acceptedVersion: string | null;
  /** Version of the terms in force. */
  currentVersion: string;
  /** Link to the terms. */
  url: string;
}

export type TestResult = AnsweredTest | QueuedTest;

export interface Text {
  /** Text in English. */
  def: string;
  /** Key of the text. */
  key: string;
}

export interface TokenList {
  /**
   * Entries on this page.
   * @maxItems 50
   */
  data: TokenMetadata[];
  /** Always null: the list is complete. */
  nextCursor: string | null;
}

export interface TokenMetadata {
  /**
   * Time of creation.
   * @format date-time
   */
  createdAt: any;
  /**
   * Expiry time.
   * @format date-time
   */
  expiresAt: any;
  /**
   * Number that identifies the object.
   * @min 1
   * @max 2147483647
   */
  id: number;
  /** Name of the token in lists; null without one. */
  label: string | null;
  /** When the token was last used, to the minute; null if it was never used. */
  lastUsedAt: null;
  /** First characters of the token, to recognize it in a list. */
  prefix: string;
  /** Time at which the token was revoked; null if it was not. */
  revokedAt: null;
  /** Scopes of the token; `read` is always included. */
  scopes: ("read" | "write" | "spend")[];
  /** Status; takes effect only while `active`. */
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
   * @pattern ^[^\u0000-\u001f\u007f-\u009f]*$
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
    /**
     * Amount to approve, in the smallest unit of the token.
     * @pattern ^(0|[1-9]\d{0,77})$
     */
    amount: string;
    /**
     * Contract that may spend the tokens.
     * @pattern ^0x[0-9a-fA-F]{40}$
     */
    spender: string;
    /**
     * Address of the token.
     * @pattern ^0x[0-9a-fA-F]{40}$
     */
    token: string;
  } | null;
  /** Payment asset. */
  asset: string;
  /** Bonus credits on top of the credits bought. */
  bonusCredits: number;
  /** Id of the chain this service runs on. `settlement` says where to pay: XRP is paid on the XRP Ledger. */
  chainId: number;
  /** Number of confirmations of the payment. */
  confirmations: number;
  /** Call of payNative on the router that a contract wallet (Safe, ERC-4337, multisig) sends instead of `transaction`. Null for assets other than FLR, and if the router does not accept FLR. */
  contractWallet: {
    /** Calldata of the call, in hex. */
    data: string;
    /**
     * Address of the router.
     * @pattern ^0x[0-9a-fA-F]{40}$
     */
    to: string;
    /**
     * Amount to send, in wei.
     * @pattern ^(0|[1-9]\d{0,77})$
     */
    value: string;
  } | null;
  /** Credits added so far, bonus included. */
  creditedCredits: number;
  /** Number of credits to buy, without the bonus. */
  credits: number;
  /** Number of decimals of the asset. */
  decimals: number;
  /** Destination tag that an XRP payment must carry; null for other assets. */
  destinationTag: number | null;
  /**
   * Time until which the price is locked.
   * @format date-time
   */
  expiresAt: any;
  /**
   * Payment reference of the top-up: 32 bytes in hex.
   * @pattern ^0x[0-9a-fA-F]{64}$
   */
  handle: string;
  /** How to pay, in the language of the request. */
  instructions: string;
  /**
   * Link to the payment page.
   * @format uri
   */
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
  /** Number of confirmations after which the payment is credited. */
  requiredConfirmations: number;
  /** How the payment is settled: through the router, as a native transfer, or on the XRP Ledger. */
  settlement:
    | "onchain_router_prepaid"
    | "native_transfer_prepaid"
    | "xrpl_tag_prepaid"
    | "x402_exact";
  /** Status of the top-up; confirming: paid, but without enough confirmations yet. */
  status:
    | "draft"
    | "submitted"
    | "confirming"
    | "credited"
    | "expired"
    | "failed"
    | "rejected";
  /** Slots to buy with the credits as soon as the credits arrive; needs the scope `spend`. */
  then: Purchase | null;
  /** Transaction that the wallet sends; null for XRP. */
  transaction: {
    /** Calldata of the transaction, in hex. */
    data: string;
    /**
     * Contract or account that the transaction goes to.
     * @pattern ^0x[0-9a-fA-F]{40}$
     */
    to: string;
    /**
     * Amount to send, in wei.
     * @pattern ^(0|[1-9]\d{0,77})$
     */
    value: string;
  } | null;
  /** Hash of the payment; null before it is known. */
  txHash: string | null;
  /**
   * Address of the wallet.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
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
    /**
     * Amount to approve, in the smallest unit of the token.
     * @pattern ^(0|[1-9]\d{0,77})$
     */
    amount: string;
    /**
     * Contract that may spend the tokens.
     * @pattern ^0x[0-9a-fA-F]{40}$
     */
    spender: string;
    /**
     * Address of the token.
     * @pattern ^0x[0-9a-fA-F]{40}$
     */
    token: string;
  } | null;
  /** Payment asset. */
  asset: string;
  /** Bonus credits on top of the credits bought. */
  bonusCredits: number;
  /** Id of the chain this service runs on. `settlement` says where to pay: XRP is paid on the XRP Ledger. */
  chainId: number;
  /** Call of payNative on the router that a contract wallet (Safe, ERC-4337, multisig) sends instead of `transaction`. Null for assets other than FLR, and if the router does not accept FLR. */
  contractWallet: {
    /** Calldata of the call, in hex. */
    data: string;
    /**
     * Address of the router.
     * @pattern ^0x[0-9a-fA-F]{40}$
     */
    to: string;
    /**
     * Amount to send, in wei.
     * @pattern ^(0|[1-9]\d{0,77})$
     */
    value: string;
  } | null;
  /** Number of credits to buy, without the bonus. */
  credits: number;
  /** Number of decimals of the asset. */
  decimals: number;
  /** Destination tag that an XRP payment must carry; null for other assets. */
  destinationTag: number | null;
  /**
   * Time until which the price is locked.
   * @format date-time
   */
  expiresAt: any;
  /**
   * Payment reference of the top-up: 32 bytes in hex.
   * @pattern ^0x[0-9a-fA-F]{64}$
   */
  handle: string;
  /** How to pay, in the language of the request. */
  instructions: string;
  /**
   * Link to the payment page.
   * @format uri
   */
  page: string;
  /**
   * URL to show as a QR code: the payment page, or a wallet link for XRP.
   * @format uri
   */
  pageQr: string;
  /** Address to pay to, on the chain of the asset. */
  payTo: string;
  /** How the payment is settled: through the router, as a native transfer, or on the XRP Ledger. */
  settlement:
    | "onchain_router_prepaid"
    | "native_transfer_prepaid"
    | "xrpl_tag_prepaid"
    | "x402_exact";
  /** Status of the top-up; draft: not yet paid. */
  status:
    | "draft"
    | "submitted"
    | "confirming"
    | "credited"
    | "expired"
    | "failed"
    | "rejected";
  /** Slots to buy with the credits as soon as the credits arrive; needs the scope `spend`. */
  then: Purchase | null;
  /** Transaction that the wallet sends; null for XRP. */
  transaction: {
    /** Calldata of the transaction, in hex. */
    data: string;
    /**
     * Contract or account that the transaction goes to.
     * @pattern ^0x[0-9a-fA-F]{40}$
     */
    to: string;
    /**
     * Amount to send, in wei.
     * @pattern ^(0|[1-9]\d{0,77})$
     */
    value: string;
  } | null;
  /**
   * Address of the wallet.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  wallet: string;
}

export interface TopupRequest {
  /**
   * Symbol of the payment asset, such as FLR.
   * @maxLength 32
   */
  asset?: string;
  /**
   * Number of credits to buy, without the bonus.
   * @min 10000
   * @max 1000000000000
   */
  credits?: number;
  /** Slots to buy with the credits as soon as the credits arrive; needs the scope `spend`. */
  then?: PurchaseRequest;
}

export interface Trial {
  /**
   * End of the term.
   * @format date-time
   */
  endsAt: any;
  /** Number of slots. */
  slots: number;
  /**
   * Start of the trial; null if it was never started.
   * @format date-time
   */
  startedAt: any;
}

export interface UnclaimedRewardsData {
  /** @pattern ^(0|[1-9]\d{0,77})$ */
  amountWei: string;
  epochs: number[];
  expiresAt: null;
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
}

export interface UnclaimedRewardsEvent {
  /** Values of the event, as an object that depends on the event. Accept unknown properties. */
  data: UnclaimedRewardsData;
  /** Name of the event; see the list of events. */
  event: "fsp.rewards-unclaimed" | "fsp.rewards-unclaimed.recovered";
}

export interface UpdateClaim {
  /** Number of the block of the transaction, or of the block at whose end the claim holds. */
  block: number;
  /** Number of feeds that there are. */
  feedCount: number;
  /** Number of feeds that the fast update covers. */
  feedsSent: number;
  /** Whether the FastUpdater contract accepted the update. */
  isAccepted: boolean;
  /** Kind of the claim, which determines its other properties. */
  kind: "update";
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  /** Number of the reward epoch. */
  rewardEpoch: number;
  /**
   * Hash of the failed transaction, or of the one with the fast update.
   * @pattern ^0x[0-9a-fA-F]{64}$
   */
  transaction: string;
}

export interface UrlRecipientRequest {
  /** Channel that the recipient is notified through. */
  channel: "webhook" | "discord" | "slack" | "ntfy" | "pagerduty";
  /** Whether this recipient gets alerts from watches without recipients of their own. If left out: true while the wallet has no active default recipient and no active channel, otherwise false. */
  default?: boolean;
  /** Language of the texts. */
  locale?: "en" | "de" | "fr" | "bn" | "zh" | "hi" | "ar";
  /** Minimum severity: less severe alerts are not sent. */
  minSeverity?: "info" | "warning" | "critical";
  /**
   * Name of the recipient.
   * @minLength 1
   * @maxLength 40
   * @pattern ^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069 \u00a0\u00ad\u0300-\u036f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200d\u202f\u205f-\u2065\u206a-\u206f\u20d0-\u20f0\u2800\u3000\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff][^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$
   */
  name: string;
  /**
   * IANA time zone, such as Europe/Berlin.
   * @minLength 1
   * @maxLength 64
   */
  timezone?: string;
  /**
   * The URL that messages are posted to, for every channel except `email`. For `pagerduty` also the integration key alone.
   * @format uri
   * @maxLength 2048
   */
  url: string;
}

export interface ValidatorListingData {
  listed: number;
  nodeIds: string[];
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  /** @format date-time */
  stakeEndsAt?: any;
}

export interface ValidatorListingEvent {
  /** Values of the event, as an object that depends on the event. Accept unknown properties. */
  data: ValidatorListingData;
  /** Name of the event; see the list of events. */
  event: "fsp.validator-not-listed" | "fsp.validator-not-listed.recovered";
}

export interface VoteClaim {
  /** Number of the block of the transaction, or of the block at whose end the claim holds. */
  block: number;
  /** Whether the vote is concluded, so that the signature can no longer be sent. */
  isConcluded: boolean;
  /** Kind of the claim, which determines its other properties. */
  kind: "vote";
  /** Minutes after which an alert is raised: since registration opened, the reward epoch ended (uptime vote) or its rewards were published (rewards vote). Null if the vote has concluded. */
  minutes: number | null;
  /** Time at which registration or the vote opened; null if unknown. */
  openedAt: null;
  /**
   * Identity address of the data provider.
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  provider: string;
  /** Number of the reward epoch. */
  rewardEpoch: number;
  /** Whether the provider signed a hash other than the winning one. */
  signedOtherHash: boolean;
  /** What the vote is about: the uptime or the rewards of the reward epoch. */
  vote: "uptime" | "rewards";
}

export interface WalletBalanceWatchRequest {
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
   * Ids of the recipients that get an alert no one has acknowledged in time, in addition to the watch’s own recipients.
   * @maxItems 20
   */
  escalateTo?: number[];
  /**
   * Name of the watch; by default the service makes one from the target.
   * @minLength 1
   * @maxLength 40
   * @pattern ^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069 \u00a0\u00ad\u0300-\u036f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200d\u202f\u205f-\u2065\u206a-\u206f\u20d0-\u20f0\u2800\u3000\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff][^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$
   */
  label?: string;
  /**
   * Minimum severity: less severe alerts are not sent.
   * @default "info"
   */
  minSeverity?: "info" | "warning" | "critical";
  /** Ids of the recipients; null or an empty list for the default recipients, not for nobody. */
  recipientIds?: number[] | null;
  /** Settings of the watch. The shape depends on `type`. */
  settings: {
    /** Balance above which an alert is raised, in whole coins; null for none. */
    ceiling?: string | null;
    /** Number of days: an alert is raised when the balance lasts less long at its spending. Null for none. */
    daysLeft?: number | null;
    /**
     * Direction of changes that raise an alert: any, up or down.
     * @default "any"
     */
    direction?: "any" | "up" | "down";
    /** Balance below which an alert is raised, in whole coins; null for none. */
    floor?: string | null;
    /** Change of the balance that raises an alert, in whole coins, such as 100. */
    threshold?: string | null;
  };
  /**
   * Settings of the signals; omitted ones have their defaults.
   * @maxItems 4
   * @uniqueItems true
   */
  signals?: SignalChoice[];
  /** What to watch. The shape depends on `type`. */
  target: {
    /**
     * Address of the wallet to watch.
     * @pattern ^0x[0-9a-fA-F]{40}$
     */
    address: string;
    /** What to count: FLR, the address of a token contract, or * for all assets that have a price, in US dollars. */
    asset: "*" | "FLR" | string;
    /**
     * With *: further token contracts. One without a price raises an alert whenever it moves.
     * @maxItems 10
     */
    tokens?: string[];
  };
  /** Type of the watch. */
  type: "wallet-balance";
}

export interface Watch {
  /**
   * Minimum time between two alerts of a signal, in seconds.
   * @min 0
   * @max 2592000
   */
  cooldownSeconds: number;
  /**
   * Time of creation.
   * @format date-time
   */
  createdAt: any;
  /** Minutes without an acknowledgement after which an alert is also sent to `escalateTo`; null: never. Alerts of severity info are not escalated. */
  escalateAfterMinutes: number | null;
  /** Ids of the recipients that get an alert no one has acknowledged in time, in addition to the watch’s own recipients. */
  escalateTo: number[];
  /** no_data while the target cannot be read. */
  health: "ok" | "no_data";
  /**
   * Number that identifies the object.
   * @min 1
   * @max 2147483647
   */
  id: number;
  /** Name of the watch. */
  label: string;
  /** Time of the last evaluation; null before the first. */
  lastEvaluatedAt: null;
  /** The last observed value; null before the first. The shape depends on `type`. */
  lastObservation: any;
  /** Minimum severity: less severe alerts are not sent. */
  minSeverity: "info" | "warning" | "critical";
  /** Chats and e-mail get no messages until this time; null if not muted. */
  mutedUntil: null;
  /** Ids of the recipients that get an alert of this watch now, the wallet’s own channels included. A mute, quiet hours or a digest only delay it. */
  notifies: number[];
  /** Ids of the recipients; null or an empty list for the default recipients, not for nobody. */
  recipientIds: number[] | null;
  /** Settings of the watch. The shape depends on `type`. */
  settings: any;
  /** State of every signal. */
  signalStates: SignalState[];
  /** Settings of the signals; omitted ones have their defaults. */
  signals: SignalSetting[];
  /** Status of the watch; suspended: it has no slot. */
  status: "active" | "paused" | "suspended";
  /** What is watched, as given at creation. The shape depends on `type`. */
  target: any;
  /** Type of the watch. */
  type:
    | "wallet-balance"
    | "feed-move"
    | "provider-eligibility"
    | "credits-balance"
    | "reward-signing"
    | "provider-fsp";
  /**
   * Time of the last change.
   * @format date-time
   */
  updatedAt: any;
  /** Version number that increases with every change by the owner. */
  version: number;
  /** nobody_is_notified: notifies is empty, so alerts are recorded but sent to no one. Add a recipient with default true, or name one in recipientIds. escalation_is_heard_already: everyone in escalateTo is in notifies, so the escalation reaches no one else. */
  warnings: ("nobody_is_notified" | "escalation_is_heard_already")[];
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
   * Ids of the recipients that get an alert no one has acknowledged in time, in addition to the watch’s own recipients.
   * @maxItems 20
   */
  escalateTo?: number[];
  /**
   * Name of the watch.
   * @minLength 1
   * @maxLength 40
   * @pattern ^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069 \u00a0\u00ad\u0300-\u036f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200d\u202f\u205f-\u2065\u206a-\u206f\u20d0-\u20f0\u2800\u3000\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff][^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$
   */
  label?: string;
  /** Minimum severity: less severe alerts are not sent. */
  minSeverity?: "info" | "warning" | "critical";
  /** Chats and e-mail get no messages until this time; null if not muted. */
  mutedUntil?: null;
  /** Ids of the recipients; null or an empty list for the default recipients, not for nobody. */
  recipientIds?: number[] | null;
  /** Settings of the watch. The shape depends on `type`. */
  settings?: Partial<Record<string, any>>;
  /**
   * Settings of the signals; omitted ones have their defaults.
   * @maxItems 25
   * @uniqueItems true
   */
  signals?: SignalChoice[];
  /** paused pauses the watch, active resumes it. */
  status?: "active" | "paused";
}

export interface WatchList {
  /** Entries on this page. */
  data: Watch[];
  /** Cursor of the next page; null on the last page. */
  nextCursor: string | null;
}

export type WatchRequest =
  | WalletBalanceWatchRequest
  | FeedMoveWatchRequest
  | ProviderEligibilityWatchRequest
  | CreditsBalanceWatchRequest
  | RewardSigningWatchRequest
  | ProviderFspWatchRequest;

export interface WatchTypeView {
  /** Signals of the type. */
  signals: {
    /** Default of `enabled` in a new watch. */
    defaultEnabled: boolean;
    /** Description in one sentence. */
    description: string;
    /** Events of the signal. */
    events: {
      /** Events that raise an alert. */
      alerts: string[];
      /** Event of the recovery; absent without one. */
      recovery?: string;
    };
    /** Group of the signal; null without one. */
    group:
      | "alerts"
      | "ftso"
      | "fdc"
      | "offences"
      | "transactions"
      | "fast-updates"
      | "registration";
    /** Explanation. */
    help: {
      /** What the signal checks. */
      checked: string;
    };
    /** Number that identifies the object. */
    id: string;
    /** Label of the value. */
    label: string;
    /** Parameters of the signal with their defaults and limits. */
    parameters: {
      /** Default value. */
      default: number | boolean;
      /** Explanation. */
      help: string;
      /** Name of the channel. */
      key: string;
      /** Label of the value. */
      label: string;
      /** Largest value. */
      max?: number;
      /** Smallest value. */
      min?: number;
      /** Smallest difference between two values. */
      step?: number;
      /** Type of the watch. */
      type: "integer" | "number" | "boolean";
    }[];
  }[];
  /** Type of the watch. */
  type: string;
}

export type WebhookEvent =
  | ChainOutageEvent
  | BalanceChangeEvent
  | BalanceLevelEvent
  | DaysLeftEvent
  | PriceMoveEvent
  | PriceLevelEvent
  | ProviderStatusEvent
  | CreditsThresholdEvent
  | RewardSigningEvent
  | RoundStreakEvent
  | FailedTransactionEvent
  | FastUpdateEvent
  | RegistrationEvent
  | PolicyMembershipEvent
  | ErrorBudgetEvent
  | StakeEndEvent
  | ProviderDaysLeftEvent
  | ValidatorListingEvent
  | LowBalanceEvent
  | UnclaimedRewardsEvent;

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
  /** Name of the event; see the list of events. */
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
    /** Text of the message. */
    body: string;
    /** Language of the texts. */
    locale: "en" | "de" | "fr" | "bn" | "zh" | "hi" | "ar";
    /** Title in one sentence. */
    title: string;
  };
  /** The complete message in the recipient’s language. Accept unknown properties. */
  renderedMessage: {
    /** Number of the alert; null in a test. */
    alertId: number | null;
    /** Text of the message. */
    body: string;
    /** Id of the chain; 14 is Flare. */
    chainId: number;
    /** Name of the event. */
    event: string;
    /** Facts of the message, as label and value. */
    fields: {
      /** Link for the value; absent without one. */
      href?: string;
      /** Name of the fact, the same in every language. */
      key: string;
      /** Label of the value. */
      label: string;
      /** Value of the fact as text. */
      value: string;
    }[];
    /**
     * Time of the event on the chain (ISO 8601, UTC).
     * @format date-time
     */
    firedAt: string;
    /** Number of the alert’s incident; each wallet counts from 1. Null in a test. */
    incidentId: number | null;
    /** Link to the alert page. */
    link: string;
    /** Name of the chain. */
    network: string;
    /** Severity of the alert. */
    severity: "info" | "warning" | "critical";
    /** true in a test; absent otherwise. */
    test: boolean;
    /** Title in one sentence. */
    title: string;
    /** Number of the watch; null in a test without a watch. */
    watchId: number | null;
    /** Name of the watch; null in a test without a watch. */
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
