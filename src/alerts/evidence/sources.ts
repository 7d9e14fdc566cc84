/** Contracts, functions and events that decide a claim. Pure. */
import { FUNCTION_OF_SELECTOR } from '#src/fsp/protocol/framing.ts'
import type { RoundCheck } from '#src/fsp/protocol/verdict.ts'
import { ROUND_TOPICS } from '#src/fsp/reader/round-events.ts'
import { VOTE_TOPICS } from '#src/fsp/reader/signing-protocol.ts'
import { Address, Hash, type JsonObject } from '#src/kernel/units.ts'
import type { EvidenceClaim } from '#src/watches/evidence-model.ts'
import type { EvidenceSources } from './model.ts'

type SubmitFunction = (typeof FUNCTION_OF_SELECTOR)[keyof typeof FUNCTION_OF_SELECTOR]

/** Sources of a claim: contracts by registry name, submit functions, and events by name. */
interface ClaimSources {
  readonly contracts: readonly string[]
  readonly functions: readonly SubmitFunction[]
  readonly events: EvidenceSources['events']
}

const RELAYED = { name: 'ProtocolMessageRelayed', topic: ROUND_TOPICS.relayed }
const REQUESTED = { name: 'AttestationRequest', topic: ROUND_TOPICS.requested }
const UPDATED = { name: 'FastUpdateFeedsSubmitted', topic: ROUND_TOPICS.updated }
const REGISTRATIONS = [
  { name: 'VoterRegistered', topic: ROUND_TOPICS.registered },
  { name: 'VoterRegistered', topic: ROUND_TOPICS.formerlyRegistered },
  { name: 'VoterRemoved', topic: ROUND_TOPICS.removed },
  { name: 'VoterRemoved', topic: ROUND_TOPICS.formerlyRemoved },
]
const VOTES = {
  uptime: { name: 'UptimeVoteSigned', topic: VOTE_TOPICS.uptime },
  rewards: { name: 'RewardsSigned', topic: VOTE_TOPICS.rewards },
}

/** Submit functions by check; the FDC is judged by requests and results, too. */
const FUNCTIONS: Readonly<Record<RoundCheck, readonly SubmitFunction[]>> = {
  commit: ['submit1'],
  strayCommit: ['submit1'],
  reveal: ['submit1', 'submit2'],
  revealOffence: ['submit1', 'submit2'],
  signature: ['submitSignatures'],
  mismatch: ['submitSignatures'],
  grace: ['submitSignatures'],
  bitVote: ['submit2'],
  bitVoteLength: ['submit2'],
  consensus: ['submit2', 'submitSignatures'],
  fdcSignature: ['submit2', 'submitSignatures'],
  fdcOffence: ['submit2', 'submitSignatures'],
  fdcMismatch: ['submitSignatures'],
  fdcGrace: ['submitSignatures'],
  feedValues: ['submit1', 'submit2'],
}
/** Checks of the commit and the reveal, which do not depend on events. */
const WITHOUT_EVENTS: readonly RoundCheck[] = [
  'commit',
  'strayCommit',
  'reveal',
  'revealOffence',
  'feedValues',
]
const OF_FDC: readonly RoundCheck[] = [
  'bitVote',
  'bitVoteLength',
  'consensus',
  'fdcSignature',
  'fdcOffence',
  'fdcMismatch',
  'fdcGrace',
]
const ROUND_CONTRACTS = ['FlareSystemsManager', 'VoterRegistry', 'Submission']

