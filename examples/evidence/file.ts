/**
 * The closed form of a file of evidence. The file is decoded once, and nothing else of it is used: texts are exact words,
 * addresses and hashes are in lower case, numbers are numbers, and no property is unknown.
 */
import {
  address,
  boolean,
  bytes,
  chance,
  type Decoded,
  type Decoder,
  hash,
  instant,
  list,
  name,
  nodeId,
  nullable,
  number,
  object,
  parseJson,
  selector,
  text,
  units,
  whole,
  word,
} from './decode.ts'
import { Unchecked } from './rpc.ts'

/** Entries of lists in files of the service; more are not read. */
const [TRANSACTIONS_MAX, EPOCHS_MAX, ENTRIES_MAX, FEEDS_MAX] = [3, 30, 40, 2000]

const VOTE = word('uptime', 'rewards')
const SILENCE_RULE = word('probability', 'one-percent')
const FAST_UPDATE_RULE = word('probability', 'one-percent', 'too-long')
const ROLE = word('submit', 'submitSignatures', 'signingPolicy', 'identity', 'fastUpdates')
const CONDITION = word('mc-anchor', 'mc-fdc')
const STAGE = word('early', 'most', 'spent')

/** Duties of a voting round. */
const CHECK = word(
  ...(['commit', 'strayCommit', 'reveal', 'revealOffence', 'feedValues', 'signature'] as const),
  ...(['mismatch', 'grace', 'bitVote', 'bitVoteLength', 'consensus'] as const),
  ...(['fdcSignature', 'fdcOffence', 'fdcMismatch', 'fdcGrace'] as const),
)

/** Figures of a failed duty; which of them there are depends on the duty. */
const VALUES = {
  ...{ reason: name, tx: nullable(hash), submit1Tx: hash, submit2Tx: hash },
  ...{ sentTo: address, submission: address, length: whole, payloadLength: whole },
  ...{ commitPresent: boolean, penalised: boolean, finalised: boolean },
  ...{ commit: hash, computed: hash, protocol: word('ftso', 'fdc'), merkleRoot: hash },
  ...{ recoveredSigner: nullable(address), expectedSigner: address, doubleSigned: boolean },
  ...{ digestTried: list(name, ENTRIES_MAX), secondsLate: whole },
  ...{ signatureAt: instant, deadlineAt: instant },
  ...{ sentLength: nullable(whole), expectedLength: whole, requests: whole },
  ...{ bitvotePresent: boolean, dominated: boolean, confirmed: whole, consensusCount: whole },
  missing: list(object({ index: whole, attestationType: text, source: text }), FEEDS_MAX),
  ...{ valuesSent: whole, feedCount: whole, feeds: list(whole, FEEDS_MAX) },
}

const PROVIDER = { provider: address }
const OF_EPOCH = { ...PROVIDER, rewardEpoch: whole }

const CLAIMS = {
  round: object({
    ...{ kind: word('round'), ...OF_EPOCH, round: whole, firstRound: whole, streak: whole },
    ...{ required: whole, checks: list(CHECK, ENTRIES_MAX), values: object({}, VALUES) },
  }),
  rate: object({
    ...{ kind: word('rate'), ...OF_EPOCH, condition: CONDITION, round: whole, rounds: whole },
    ...{ done: whole, possible: whole, used: number },
  }),
  'failed-call': object({
    ...{ kind: word('failed-call'), ...PROVIDER, transaction: hash, block: whole },
    ...{ sender: address, receiver: address, selector, gasUsed: whole, gasLimit: whole },
  }),
  silence: object({
    ...{ kind: word('silence'), ...OF_EPOCH, block: whole, lastUpdateBlock: nullable(whole) },
    ...{ blocksSinceUpdate: whole, sortitionWeight: whole, sampleSize: number },
    ...{ probability: chance, threshold: number, rule: SILENCE_RULE, onePercentBlocks: whole },
  }),
  update: object({
    ...{ kind: word('update'), ...OF_EPOCH, transaction: hash, block: whole },
    ...{ feedsSent: whole, feedCount: whole, isAccepted: boolean },
  }),
  registration: object({
    ...{ kind: word('registration'), ...OF_EPOCH, block: whole, openedAt: instant },
    ...{ minutes: whole, isClosed: boolean },
  }),
  membership: object({
    ...{ kind: word('membership'), ...OF_EPOCH },
    ...{ voters: nullable(whole), startRound: nullable(whole) },
  }),
  balance: object({
    ...{ kind: word('balance'), ...PROVIDER, address, role: ROLE, block: whole },
    ...{ balanceWei: units, limitWei: units },
  }),
  vote: object({
    ...{ kind: word('vote'), ...OF_EPOCH, vote: VOTE, block: whole, openedAt: nullable(instant) },
    ...{ minutes: nullable(whole), isConcluded: boolean, signedOtherHash: boolean },
  }),
  eligibility: object({
    ...{ kind: word('eligibility'), ...OF_EPOCH },
    ...{ passes: nullable(number), failures: list(text, ENTRIES_MAX) },
  }),
  rewards: object({
    ...{ kind: word('rewards'), ...PROVIDER, block: whole, epochs: list(whole, EPOCHS_MAX) },
    ...{ amountWei: units, expiresAt: nullable(instant) },
  }),
  listing: object({
    ...{ kind: word('listing'), ...PROVIDER, block: whole },
    nodeIds: list(nodeId, ENTRIES_MAX),
  }),
}
export type Kind = keyof typeof CLAIMS
/** The claim of a kind. */
export type ClaimOf<K extends Kind> = Decoded<(typeof CLAIMS)[K]>
export type Claim = { [K in Kind]: ClaimOf<K> }[Kind]

