"""Generated from the operations of the service: npm run types:api"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

class AcceptTerms(TypedDict):
    version: str


class AccountFreeTier(TypedDict):
    limit: int
    used: int
    resetsAt: str


class AccountLedger(TypedDict):
    data: list[LedgerEntry]
    nextCursor: str | None


class Account(TypedDict):
    wallet: str
    balanceCredits: int
    freeTier: AccountFreeTier
    slots: Capacity
    ledger: AccountLedger


class AcknowledgeInput(TypedDict):
    acknowledged: NotRequired[bool]
    note: NotRequired[str]


class Acknowledgement(TypedDict):
    id: int
    acknowledgedAt: str | None
    acknowledgedBy: str | None
    note: str | None


class Alert(TypedDict):
    id: int
    incidentId: int
    watchId: int
    watchLabel: str
    type: str
    signal: str | None
    group: str | None
    event: str
    severity: Literal["info", "warning", "critical"]
    state: Literal["firing", "recovered", "acknowledged", "closed"]
    data: dict[str, Any]
    rendered: Rendered
    firedAt: str
    recoveredAt: str | None
    durationSeconds: float | None
    recoveryOf: int | None
    acknowledgedAt: str | None
    acknowledgedBy: str | None
    note: str | None
    notedBy: str | None
    during: Literal["maintenance"] | None
    deliveries: list[Delivery]


class AlertEvidenceBlocksFirst(TypedDict):
    number: int
    hash: str
    at: str


class AlertEvidenceBlocksLast(TypedDict):
    number: int
    hash: str
    at: str


class AlertEvidenceBlocks(TypedDict):
    first: AlertEvidenceBlocksFirst | None
    last: AlertEvidenceBlocksLast


class AlertEvidence(TypedDict):
    version: Literal[1]
    alertId: int
    chainId: int
    event: str
    severity: Literal["info", "warning", "critical"]
    firedAt: str
    rule: str | None
    data: dict[str, Any]
    claim: EvidenceClaim | None
    unproven: Literal["recovery", "p-chain", "other"] | None
    blocks: AlertEvidenceBlocks | None
    sources: EvidenceSources
    transactions: list[EvidenceTransaction]


class AlertList(TypedDict):
    data: list[ListedAlert]
    nextCursor: str | None


AlertSelection = TypedDict(
    "AlertSelection",
    {
        "watchId": "NotRequired[int]",
        "type": "NotRequired[Literal[\"wallet-balance\", \"feed-move\", \"provider-eligibility\", \"credits-balance\", \"reward-signing\", \"provider-fsp\"]]",
        "group": "NotRequired[Literal[\"alerts\", \"ftso\", \"fdc\", \"offences\", \"transactions\", \"fast-updates\", \"registration\"]]",
        "signal": "NotRequired[str]",
        "event": "NotRequired[Literal[\"wallet-balance.moved\", \"wallet-balance.floor\", \"wallet-balance.floor.recovered\", \"wallet-balance.ceiling\", \"wallet-balance.ceiling.recovered\", \"wallet-balance.days-left\", \"wallet-balance.days-left.recovered\", \"feed-move.threshold\", \"feed-move.below\", \"feed-move.below.recovered\", \"feed-move.above\", \"feed-move.above.recovered\", \"provider.unregistered\", \"provider.eligibility-lost\", \"provider.recovered\", \"credits.low-balance\", \"credits.recovered\", \"signing.uptime-open\", \"signing.rewards-open\", \"signing.rewards-reminder\", \"signing.missed\", \"signing.done\", \"fsp.ftso-commit\", \"fsp.ftso-commit.recovered\", \"fsp.ftso-reveal\", \"fsp.ftso-reveal.recovered\", \"fsp.ftso-signature\", \"fsp.ftso-signature.recovered\", \"fsp.fdc-bitvote\", \"fsp.fdc-bitvote.recovered\", \"fsp.fdc-signature\", \"fsp.fdc-signature.recovered\", \"fsp.fdc-submit1\", \"fsp.fdc-submit1.recovered\", \"fsp.reveal-offence\", \"fsp.reveal-offence.recovered\", \"fsp.signature-mismatch\", \"fsp.signature-mismatch.recovered\", \"fsp.signature-grace\", \"fsp.signature-grace.recovered\", \"fsp.tx-failed\", \"fsp.tx-failed.recovered\", \"fsp.fast-updates\", \"fsp.fast-updates.recovered\", \"fsp.registration\", \"fsp.registration.recovered\", \"fsp.not-in-policy\", \"fsp.not-in-policy.recovered\", \"fsp.mc-anchor\", \"fsp.mc-anchor.recovered\", \"fsp.mc-fdc\", \"fsp.mc-fdc.recovered\", \"fsp.mc-fast-updates\", \"fsp.mc-fast-updates.recovered\", \"fsp.mc-uptime\", \"fsp.mc-uptime.recovered\", \"fsp.stake-end\", \"fsp.stake-end.recovered\", \"fsp.days-left\", \"fsp.days-left.recovered\", \"fsp.fdc-bitvote-length\", \"fsp.fdc-bitvote-length.recovered\", \"fsp.fdc-consensus\", \"fsp.fdc-consensus.recovered\", \"fsp.fdc-reveal-offence\", \"fsp.fdc-reveal-offence.recovered\", \"fsp.validator-not-listed\", \"fsp.validator-not-listed.recovered\", \"fsp.balance-low\", \"fsp.balance-low.recovered\", \"fsp.rewards-unclaimed\", \"fsp.rewards-unclaimed.recovered\", \"fsp.monitoring\", \"fsp.monitoring.recovered\"]]",
        "severity": "NotRequired[Literal[\"info\", \"warning\", \"critical\"]]",
        "state": "NotRequired[Literal[\"firing\", \"recovered\", \"acknowledged\", \"closed\"]]",
        "from": "NotRequired[str]",
        "to": "NotRequired[str]",
        "ids": "NotRequired[list[int]]",
        "before": "NotRequired[str]",
        "all": "NotRequired[Literal[True]]",
    },
)

class AnsweredTest(TypedDict):
    deliveryId: str
    status: Literal["delivered", "failed"]
    statusCode: int | None
    latencyMs: int
    lastError: str | None


class BacktestGaps(TypedDict):
    code: Literal["starts_later", "has_holes", "coarse_prices", "unwatched_parts", "sampled_balances", "no_archive", "chain_unavailable", "vote_end_unknown", "too_much", "no_data"]
    text: str


class BacktestCounts(TypedDict):
    critical: int
    warning: int
    info: int
    recovery: int


class BacktestIncidentCounts(TypedDict):
    critical: int
    warning: int
    info: int


class BacktestPerDayCounts(TypedDict):
    critical: int
    warning: int
    info: int
    recovery: int


class BacktestPerDayIncidents(TypedDict):
    critical: int
    warning: int
    info: int


BacktestPerDay = TypedDict(
    "BacktestPerDay",
    {
        "from": "str",
        "counts": "BacktestPerDayCounts",
        "incidents": "BacktestPerDayIncidents",
        "known": "bool",
    },
)

class BacktestIncidentsParts(TypedDict):
    signal: str | None
    event: str
    severity: Literal["info", "warning", "critical"]
    isRecovery: bool
    at: str
    title: str


class BacktestIncidents(TypedDict):
    title: str
    severity: Literal["info", "warning", "critical"]
    startedAt: str
    endedAt: str | None
    count: int
    parts: list[BacktestIncidentsParts]


class BacktestAlerts(TypedDict):
    signal: str | None
    event: str
    severity: Literal["info", "warning", "critical"]
    isRecovery: bool
    at: str
    title: str
    data: dict[str, Any]


Backtest = TypedDict(
    "Backtest",
    {
        "from": "str | None",
        "to": "str | None",
        "days": "int",
        "complete": "bool",
        "gaps": "list[BacktestGaps]",
        "observations": "int",
        "counts": "BacktestCounts",
        "incidentCounts": "BacktestIncidentCounts",
        "perDay": "list[BacktestPerDay]",
        "incidents": "list[BacktestIncidents]",
        "alerts": "list[BacktestAlerts]",
    },
)

class BalanceChangeDataTransactions(TypedDict):
    transactionHash: str
    amount: str
    counterparty: str | None


class BalanceChangeDataOtherChanges(TypedDict):
    asset: Literal["FLR"] | str
    symbol: str
    decimals: int
    changeAmount: str


class BalanceChangeData(TypedDict):
    address: str
    asset: Literal["FLR"] | str
    symbol: str
    decimals: int
    previousAmount: str
    currentAmount: str
    changeAmount: str
    threshold: str
    direction: Literal["incoming", "outgoing"]
    counterparty: str | None
    transactionHash: str | None
    transactions: list[BalanceChangeDataTransactions]
    transactionCount: int
    usd: str | None
    blockNumber: int
    blockTime: str
    otherChanges: NotRequired[list[BalanceChangeDataOtherChanges]]
    isTopUp: NotRequired[Literal[True]]
    topupHandle: NotRequired[str]
    counterpartyRole: NotRequired[Literal["own-wallet", "watched", "seen", "new", "unknown"]]


class BalanceClaim(TypedDict):
    kind: Literal["balance"]
    provider: str
    address: str
    role: str
    block: int
    balanceWei: str
    limitWei: str


class BalanceLevelData(TypedDict):
    address: str
    asset: Literal["*", "FLR"] | str
    symbol: str
    decimals: int
    currentAmount: str
    level: str
    usd: str | None
    blockNumber: int
    blockTime: str


class Capacity(TypedDict):
    purchased: int
    trial: int
    used: int
    available: int
    max: int


class ChainOutageDataLastBlock(TypedDict):
    number: int
    at: str


class ChainOutageData(TypedDict):
    since: str
    lastBlock: ChainOutageDataLastBlock | None
    reason: Literal["no_block", "no_answer", "behind", "target_unreadable", "watch_unreadable"]
    until: str | None


class Challenge(TypedDict):
    wallet: str
    nonce: str
    issuedAt: str
    message: str


class ChallengeRequest(TypedDict):
    wallet: str
    scopes: NotRequired[list[Literal["read", "write", "spend"]]]
    label: NotRequired[str]


class ChannelList(TypedDict):
    data: list[ChannelState]
    nextCursor: str | None


class ChannelSetup(TypedDict):
    address: NotRequired[str]
    url: NotRequired[str]
    rotateSecret: NotRequired[bool]


class ChannelState(TypedDict):
    key: Literal["telegram", "email", "webhook", "discord", "slack", "ntfy", "pagerduty"]
    kind: Literal["input", "link"]
    available: bool
    configured: bool
    target: str | None
    status: Literal["pending", "active", "disabled", "blocked"] | None
    statusReason: str | None
    lastSuccessAt: str | None
    lastFailureAt: str | None
    secret: NotRequired[str]


class ConfirmTopup(TypedDict):
    txHash: str


class CreditsBalanceWatchRequestSettings(TypedDict):
    limit: int


class CreditsBalanceWatchRequest(TypedDict):
    type: Literal["credits-balance"]
    target: dict[str, Any]
    settings: CreditsBalanceWatchRequestSettings
    label: NotRequired[str]
    recipientIds: NotRequired[list[int] | None]
    minSeverity: NotRequired[Literal["info", "warning", "critical"]]
    cooldownSeconds: NotRequired[int]
    escalateAfterMinutes: NotRequired[int | None]
    escalateTo: NotRequired[list[int]]
    signals: NotRequired[list[SignalChoice]]


class CreditsThresholdDataNextRenewal(TypedDict):
    at: str
    credits: int


class CreditsThresholdData(TypedDict):
    balanceCredits: int
    limitCredits: int
    nextRenewal: CreditsThresholdDataNextRenewal | None


class DaysLeftData(TypedDict):
    address: str
    asset: Literal["FLR"] | str
    symbol: str
    decimals: int
    currentAmount: str
    spentDay: str
    spentWeek: str
    secondsLeft: float | None
    days: int
    blockNumber: int
    blockTime: str


class DeletedAlerts(TypedDict):
    deleted: int


class Delivery(TypedDict):
    deliveryId: str
    recipientId: int
    channel: Literal["telegram", "email", "webhook", "discord", "slack", "ntfy", "pagerduty"]
    status: Literal["pending", "retrying", "delivered", "failed", "held", "muted", "throttled", "disabled"]
    attempts: int
    lastStatusCode: int | None
    lastError: str | None
    nextAttemptAt: str | None
    deliveredAt: str | None


class EligibilityClaim(TypedDict):
    kind: Literal["eligibility"]
    provider: str
    rewardEpoch: int
    passes: float | None
    failures: list[str]


class EmailRecipientRequest(TypedDict):
    name: str
    locale: NotRequired[Literal["en", "de", "fr", "bn", "zh", "hi", "ar"]]
    timezone: NotRequired[str]
    minSeverity: NotRequired[Literal["info", "warning", "critical"]]
    default: NotRequired[bool]
    channel: Literal["email"]
    address: str


class EpochReportRank(TypedDict):
    place: int
    of: int


class EpochReportDutiesMargin(TypedDict):
    rounds: int
    medianSeconds: int
    leastSeconds: int
    driftSeconds: int | None


class EpochReportDuties(TypedDict):
    duty: Literal["commit", "reveal", "signature", "bitvote", "fdcSignature"]
    rounds: int
    missed: int
    margin: EpochReportDutiesMargin | None


class EpochReportMinimalConditionsAnchor(TypedDict):
    rate: float
    minimum: float
    used: float


class EpochReportMinimalConditionsFdc(TypedDict):
    rate: float
    minimum: float
    used: float


class EpochReportMinimalConditionsUptime(TypedDict):
    rate: float
    minimum: float
    used: float


class EpochReportMinimalConditionsFastUpdates(TypedDict):
    rate: float
    minimum: float
    used: float


class EpochReportMinimalConditions(TypedDict):
    anchor: EpochReportMinimalConditionsAnchor | None
    fdc: EpochReportMinimalConditionsFdc | None
    uptime: EpochReportMinimalConditionsUptime | None
    fastUpdates: EpochReportMinimalConditionsFastUpdates | None


class EpochReportRewards(TypedDict):
    state: Literal["published", "not-published", "not-read"]
    amountWei: str | None


class EpochReportMend(TypedDict):
    signal: str
    rounds: int | None


class EpochReport(TypedDict):
    provider: str
    name: str | None
    rewardEpoch: int
    isOver: bool
    firstDay: str
    lastDay: str
    rounds: int
    badRounds: int
    rate: float | None
    rank: EpochReportRank | None
    duties: list[EpochReportDuties]
    minimalConditions: EpochReportMinimalConditions
    eligible: bool | None
    passes: float | None
    failures: list[str]
    rewards: EpochReportRewards
    mend: list[EpochReportMend]


class ErrorBudgetData(TypedDict):
    provider: str
    nodeId: NotRequired[str]
    rewardEpochId: int
    votingRoundId: int
    stage: Literal["early", "most", "spent", "lasts"]
    used: float
    rate: float
    protocolMinimum: float
    rounds: int
    roundsUnknown: NotRequired[int]
    done: int
    possible: float
    roundsToMiss: int
    roundsLeft: int
    epochEndsAt: str
    budgetEndsAt: str | None
    rateSeconds: int | None


class EvidenceSourcesContracts(TypedDict):
    name: str
    addresses: list[str]


class EvidenceSourcesFunctions(TypedDict):
    name: str
    selector: str


class EvidenceSourcesEvents(TypedDict):
    name: str
    topic: str


class EvidenceSources(TypedDict):
    contracts: list[EvidenceSourcesContracts]
    accounts: list[str]
    functions: list[EvidenceSourcesFunctions]
    events: list[EvidenceSourcesEvents]


class EvidenceTransactionFrames(TypedDict):
    protocol: int
    round: int
    bytes: int
    payload: str


class EvidenceTransaction(TypedDict):
    hash: str
    block: int
    blockHash: str
    index: int
    sender: str
    receiver: str | None
    input: str
    function: str | None
    frames: list[EvidenceTransactionFrames]


class FailedCallClaim(TypedDict):
    kind: Literal["failed-call"]
    provider: str
    transaction: str
    block: int
    sender: str
    receiver: str
    selector: str
    gasUsed: int
    gasLimit: int


FailedTransactionData = TypedDict(
    "FailedTransactionData",
    {
        "provider": "str",
        "tx": "str",
        "from": "str",
        "role": "str",
        "to": "str",
        "contract": "str",
        "selector": "str",
        "function": "str",
        "reason": "str | None",
        "block": "int",
        "gasUsed": "int",
        "gasLimit": "int",
    },
)

class FastUpdateData(TypedDict):
    provider: str
    rewardEpochId: int
    blocksSinceUpdate: int
    lastUpdateBlock: int | None
    probabilityOfSilence: str
    threshold: float
    sortitionWeight: int
    sampleSize: float
    onePercentBlocks: int
    weightShare: float
    rule: Literal["probability", "one-percent", "too-long"]
    tx: NotRequired[str]
    updateBlock: NotRequired[int]
    feedsSent: NotRequired[int]
    feedCount: NotRequired[int]
    isAccepted: NotRequired[bool]
    since: str
    gapSeconds: int
    others: NotRequired[OtherProviders]


class FeedMoveWatchRequestTarget(TypedDict):
    feed: str


class FeedMoveWatchRequestSettings(TypedDict):
    percent: NotRequired[float | None]
    windowSeconds: NotRequired[int]
    direction: NotRequired[Literal["any", "up", "down"]]
    below: NotRequired[str | None]
    above: NotRequired[str | None]


class FeedMoveWatchRequest(TypedDict):
    type: Literal["feed-move"]
    target: FeedMoveWatchRequestTarget
    settings: FeedMoveWatchRequestSettings
    label: NotRequired[str]
    recipientIds: NotRequired[list[int] | None]
    minSeverity: NotRequired[Literal["info", "warning", "critical"]]
    cooldownSeconds: NotRequired[int]
    escalateAfterMinutes: NotRequired[int | None]
    escalateTo: NotRequired[list[int]]
    signals: NotRequired[list[SignalChoice]]


class Incident(TypedDict):
    id: int
    title: str
    severity: Literal["info", "warning", "critical"]
    state: Literal["firing", "recovered", "acknowledged", "closed"]
    firedAt: str
    recoveredAt: str | None
    durationSeconds: float | None
    acknowledgedAt: str | None
    acknowledgedBy: str | None
    alerts: list[Alert]


class IssuedToken(TypedDict):
    token: str
    wallet: str
    scopes: list[Literal["read", "write", "spend"]]
    expiresAt: str


class LedgerEntry(TypedDict):
    id: int
    type: Literal["topup", "bonus", "usage", "subscription", "refund", "adjustment"]
    deltaCredits: int
    balanceAfterCredits: int
    reference: str
    note: NotRequired[str]
    createdAt: str


class ListedAlert(TypedDict):
    id: int
    incidentId: int
    watchId: int
    watchLabel: str
    type: str
    signal: str | None
    group: str | None
    event: str
    severity: Literal["info", "warning", "critical"]
    state: Literal["firing", "recovered", "acknowledged", "closed"]
    data: dict[str, Any]
    rendered: Rendered
    firedAt: str
    recoveredAt: str | None
    durationSeconds: float | None
    recoveryOf: int | None
    acknowledgedAt: str | None
    acknowledgedBy: str | None
    note: str | None
    notedBy: str | None
    during: Literal["maintenance"] | None
    deliveries: list[Delivery]
    incident: NotRequired[Incident]


class ListingClaim(TypedDict):
    kind: Literal["listing"]
    provider: str
    block: int
    nodeIds: list[str]


class LowBalanceData(TypedDict):
    provider: str
    role: str
    address: str
    balanceWei: str
    limitWei: str


MaintenanceRequest = TypedDict(
    "MaintenanceRequest",
    {
        "name": "str",
        "minutes": "int",
        "watchIds": "NotRequired[list[int] | None]",
        "from": "NotRequired[str]",
        "repeat": "NotRequired[Literal[\"weekly\"] | None]",
    },
)

MaintenanceWindow = TypedDict(
    "MaintenanceWindow",
    {
        "id": "str",
        "name": "str",
        "watchIds": "list[int] | None",
        "from": "str",
        "until": "str",
        "repeat": "Literal[\"weekly\"] | None",
    },
)

MaintenanceWindowRequest = TypedDict(
    "MaintenanceWindowRequest",
    {
        "id": "NotRequired[str]",
        "name": "str",
        "watchIds": "list[int] | None",
        "from": "str",
        "until": "str",
        "repeat": "Literal[\"weekly\"] | None",
    },
)

class MembershipClaim(TypedDict):
    kind: Literal["membership"]
    provider: str
    rewardEpoch: int
    voters: int | None
    startRound: int | None


class MeteredResource(TypedDict):
    resource: Literal["rewards-intelligence-reports", "providers-rewards", "ftso-analytics"]
    url: str | None
    priceCredits: int
    description: str
    accepts: list[PaymentOffer]


class OtherProviders(TypedDict):
    total: int
    failed: int


class OutageCostSource(TypedDict):
    rewardEpochId: int
    amountWei: str
    weightRatio: float | None


class OutageCost(TypedDict):
    rounds: int
    ofRounds: int
    amountWei: str | None
    symbol: str
    source: OutageCostSource | None


class ParameterDefinition(TypedDict):
    key: str
    type: Literal["integer", "number", "boolean"]
    default: float | bool
    min: NotRequired[float]
    max: NotRequired[float]
    step: NotRequired[float]
    label: Text
    help: Text


class PaymentAsset(TypedDict):
    symbol: str
    address: str
    decimals: int
    bonusBps: int
    routerAllowlisted: bool
    available: bool
    amountPer1000Credits: str
    capPerTopup: str | None
    holdingsCap: str | None
    paused: bool


class PaymentOfferExtra(TypedDict):
    settlement: Literal["onchain_router_prepaid", "native_transfer_prepaid", "xrpl_tag_prepaid", "x402_exact"]
    docs: str
    chainId: int
    assetSymbol: str
    assetDecimals: int
    bonusBps: int
    priceCredits: int
    usdPer1000CreditsMicros: str
    minTopupCredits: int
    authEndpoint: str
    tokenEndpoint: str
    topupEndpoint: str
    accountEndpoint: str
    pricingEndpoint: str
    flow: str


class PaymentOffer(TypedDict):
    scheme: Literal["flare-watchdog-prepaid"]
    network: str
    maxAmountRequired: str
    resource: str
    description: str
    mimeType: str
    payTo: str
    asset: str
    maxTimeoutSeconds: int
    extra: PaymentOfferExtra


class PolicyMembershipData(TypedDict):
    provider: str
    rewardEpochId: int
    startVotingRoundId: int
    voters: int
    startsAt: str
    active: bool


class PreviewTelegram(TypedDict):
    html: str


class PreviewEmail(TypedDict):
    subject: str
    html: str
    text: str


class PreviewWebhook(TypedDict):
    body: str


class PreviewDiscord(TypedDict):
    body: str


class PreviewSlack(TypedDict):
    body: str


class PreviewNtfy(TypedDict):
    body: str


class PreviewPagerduty(TypedDict):
    body: str


class Preview(TypedDict):
    rendered: Rendered
    renderedMessage: dict[str, Any]
    telegram: NotRequired[PreviewTelegram]
    email: NotRequired[PreviewEmail]
    webhook: NotRequired[PreviewWebhook]
    discord: NotRequired[PreviewDiscord]
    slack: NotRequired[PreviewSlack]
    ntfy: NotRequired[PreviewNtfy]
    pagerduty: NotRequired[PreviewPagerduty]


class PreviewRequest(TypedDict):
    event: Literal["wallet-balance.moved", "wallet-balance.floor", "wallet-balance.floor.recovered", "wallet-balance.ceiling", "wallet-balance.ceiling.recovered", "wallet-balance.days-left", "wallet-balance.days-left.recovered", "feed-move.threshold", "feed-move.below", "feed-move.below.recovered", "feed-move.above", "feed-move.above.recovered", "provider.unregistered", "provider.eligibility-lost", "provider.recovered", "credits.low-balance", "credits.recovered", "signing.uptime-open", "signing.rewards-open", "signing.rewards-reminder", "signing.missed", "signing.done", "fsp.ftso-commit", "fsp.ftso-commit.recovered", "fsp.ftso-reveal", "fsp.ftso-reveal.recovered", "fsp.ftso-signature", "fsp.ftso-signature.recovered", "fsp.fdc-bitvote", "fsp.fdc-bitvote.recovered", "fsp.fdc-signature", "fsp.fdc-signature.recovered", "fsp.fdc-submit1", "fsp.fdc-submit1.recovered", "fsp.reveal-offence", "fsp.reveal-offence.recovered", "fsp.signature-mismatch", "fsp.signature-mismatch.recovered", "fsp.signature-grace", "fsp.signature-grace.recovered", "fsp.tx-failed", "fsp.tx-failed.recovered", "fsp.fast-updates", "fsp.fast-updates.recovered", "fsp.registration", "fsp.registration.recovered", "fsp.not-in-policy", "fsp.not-in-policy.recovered", "fsp.mc-anchor", "fsp.mc-anchor.recovered", "fsp.mc-fdc", "fsp.mc-fdc.recovered", "fsp.mc-fast-updates", "fsp.mc-fast-updates.recovered", "fsp.mc-uptime", "fsp.mc-uptime.recovered", "fsp.stake-end", "fsp.stake-end.recovered", "fsp.days-left", "fsp.days-left.recovered", "fsp.fdc-bitvote-length", "fsp.fdc-bitvote-length.recovered", "fsp.fdc-consensus", "fsp.fdc-consensus.recovered", "fsp.fdc-reveal-offence", "fsp.fdc-reveal-offence.recovered", "fsp.validator-not-listed", "fsp.validator-not-listed.recovered", "fsp.balance-low", "fsp.balance-low.recovered", "fsp.rewards-unclaimed", "fsp.rewards-unclaimed.recovered", "fsp.monitoring", "fsp.monitoring.recovered"]
    locale: NotRequired[Literal["en", "de", "fr", "bn", "zh", "hi", "ar"]]
    channel: NotRequired[Literal["telegram", "email", "webhook", "discord", "slack", "ntfy", "pagerduty"]]
    severity: NotRequired[Literal["info", "warning", "critical"]]
    data: NotRequired[dict[str, Any]]
    watchId: NotRequired[int]


class PriceLevelData(TypedDict):
    feed: str
    feedId: str
    price: str
    level: str
    blockNumber: int
    blockTime: str


class PriceMoveData(TypedDict):
    feed: str
    feedId: str
    fromPrice: str
    toPrice: str
    movePercent: float
    thresholdPercent: float
    windowSeconds: int
    direction: Literal["any", "up", "down"]
    fromTime: str
    toTime: str
    blockNumber: int


class PricingDocumentNativeXrp(TypedDict):
    available: bool
    amountPer1000Credits: str
    capPerTopup: str | None
    holdingsCap: str | None
    paused: bool
    address: str
    note: str


class PricingDocumentNativeFlr(TypedDict):
    available: bool
    amountPer1000Credits: str
    capPerTopup: str | None
    holdingsCap: str | None
    paused: bool
    payTo: str
    note: str


class PricingDocumentWatchdogDurationDiscounts(TypedDict):
    minPeriods: int
    discountBps: int


class PricingDocumentWatchdogVolumeDiscounts(TypedDict):
    minQuantity: int
    discountBps: int


class PricingDocumentWatchdog(TypedDict):
    model: Literal["slots"]
    slotPriceCreditsPer30d: int
    maxSlotsPerWallet: int
    durationDiscounts: list[PricingDocumentWatchdogDurationDiscounts]
    volumeDiscounts: list[PricingDocumentWatchdogVolumeDiscounts]
    uiDurations: list[int]
    types: list[str]
    signalDefinitions: dict[str, list[SignalDefinition]]


class PricingDocument(TypedDict):
    docs: str
    enabled: bool
    network: str
    chainId: int
    usdPer1000CreditsMicros: str
    minTopupCredits: int
    freeTierDailyCalls: int
    resources: list[MeteredResource]
    assets: list[PaymentAsset]
    nativeXrp: PricingDocumentNativeXrp
    nativeFlr: PricingDocumentNativeFlr
    watchdog: PricingDocumentWatchdog


class ProblemErrors(TypedDict):
    pointer: str
    code: str
    detail: str


class Problem(TypedDict):
    type: str
    title: str
    status: int
    detail: str
    code: str
    requestId: str
    errors: NotRequired[list[ProblemErrors]]
    scope: NotRequired[str]
    shortfallCredits: NotRequired[int]
    totalCredits: NotRequired[int]
    topupStatus: NotRequired[str]
    reason: NotRequired[str | None]


class ProviderDaysLeftData(TypedDict):
    provider: str
    role: str
    address: str
    balanceWei: str
    spentDayWei: str
    spentWeekWei: str
    secondsLeft: float | None
    days: int


class ProviderEligibilityWatchRequestTarget(TypedDict):
    provider: str


class ProviderEligibilityWatchRequest(TypedDict):
    type: Literal["provider-eligibility"]
    target: ProviderEligibilityWatchRequestTarget
    settings: NotRequired[dict[str, Any]]
    label: NotRequired[str]
    recipientIds: NotRequired[list[int] | None]
    minSeverity: NotRequired[Literal["info", "warning", "critical"]]
    cooldownSeconds: NotRequired[int]
    escalateAfterMinutes: NotRequired[int | None]
    escalateTo: NotRequired[list[int]]
    signals: NotRequired[list[SignalChoice]]


class ProviderFspWatchRequestTarget(TypedDict):
    provider: str


class ProviderFspWatchRequest(TypedDict):
    type: Literal["provider-fsp"]
    target: ProviderFspWatchRequestTarget
    settings: NotRequired[dict[str, Any]]
    label: NotRequired[str]
    recipientIds: NotRequired[list[int] | None]
    minSeverity: NotRequired[Literal["info", "warning", "critical"]]
    cooldownSeconds: NotRequired[int]
    escalateAfterMinutes: NotRequired[int | None]
    escalateTo: NotRequired[list[int]]
    signals: NotRequired[list[SignalChoice]]


class ProviderStatusData(TypedDict):
    provider: str
    providerName: str | None
    registered: bool
    eligible: bool | None
    rewardEpochId: int
    eligibilityEpochId: int | None
    passes: float | None
    failures: list[str]
    recovered: list[Literal["registered", "eligible"]]
    lost: NotRequired[Literal["registered", "eligible"]]
    blockTime: str


class ProviderViewAddresses(TypedDict):
    submit: str
    submitSignatures: str
    signingPolicy: str


class ProviderViewRoundsFtso(TypedDict):
    commit: Literal["ok", "late", "early", "missing", "mismatch", "offence", "unknown"]
    reveal: Literal["ok", "late", "early", "missing", "mismatch", "offence", "unknown"]
    signature: Literal["ok", "late", "early", "missing", "mismatch", "offence", "unknown"]


class ProviderViewRoundsFdc(TypedDict):
    bitvote: Literal["ok", "late", "early", "missing", "mismatch", "offence", "unknown"]
    signature: Literal["ok", "late", "early", "missing", "mismatch", "offence", "unknown"]


class ProviderViewRounds(TypedDict):
    id: int
    startsAt: str
    ftso: ProviderViewRoundsFtso
    fdc: ProviderViewRoundsFdc


class ProviderViewLast30Days(TypedDict):
    days: int
    rounds: int
    badRounds: int
    rate: float


class ProviderViewFastUpdates(TypedDict):
    lastUpdateBlock: int | None
    blocksSinceUpdate: int
    probabilityOfSilence: float


class ProviderViewMinimalConditionsAnchor(TypedDict):
    rate: float
    minimum: float
    used: float
    roundsToMiss: int
    roundsLeft: int
    epochEndsAt: str
    budgetEndsAt: str | None


class ProviderViewMinimalConditionsFdc(TypedDict):
    rate: float
    minimum: float
    used: float
    roundsToMiss: int
    roundsLeft: int
    epochEndsAt: str
    budgetEndsAt: str | None


class ProviderViewMinimalConditionsUptime(TypedDict):
    rate: float
    minimum: float
    used: float
    roundsToMiss: int
    roundsLeft: int
    epochEndsAt: str
    budgetEndsAt: str | None


class ProviderViewMinimalConditionsFastUpdates(TypedDict):
    rate: float
    minimum: float
    used: float
    roundsToMiss: int
    roundsLeft: int
    epochEndsAt: str
    budgetEndsAt: str | None


class ProviderViewMinimalConditions(TypedDict):
    anchor: ProviderViewMinimalConditionsAnchor | None
    fdc: ProviderViewMinimalConditionsFdc | None
    uptime: ProviderViewMinimalConditionsUptime | None
    fastUpdates: ProviderViewMinimalConditionsFastUpdates | None


class ProviderViewValidators(TypedDict):
    nodeId: str
    listed: bool


class ProviderViewBalances(TypedDict):
    role: str
    address: str
    balanceWei: str


class ProviderView(TypedDict):
    provider: str
    addresses: ProviderViewAddresses | None
    rewardEpoch: int | None
    registered: bool | None
    registeredNext: bool | None
    registrationOpensAt: str | None
    inPolicy: bool | None
    weight: float | None
    currentRound: int | None
    rounds: list[ProviderViewRounds]
    last30Days: ProviderViewLast30Days | None
    others: OtherProviders | None
    fastUpdates: ProviderViewFastUpdates | None
    minimalConditions: ProviderViewMinimalConditions
    validators: list[ProviderViewValidators] | None
    balances: list[ProviderViewBalances]
    asOf: str | None
    stale: bool


class Purchase(TypedDict):
    slots: int
    periods: int
    autoRenew: bool
    status: Literal["waiting", "done"]
    subscriptionId: int | None
    reason: str | None


class PurchaseRequest(TypedDict):
    slots: int
    periods: int
    autoRenew: NotRequired[bool]


class QueuedTest(TypedDict):
    deliveryId: str
    status: Literal["queued"]


class RateClaim(TypedDict):
    kind: Literal["rate"]
    provider: str
    condition: Literal["mc-anchor", "mc-fdc"]
    rewardEpoch: int
    round: int
    rounds: int
    done: int
    possible: int
    used: float


class Recipient(TypedDict):
    id: int
    name: str
    channel: Literal["telegram", "email", "webhook", "discord", "slack", "ntfy", "pagerduty"]
    target: str
    locale: Literal["en", "de", "fr", "bn", "zh", "hi", "ar"]
    timezone: str
    status: Literal["pending", "active", "disabled", "blocked"]
    statusReason: str | None
    minSeverity: Literal["info", "warning", "critical"]
    default: bool
    createdAt: str
    verifiedAt: str | None
    lastSuccessAt: str | None
    lastFailureAt: str | None
    secret: NotRequired[str]


class RecipientChanges(TypedDict):
    name: NotRequired[str]
    address: NotRequired[str]
    url: NotRequired[str]
    locale: NotRequired[Literal["en", "de", "fr", "bn", "zh", "hi", "ar"]]
    timezone: NotRequired[str]
    minSeverity: NotRequired[Literal["info", "warning", "critical"]]
    default: NotRequired[bool]
    status: NotRequired[Literal["active", "disabled"]]
    rotateSecret: NotRequired[bool]


class RecipientList(TypedDict):
    data: list[Recipient]
    nextCursor: str | None


class RegistrationClaim(TypedDict):
    kind: Literal["registration"]
    provider: str
    rewardEpoch: int
    block: int
    openedAt: str
    minutes: int
    isClosed: bool


class RegistrationData(TypedDict):
    provider: str
    rewardEpochId: int
    openedAt: str
    closesAtEarliest: str
    minutes: int
    isClosed: bool
    preRegistered: bool | None
    preRegistrationFailed: bool
    contractsMovedAt: NotRequired[str]


class Rendered(TypedDict):
    locale: Literal["en", "de", "fr", "bn", "zh", "hi", "ar"]
    title: str
    body: str


class Renewal(TypedDict):
    term: int
    expectedCredits: NotRequired[int]


class RenewalQuote(TypedDict):
    subscription: Subscription
    term: int
    quote: SlotQuote


class RewardSigningData(TypedDict):
    provider: str
    rewardEpochId: int
    vote: Literal["uptime", "rewards"]
    endedAt: str
    openedAt: str | None
    publishedAt: str | None
    concludedAt: str | None
    signedAt: str | None
    signedOtherHash: bool
    weightSignedPercent: float | None


class RewardSigningWatchRequestTarget(TypedDict):
    provider: str


class RewardSigningWatchRequest(TypedDict):
    type: Literal["reward-signing"]
    target: RewardSigningWatchRequestTarget
    settings: NotRequired[dict[str, Any]]
    label: NotRequired[str]
    recipientIds: NotRequired[list[int] | None]
    minSeverity: NotRequired[Literal["info", "warning", "critical"]]
    cooldownSeconds: NotRequired[int]
    escalateAfterMinutes: NotRequired[int | None]
    escalateTo: NotRequired[list[int]]
    signals: NotRequired[list[SignalChoice]]


class RewardsClaim(TypedDict):
    kind: Literal["rewards"]
    provider: str
    block: int
    epochs: list[int]
    amountWei: str
    expiresAt: str | None


class RoundClaim(TypedDict):
    kind: Literal["round"]
    provider: str
    rewardEpoch: int
    round: int
    firstRound: int
    streak: int
    required: int
    checks: list[Literal["commit", "reveal", "revealOffence", "signature", "fdcSignature", "bitVote", "bitVoteLength", "consensus", "fdcOffence", "strayCommit", "mismatch", "fdcMismatch", "grace", "fdcGrace", "feedValues"]]
    values: dict[str, Any]


class RoundStreakData(TypedDict):
    provider: str
    votingRoundId: int
    firstRoundId: NotRequired[int]
    rewardEpochId: int
    since: str
    streak: NotRequired[int]
    missedRounds: NotRequired[int]
    gapSeconds: NotRequired[int]
    reason: NotRequired[str | None]
    tx: NotRequired[str | None]
    sentTo: NotRequired[str]
    submission: NotRequired[str]
    address: NotRequired[str | None]
    others: NotRequired[OtherProviders]
    cost: NotRequired[OutageCost]


SettingsQuietHours = TypedDict(
    "SettingsQuietHours",
    {
        "enabled": "bool",
        "from": "str",
        "to": "str",
        "criticalBypass": "bool",
    },
)

class SettingsRepeat(TypedDict):
    critical: list[int]


class Settings(TypedDict):
    locale: Literal["en", "de", "fr", "bn", "zh", "hi", "ar"]
    timezone: str
    minSeverity: Literal["info", "warning", "critical"]
    recoveries: bool
    weeklyCard: NotRequired[bool]
    epochReport: NotRequired[bool]
    quietHours: SettingsQuietHours
    digest: Literal["off", "15m", "1h", "daily"]
    digestAt: str
    repeat: SettingsRepeat
    maintenance: list[MaintenanceWindow]
    version: int


SettingsRequestQuietHours = TypedDict(
    "SettingsRequestQuietHours",
    {
        "enabled": "bool",
        "from": "str",
        "to": "str",
        "criticalBypass": "bool",
    },
)

class SettingsRequestRepeat(TypedDict):
    critical: list[int]


class SettingsRequest(TypedDict):
    locale: Literal["en", "de", "fr", "bn", "zh", "hi", "ar"]
    timezone: str
    minSeverity: Literal["info", "warning", "critical"]
    recoveries: bool
    weeklyCard: NotRequired[bool]
    epochReport: NotRequired[bool]
    quietHours: SettingsRequestQuietHours
    digest: Literal["off", "15m", "1h", "daily"]
    digestAt: str
    repeat: SettingsRequestRepeat
    maintenance: NotRequired[list[MaintenanceWindowRequest]]
    version: NotRequired[int]


class SignalChoiceRecovery(TypedDict):
    enabled: bool


class SignalChoice(TypedDict):
    id: str
    enabled: NotRequired[bool]
    recovery: NotRequired[SignalChoiceRecovery]
    parameters: NotRequired[dict[str, float | bool]]


class SignalDefinitionHelp(TypedDict):
    checked: Text
    why: Text
    causes: Text
    action: Text


SignalDefinitionGroup = TypedDict(
    "SignalDefinitionGroup",
    {
        "id": "Literal[\"alerts\", \"ftso\", \"fdc\", \"offences\", \"transactions\", \"fast-updates\", \"registration\"]",
        "help": "Text",
        "key": "str",
        "def": "str",
    },
)

class SignalDefinitionEvents(TypedDict):
    alerts: list[str]
    recovery: NotRequired[str]


class SignalDefinitionRecovery(TypedDict):
    defaultEnabled: bool


class SignalDefinition(TypedDict):
    id: str
    help: SignalDefinitionHelp
    group: SignalDefinitionGroup
    label: Text
    description: Text
    events: SignalDefinitionEvents
    defaultEnabled: bool
    recovery: NotRequired[SignalDefinitionRecovery]
    parameters: NotRequired[list[ParameterDefinition]]


class SignalSettingRecovery(TypedDict):
    enabled: bool


class SignalSetting(TypedDict):
    id: str
    enabled: bool
    recovery: NotRequired[SignalSettingRecovery]
    parameters: dict[str, float | bool]


class SignalState(TypedDict):
    id: str
    state: Literal["unknown", "ok", "pending", "firing"]
    since: str | None
    severity: Literal["info", "warning", "critical"] | None
    streak: NotRequired[int]
    lastEvidenceAt: str | None


class SilenceClaim(TypedDict):
    kind: Literal["silence"]
    provider: str
    rewardEpoch: int
    block: int
    lastUpdateBlock: int | None
    blocksSinceUpdate: int
    sortitionWeight: int
    sampleSize: float
    probability: str
    threshold: float
    rule: Literal["probability", "one-percent"]
    onePercentBlocks: int


class SlotQuote(TypedDict):
    quantity: int
    periods: int
    slotPriceCredits: int
    listCredits: int
    durationDiscountBps: int
    volumeDiscountBps: int
    totalCredits: int
    startsAt: str
    endsAt: str
    balanceCredits: int
    shortfallCredits: int


class StakeEndData(TypedDict):
    provider: str
    nodeId: str
    stakeEndsAt: str
    secondsLeft: int
    days: int


class Stats(TypedDict):
    wallets: int
    watchesActive: int
    alerts24h: int
    deliveries24h: int
    deliverySuccessRate24h: float | None
    creditsSold: int
    creditsSpent: int
    topupsConfirmed: int
    asOf: str


class Subscription(TypedDict):
    id: int
    quantity: int
    periods: int
    status: Literal["active", "grace", "expired"]
    startsAt: str
    endsAt: str
    autoRenew: bool
    totalCredits: int
    nextRenewalAt: str | None
    lastRenewalError: str | None


class SubscriptionChanges(TypedDict):
    autoRenew: bool
    id: NotRequired[int]


class SubscriptionListTrial(TypedDict):
    available: bool
    startedAt: str | None
    endsAt: str | None


class SubscriptionList(TypedDict):
    data: list[Subscription]
    nextCursor: str | None
    capacity: Capacity
    trial: SubscriptionListTrial


class SubscriptionRequest(TypedDict):
    quantity: int
    periods: int
    autoRenew: NotRequired[bool]
    expectedCredits: NotRequired[int]


class TelegramLink(TypedDict):
    url: str
    groupUrl: str
    expiresAt: str


class TelegramLinkRequest(TypedDict):
    name: NotRequired[str]
    scopes: NotRequired[list[Literal["read", "write", "spend"]]]


class TelegramRecipientRequest(TypedDict):
    name: str
    locale: NotRequired[Literal["en", "de", "fr", "bn", "zh", "hi", "ar"]]
    timezone: NotRequired[str]
    minSeverity: NotRequired[Literal["info", "warning", "critical"]]
    default: NotRequired[bool]
    channel: Literal["telegram"]


class TermsAcceptance(TypedDict):
    currentVersion: str
    url: str
    accepted: bool
    acceptedVersion: str | None
    acceptedAt: str | None


Text = TypedDict(
    "Text",
    {
        "key": "str",
        "def": "str",
    },
)

class TokenList(TypedDict):
    data: list[TokenMetadata]
    nextCursor: str | None


class TokenMetadata(TypedDict):
    id: int
    label: str | None
    scopes: list[Literal["read", "write", "spend"]]
    prefix: str
    status: Literal["active", "expired", "revoked"]
    createdAt: str
    expiresAt: str
    lastUsedAt: str | None
    revokedAt: str | None


class TokenRequest(TypedDict):
    message: str
    signature: str


class TopupTransaction(TypedDict):
    to: str
    value: str
    data: str


class TopupContractWallet(TypedDict):
    to: str
    value: str
    data: str


class TopupApproval(TypedDict):
    token: str
    spender: str
    amount: str


class Topup(TypedDict):
    handle: str
    status: Literal["draft", "submitted", "confirming", "credited", "expired", "failed", "rejected"]
    wallet: str
    asset: str
    credits: int
    bonusCredits: int
    amount: str
    decimals: int
    payTo: str
    destinationTag: int | None
    settlement: Literal["onchain_router_prepaid", "native_transfer_prepaid", "xrpl_tag_prepaid", "x402_exact"]
    chainId: int
    transaction: TopupTransaction | None
    contractWallet: TopupContractWallet | None
    approval: TopupApproval | None
    page: str
    pageQr: str
    expiresAt: str
    instructions: str
    then: Purchase | None
    txHash: str | None
    confirmations: int
    requiredConfirmations: int
    paidAmount: str | None
    creditedCredits: int
    reason: str | None


class TopupDraftTransaction(TypedDict):
    to: str
    value: str
    data: str


class TopupDraftContractWallet(TypedDict):
    to: str
    value: str
    data: str


class TopupDraftApproval(TypedDict):
    token: str
    spender: str
    amount: str


class TopupDraft(TypedDict):
    handle: str
    status: Literal["draft", "submitted", "confirming", "credited", "expired", "failed", "rejected"]
    wallet: str
    asset: str
    credits: int
    bonusCredits: int
    amount: str
    decimals: int
    payTo: str
    destinationTag: int | None
    settlement: Literal["onchain_router_prepaid", "native_transfer_prepaid", "xrpl_tag_prepaid", "x402_exact"]
    chainId: int
    transaction: TopupDraftTransaction | None
    contractWallet: TopupDraftContractWallet | None
    approval: TopupDraftApproval | None
    page: str
    pageQr: str
    expiresAt: str
    instructions: str
    then: Purchase | None


class TopupRequest(TypedDict):
    asset: NotRequired[str]
    credits: NotRequired[int]
    then: NotRequired[PurchaseRequest]


class Trial(TypedDict):
    slots: int
    startedAt: str
    endsAt: str


class UnclaimedRewardsData(TypedDict):
    provider: str
    epochs: list[int]
    amountWei: str
    expiresAt: str | None


class UpdateClaim(TypedDict):
    kind: Literal["update"]
    provider: str
    rewardEpoch: int
    transaction: str
    block: int
    feedsSent: int
    feedCount: int
    isAccepted: bool


class UrlRecipientRequest(TypedDict):
    name: str
    locale: NotRequired[Literal["en", "de", "fr", "bn", "zh", "hi", "ar"]]
    timezone: NotRequired[str]
    minSeverity: NotRequired[Literal["info", "warning", "critical"]]
    default: NotRequired[bool]
    channel: Literal["webhook", "discord", "slack", "ntfy", "pagerduty"]
    url: str


class ValidatorListingData(TypedDict):
    provider: str
    nodeIds: list[str]
    listed: int
    stakeEndsAt: NotRequired[str]


class VoteClaim(TypedDict):
    kind: Literal["vote"]
    provider: str
    rewardEpoch: int
    vote: Literal["uptime", "rewards"]
    block: int
    openedAt: str | None
    minutes: int | None
    isConcluded: bool
    signedOtherHash: bool


class WalletBalanceWatchRequestTarget(TypedDict):
    address: str
    asset: Literal["*", "FLR"] | str
    tokens: NotRequired[list[str]]


class WalletBalanceWatchRequestSettings(TypedDict):
    threshold: NotRequired[str | None]
    direction: NotRequired[Literal["any", "up", "down"]]
    floor: NotRequired[str | None]
    ceiling: NotRequired[str | None]
    daysLeft: NotRequired[int | None]


class WalletBalanceWatchRequest(TypedDict):
    type: Literal["wallet-balance"]
    target: WalletBalanceWatchRequestTarget
    settings: WalletBalanceWatchRequestSettings
    label: NotRequired[str]
    recipientIds: NotRequired[list[int] | None]
    minSeverity: NotRequired[Literal["info", "warning", "critical"]]
    cooldownSeconds: NotRequired[int]
    escalateAfterMinutes: NotRequired[int | None]
    escalateTo: NotRequired[list[int]]
    signals: NotRequired[list[SignalChoice]]


class Watch(TypedDict):
    id: int
    type: Literal["wallet-balance", "feed-move", "provider-eligibility", "credits-balance", "reward-signing", "provider-fsp"]
    label: str
    target: Any
    settings: Any
    signals: list[SignalSetting]
    recipientIds: list[int] | None
    notifies: list[int]
    warnings: list[Literal["nobody_is_notified", "escalation_is_heard_already"]]
    minSeverity: Literal["info", "warning", "critical"]
    cooldownSeconds: int
    escalateAfterMinutes: int | None
    escalateTo: list[int]
    status: Literal["active", "paused", "suspended"]
    mutedUntil: str | None
    health: Literal["ok", "no_data"]
    signalStates: list[SignalState]
    createdAt: str
    updatedAt: str
    lastEvaluatedAt: str | None
    lastObservation: Any
    version: int


class WatchChanges(TypedDict):
    label: NotRequired[str]
    settings: NotRequired[dict[str, Any]]
    signals: NotRequired[list[SignalChoice]]
    recipientIds: NotRequired[list[int] | None]
    minSeverity: NotRequired[Literal["info", "warning", "critical"]]
    cooldownSeconds: NotRequired[int]
    escalateAfterMinutes: NotRequired[int | None]
    escalateTo: NotRequired[list[int]]
    status: NotRequired[Literal["active", "paused"]]
    mutedUntil: NotRequired[str | None]


class WatchList(TypedDict):
    data: list[Watch]
    nextCursor: str | None


class WatchTypeViewSignalsHelp(TypedDict):
    checked: str


class WatchTypeViewSignalsEvents(TypedDict):
    alerts: list[str]
    recovery: NotRequired[str]


class WatchTypeViewSignalsParameters(TypedDict):
    key: str
    type: Literal["integer", "number", "boolean"]
    default: float | bool
    min: NotRequired[float]
    max: NotRequired[float]
    step: NotRequired[float]
    label: str
    help: str


class WatchTypeViewSignals(TypedDict):
    id: str
    group: Literal["alerts", "ftso", "fdc", "offences", "transactions", "fast-updates", "registration"]
    label: str
    description: str
    help: WatchTypeViewSignalsHelp
    events: WatchTypeViewSignalsEvents
    defaultEnabled: bool
    parameters: list[WatchTypeViewSignalsParameters]


class WatchTypeView(TypedDict):
    type: str
    signals: list[WatchTypeViewSignals]


class WebhookPayloadRendered(TypedDict):
    locale: Literal["en", "de", "fr", "bn", "zh", "hi", "ar"]
    title: str
    body: str


class WebhookPayloadRenderedMessageFields(TypedDict):
    key: str
    label: str
    value: str
    href: NotRequired[str]


class WebhookPayloadRenderedMessage(TypedDict):
    alertId: int | None
    incidentId: int | None
    watchId: int | None
    watchLabel: str | None
    event: str
    severity: Literal["info", "warning", "critical"]
    title: str
    body: str
    fields: list[WebhookPayloadRenderedMessageFields]
    link: str
    firedAt: str
    test: bool
    chainId: int
    network: str


class WebhookPayload(TypedDict):
    payloadVersion: Literal[2]
    signal: str | None
    group: str | None
    deliveryId: str
    alertId: int | None
    watchId: int | None
    label: str | None
    type: str | None
    event: str
    severity: Literal["info", "warning", "critical"]
    data: dict[str, Any]
    firedAt: str
    rendered: WebhookPayloadRendered
    renderedMessage: WebhookPayloadRenderedMessage


EvidenceClaim: TypeAlias = RoundClaim | RateClaim | FailedCallClaim | SilenceClaim | UpdateClaim | RegistrationClaim | MembershipClaim | BalanceClaim | VoteClaim | EligibilityClaim | RewardsClaim | ListingClaim

OpenApiDocument: TypeAlias = dict[str, Any]

RecipientRequest: TypeAlias = EmailRecipientRequest | UrlRecipientRequest | TelegramRecipientRequest

TestResult: TypeAlias = AnsweredTest | QueuedTest

WatchRequest: TypeAlias = WalletBalanceWatchRequest | FeedMoveWatchRequest | ProviderEligibilityWatchRequest | CreditsBalanceWatchRequest | RewardSigningWatchRequest | ProviderFspWatchRequest

EventName: TypeAlias = Literal["fsp.monitoring", "fsp.monitoring.recovered", "wallet-balance.moved", "wallet-balance.floor", "wallet-balance.floor.recovered", "wallet-balance.ceiling", "wallet-balance.ceiling.recovered", "wallet-balance.days-left", "wallet-balance.days-left.recovered", "feed-move.threshold", "feed-move.below", "feed-move.below.recovered", "feed-move.above", "feed-move.above.recovered", "provider.unregistered", "provider.eligibility-lost", "provider.recovered", "credits.low-balance", "credits.recovered", "signing.uptime-open", "signing.rewards-open", "signing.rewards-reminder", "signing.missed", "signing.done", "fsp.ftso-commit", "fsp.ftso-commit.recovered", "fsp.ftso-reveal", "fsp.ftso-reveal.recovered", "fsp.ftso-signature", "fsp.ftso-signature.recovered", "fsp.fdc-bitvote", "fsp.fdc-bitvote.recovered", "fsp.fdc-signature", "fsp.fdc-signature.recovered", "fsp.fdc-submit1", "fsp.fdc-submit1.recovered", "fsp.reveal-offence", "fsp.reveal-offence.recovered", "fsp.signature-mismatch", "fsp.signature-mismatch.recovered", "fsp.signature-grace", "fsp.signature-grace.recovered", "fsp.fdc-bitvote-length", "fsp.fdc-bitvote-length.recovered", "fsp.fdc-consensus", "fsp.fdc-consensus.recovered", "fsp.fdc-reveal-offence", "fsp.fdc-reveal-offence.recovered", "fsp.tx-failed", "fsp.tx-failed.recovered", "fsp.fast-updates", "fsp.fast-updates.recovered", "fsp.registration", "fsp.registration.recovered", "fsp.not-in-policy", "fsp.not-in-policy.recovered", "fsp.mc-anchor", "fsp.mc-anchor.recovered", "fsp.mc-fdc", "fsp.mc-fdc.recovered", "fsp.mc-fast-updates", "fsp.mc-fast-updates.recovered", "fsp.mc-uptime", "fsp.mc-uptime.recovered", "fsp.stake-end", "fsp.stake-end.recovered", "fsp.days-left", "fsp.days-left.recovered", "fsp.validator-not-listed", "fsp.validator-not-listed.recovered", "fsp.balance-low", "fsp.balance-low.recovered", "fsp.rewards-unclaimed", "fsp.rewards-unclaimed.recovered"]