/** Returns the contracts, functions and events that decide a claim. */
export function claimSources(claim: EvidenceClaim): ClaimSources {
  switch (claim.kind) {
    case 'round':
      return roundSources(claim.checks)
    case 'rate':
      return roundSources(
        claim.condition === 'mc-anchor' ? ['revealOffence'] : ['bitVote', 'fdcSignature'],
      )
    case 'silence':
      return { contracts: ['FastUpdater', 'VoterRegistry'], functions: [], events: [UPDATED] }
    case 'update':
      return {
        contracts: ['Submission', 'FastUpdater', 'FastUpdatesConfiguration', 'VoterRegistry'],
        functions: [],
        events: [UPDATED],
      }
    case 'registration':
      return {
        contracts: ['FlareSystemsManager', 'VoterRegistry'],
        functions: [],
        events: REGISTRATIONS,
      }
    case 'membership':
    case 'eligibility':
      return { contracts: ['FlareSystemsManager', 'VoterRegistry'], functions: [], events: [] }
    case 'vote':
      return { contracts: ['FlareSystemsManager'], functions: [], events: [VOTES[claim.vote]] }
    case 'rewards':
      return {
        contracts: ['FlareSystemsManager', 'VoterRegistry', 'RewardManager'],
        functions: [],
        events: [],
      }
    case 'listing':
      return { contracts: ['EntityManager'], functions: [], events: [] }
    case 'failed-call':
    case 'balance':
      return { contracts: [], functions: [], events: [] }
  }
}

function roundSources(checks: readonly RoundCheck[]): ClaimSources {
  const isFdc = checks.some((check) => OF_FDC.includes(check))
  const hasEvents = checks.some((check) => !WITHOUT_EVENTS.includes(check))
  return {
    contracts: [...ROUND_CONTRACTS, ...(hasEvents ? ['Relay'] : []), ...(isFdc ? ['FdcHub'] : [])],
    functions: [...new Set(checks.flatMap((check) => FUNCTIONS[check]))],
    events: [...(hasEvents ? [RELAYED] : []), ...(isFdc ? [REQUESTED] : [])],
  }
}

/** Functions with their selectors. */
export function selectorsOf(functions: readonly SubmitFunction[]): EvidenceSources['functions'] {
  return Object.entries(FUNCTION_OF_SELECTOR).flatMap(([selector, name]) =>
    functions.includes(name) ? [{ name, selector: `0x${selector}` }] : [],
  )
}

/** Properties of an alert that name a transaction. */
const TRANSACTIONS = ['tx', 'submit1Tx', 'submit2Tx'] as const

/** Hashes of the transactions that an alert names. */
export function transactionHashesIn(data: JsonObject): readonly Hash[] {
  const hashes = TRANSACTIONS.flatMap((name) => Hash.safeParse(data[name]).data ?? [])
  return [...new Set(hashes)]
}

/** Properties of an alert that name an account of the provider. */
const ACCOUNTS = ['provider', 'address', 'from', 'expectedSigner'] as const

/** The provider's accounts that an alert names. */
export function accountsOf(data: JsonObject): readonly Address[] {
  const addresses = ACCOUNTS.flatMap((name) => Address.safeParse(data[name]).data ?? [])
  return [...new Set(addresses)]
}

/** Maximum number of rounds between the beginning and the end of a streak; longer streaks are cut. */
const ROUNDS_MAX = 60

/**
 * Beginning of a claim: a time in epoch seconds, or the number of its first block; undefined if the claim
 * needs only the last block.
 */
export function claimBeginning(
  claim: EvidenceClaim,
  data: JsonObject,
): { readonly seconds: number } | { readonly block: number } | undefined {
  switch (claim.kind) {
    case 'round': {
      const rounds = Math.min(claim.round - claim.firstRound, ROUNDS_MAX)
      const since = secondsOf(rounds < claim.round - claim.firstRound ? undefined : data['since'])
      const start = since ?? secondsOf(data['roundStart'])
      return start === undefined ? undefined : { seconds: start }
    }
    case 'silence':
      return { block: (claim.lastUpdateBlock ?? claim.block - claim.blocksSinceUpdate) + 1 }
    case 'registration':
      return { seconds: claim.openedAt.getTime() / 1000 }
    case 'vote':
      return claim.isConcluded || claim.openedAt === null
        ? undefined
        : { seconds: claim.openedAt.getTime() / 1000 }
    case 'rate':
    case 'failed-call':
    case 'update':
    case 'membership':
    case 'balance':
    case 'eligibility':
    case 'rewards':
    case 'listing':
      return undefined
  }
}

function secondsOf(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms / 1000
}