/** Figures that the service has from its stored rounds and from published rewards; the claim is not about them. */
const OTHERS = object({ total: whole, failed: whole })
const COST = object({
  ...{ rounds: whole, ofRounds: whole, amountWei: nullable(units), symbol: text },
  source: nullable(
    object({ rewardEpochId: whole, amountWei: units, weightRatio: nullable(number) }),
  ),
})

const ROUND = object(
  {
    ...{ ...PROVIDER, rewardEpochId: whole, votingRoundId: whole, roundStart: instant },
    ...{ since: instant, firstRoundId: whole, streak: whole, rounds: whole },
  },
  { address, others: OTHERS, cost: COST, ...VALUES },
)
const RATE = object({
  ...{ ...PROVIDER, rewardEpochId: whole, votingRoundId: whole, stage: STAGE },
  ...{ used: number, rate: number, protocolMinimum: number, rounds: whole, done: whole },
  ...{ possible: number, roundsToMiss: whole, roundsLeft: whole, epochEndsAt: instant },
  ...{ budgetEndsAt: nullable(instant), rateSeconds: nullable(whole) },
})
const VOTING = object({
  ...{ ...PROVIDER, rewardEpochId: whole, vote: VOTE, endedAt: instant },
  ...{ openedAt: nullable(instant), publishedAt: nullable(instant) },
  ...{ concludedAt: nullable(instant), signedAt: nullable(instant), signedOtherHash: boolean },
  weightSignedPercent: nullable(number),
})
const PART = word('registered', 'eligible')
const STATUS = object({
  ...{ ...PROVIDER, providerName: nullable(text), registered: boolean },
  ...{ eligible: nullable(boolean), rewardEpochId: whole, eligibilityEpochId: nullable(whole) },
  ...{ passes: nullable(number), failures: list(text, ENTRIES_MAX) },
  ...{ recovered: list(PART, ENTRIES_MAX), lost: PART, blockTime: instant },
})

/** What alerts of these events say: the form of their figures. */
const DATA: Readonly<Record<string, Decoder<Data>>> = {
  'fsp.ftso-commit': ROUND,
  'fsp.ftso-reveal': ROUND,
  'fsp.ftso-signature': ROUND,
  'fsp.fdc-bitvote': ROUND,
  'fsp.fdc-signature': ROUND,
  'fsp.fdc-bitvote-length': ROUND,
  'fsp.fdc-consensus': ROUND,
  'fsp.fdc-submit1': ROUND,
  'fsp.reveal-offence': ROUND,
  'fsp.signature-mismatch': ROUND,
  'fsp.signature-grace': ROUND,
  'fsp.fdc-reveal-offence': ROUND,
  'fsp.mc-anchor': RATE,
  'fsp.mc-fdc': RATE,
  'fsp.tx-failed': object({
    ...{ ...PROVIDER, tx: hash, from: address, role: ROLE, to: address, contract: text },
    ...{ selector, function: text, reason: nullable(text), block: whole },
    ...{ gasUsed: whole, gasLimit: whole },
  }),
  'fsp.fast-updates': object(
    {
      ...{ ...PROVIDER, rewardEpochId: whole, blocksSinceUpdate: whole },
      ...{ lastUpdateBlock: nullable(whole), probabilityOfSilence: chance, threshold: number },
      ...{ sortitionWeight: whole, sampleSize: number, onePercentBlocks: whole },
      ...{ weightShare: number, rule: FAST_UPDATE_RULE, since: instant, gapSeconds: whole },
    },
    {
      ...{ tx: hash, updateBlock: whole, feedsSent: whole, feedCount: whole },
      ...{ isAccepted: boolean, others: OTHERS },
    },
  ),
  'fsp.registration': object(
    {
      ...{ ...PROVIDER, rewardEpochId: whole, openedAt: instant, closesAtEarliest: instant },
      ...{ minutes: whole, isClosed: boolean, preRegistered: nullable(boolean) },
      preRegistrationFailed: boolean,
    },
    { contractsMovedAt: instant },
  ),
  'fsp.not-in-policy': object({
    ...{ ...PROVIDER, rewardEpochId: whole, startVotingRoundId: whole, voters: whole },
    ...{ startsAt: instant, active: boolean },
  }),
  'provider.unregistered': STATUS,
  'provider.eligibility-lost': STATUS,
  'fsp.balance-low': object({
    ...{ ...PROVIDER, role: ROLE, address, balanceWei: units, limitWei: units },
  }),
  'fsp.rewards-unclaimed': object({
    ...{ ...PROVIDER, epochs: list(whole, EPOCHS_MAX), amountWei: units },
    expiresAt: nullable(instant),
  }),
  'fsp.validator-not-listed': object(
    { ...PROVIDER, nodeIds: list(nodeId, ENTRIES_MAX), listed: whole },
    { stakeEndsAt: instant },
  ),
  'signing.uptime-open': VOTING,
  'signing.rewards-open': VOTING,
  'signing.rewards-reminder': VOTING,
  'signing.missed': VOTING,
}

/** Figures of an alert by name. */
export type Data = Readonly<Record<string, unknown>>

const PLACE = object({ number: whole, hash, at: instant })
const NAMED = (of: Decoder<unknown>) =>
  list(object({ name: text, addresses: list(of, ENTRIES_MAX) }), ENTRIES_MAX)
const SOURCES = object({
  contracts: NAMED(address),
  accounts: list(address, ENTRIES_MAX),
  functions: list(object({ name: text, selector }), ENTRIES_MAX),
  events: list(object({ name: text, topic: hash }), ENTRIES_MAX),
})
const TRANSACTION = object({
  ...{ hash, block: whole, blockHash: hash, index: whole, sender: address },
  ...{ receiver: nullable(address), input: bytes, function: nullable(text) },
  frames: list(object({ protocol: whole, round: whole, bytes: whole, payload: bytes }), FEEDS_MAX),
})
export type NamedTransaction = Decoded<typeof TRANSACTION>

const SEVERITY = word('info', 'warning', 'critical')
const anything: Decoder<unknown> = (value) => value
const HEAD = {
  ...{ alertId: whole, event: name, severity: SEVERITY, firedAt: instant, data: anything },
}
const FILE = object({
  ...{ version: whole, ...HEAD, chainId: whole, rule: nullable(text), claim: anything },
  unproven: nullable(word('recovery', 'p-chain', 'other')),
  blocks: nullable(object({ first: nullable(PLACE), last: PLACE })),
  ...{ sources: SOURCES, transactions: list(TRANSACTION, TRANSACTIONS_MAX) },
})

/** What an alert says. */
export interface AlertSaid {
  readonly alertId: number
  readonly event: string
  readonly severity: 'info' | 'warning' | 'critical'
  readonly firedAt: string
  readonly data: Data
}

/** Evidence with a claim. */
export interface Evidence extends AlertSaid {
  readonly chainId: number
  readonly rule: string | null
  readonly claim: Claim
  readonly blocks: {
    readonly first: Decoded<typeof PLACE> | null
    readonly last: Decoded<typeof PLACE>
  }
  readonly transactions: readonly NamedTransaction[]
}

const VERSION = 1

/**
 * Decodes the JSON of evidence.
 *
 * @throws Unchecked for any other form, and for evidence without a claim
 */
export function decodeEvidence(json: string): Evidence {
  const parsed = parseJson(json, 'the file')
  const { version } = (parsed ?? {}) as { readonly version?: unknown }
  if (version !== VERSION) {
    throw new Unchecked(`version ${JSON.stringify(version)} is not known here`)
  }
  const { sources: _, ...file } = FILE(parsed, 'the file')
  const { claim, unproven, blocks } = file
  if (claim === null) {
    throw new Unchecked(`the chain alone does not prove it: ${unproven ?? 'no reason is given'}`)
  }
  if (unproven !== null) throw new Unchecked('the file has a claim and a reason for having none')
  if (blocks === null) throw new Unchecked('the file names no block: read it again')
  return { ...file, blocks, claim: decodeClaim(claim), data: decodeData(file.event, file.data) }
}

/** Decodes a claim by its kind. */
export function decodeClaim(value: unknown): Claim {
  const kind = String((value as { readonly kind?: unknown } | undefined)?.kind)
  // A kind such as `constructor` must not find what every object has.
  if (!Object.hasOwn(CLAIMS, kind))
    throw new Unchecked(`claims of the kind ${kind} are not known here`)
  return CLAIMS[kind as Kind](value, 'the claim')
}

/** Decodes the figures of an alert by its event. */
export function decodeData(event: string, value: unknown): Data {
  const decode = Object.hasOwn(DATA, event) ? DATA[event] : undefined
  if (decode === undefined) throw new Unchecked(`the event ${event} is not known here`)
  return decode(value, 'the alert')
}

/** Decodes the body of a webhook as far as it is compared with a file; it has further properties. */
export function decodeMessage(json: string): AlertSaid {
  const parsed = parseJson(json, 'the message') as Readonly<Record<string, unknown>> | null
  const own = Object.keys(HEAD).map((key) => [key, parsed?.[key]])
  const said = object(HEAD)(Object.fromEntries(own), 'the message')
  return { ...said, data: decodeData(said.event, said.data) }
}
