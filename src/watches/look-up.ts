/**
 * Look-ups for people who have not signed in: the provider or account for an address, a name, or a text with an
 * address. Anybody may look up, so results are cached for a short time, and only a few look-ups run at once.
 */
import type { BlockRef } from '#src/chain/chain.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import type { PolicySnapshot } from '#src/fsp/reader/policies.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { createSharedCache } from '#src/kernel/shared-cache.ts'
import { type AddressProblem, readAddress } from '#src/kernel/typed-address.ts'
import type { Address } from '#src/kernel/units.ts'
import { createWorkLimiter } from '#src/kernel/work-limiter.ts'
import { type AccountHoldings, readAccountHoldings } from './account-holdings.ts'
import type { WatchTypeFacts } from './facts.ts'
import { type CalendarDate, readCalendar, readCalendarPolicies } from './provider-calendar.ts'
import { type ListedProvider, listProviders, ROUNDS_PER_PROVIDER } from './provider-list.ts'
import { type NamedProvider, searchProviders } from './provider-names.ts'
import { readProvidersSnapshot } from './provider-snapshot.ts'
import {
  getPastProvider,
  getProviderView,
  isKnownProvider,
  type ProviderView,
} from './provider-view.ts'
import { undefinedIfUnavailable } from './unavailable.ts'
import { readUsdPrice } from './usd-price.ts'
import { usdCents } from './usd-value.ts'

/** The provider or account at an address. */
export type AddressAnswer =
  /** A provider. The view has a hundred rounds; `name` is the public name, if there is one. */
  | ({
      readonly kind: 'provider'
      readonly view: ProviderView
      readonly name: string | undefined
    } & Awaited<ReturnType<WatchTypeFacts['published']>>)
  /**
   * An account. `balanceWei` is null where the chain returns no balance; `usdCents` is the balance in US dollars, null
   * where the coin has no price, or its feed does not answer soon.
   */
  | {
      readonly kind: 'account'
      readonly address: Address
      readonly balanceWei: bigint | null
      readonly usdCents: bigint | null
      readonly isContract: boolean
      /** What it delegates, stakes and may claim; null if none of it could be read. */
      readonly holdings: AccountHoldings | null
    }
  /** The chain does not answer in time, and nothing about the address is stored. */
  | { readonly kind: 'unavailable'; readonly address: Address }

/** Result of a look-up of a typed text. */
export type LookUpAnswer =
  | AddressAnswer
  /** Providers whose name contains the text. */
  | { readonly kind: 'several'; readonly providers: readonly NamedProvider[] }
  | { readonly kind: 'nothing'; readonly why: AddressProblem }

/** Looks up what people type. */
export interface LookUps {
  /**
   * The provider or account of an address in the text, or else the providers whose name contains the text.
   * @throws errors of the database
   */
  find(text: string): Promise<LookUpAnswer>
  /**
   * The provider or account at an address; a provider as of a voting round, if the round is given and stored.
   * @throws errors of the database
   */
  atAddress(address: Address, round?: number): Promise<AddressAnswer>
  /**
   * Every provider of the last rounds, the signing policy and the published names.
   * @throws errors of the database
   */
  listAll(): Promise<readonly ListedProvider[]>
  /**
   * The dates of a provider by its identity; undefined while the chain does not answer, and on one without the protocol.
   * @throws errors of the database
   */
  calendar(provider: Address): Promise<readonly CalendarDate[] | undefined>
}

interface Deps {
  readonly chain: FspChain
  readonly facts: WatchTypeFacts
  readonly clock: Clock
  readonly confirmations: number
}

const ROUNDS = 100
const COIN_DECIMALS = 18
/** Maximum time for which a look-up waits for its turn and for the chain. */
const ANSWER_MS = 4000
/** Limits of concurrent and of waiting look-ups. Each makes a few requests one after another. */
const TURNS = { runningMax: 6, waitingMax: 60 } as const
/** Time for which an answer is cached. */
const FRESH_MS = 30_000
/** Time for which an answer without data of the chain is cached. */
const RETRY_MS = 5000
/** Default maximum number of cached answers. An answer with all rounds has about 30 KB. */
const CACHED_ANSWERS_MAX = 300

/** Calendars of providers, all made from the same cached signing policies. */
function calendars(deps: Deps): LookUps['calendar'] {
  const policies = createSharedCache<'policies', PolicySnapshot | undefined>(deps.clock, {
    max: 1,
    freshMs: (known) => (known === undefined ? RETRY_MS : MINUTE_MS),
  })
  return async (provider) => {
    const known = await policies.get('policies', () => {
      const signal = AbortSignal.timeout(ANSWER_MS)
      return undefinedIfUnavailable(() => readCalendarPolicies(deps, signal), signal)
    })
    return known && readCalendar(deps, provider, known)
  }
}

/**
 * Creates the look-ups of one process.
 *
 * @param options `cachedMax`: maximum number of cached answers
 */
export function createLookUps(deps: Deps, { cachedMax = CACHED_ANSWERS_MAX } = {}): LookUps {
  const { clock, facts } = deps
  const turns = createWorkLimiter(TURNS)
  const names = createSharedCache<'names', ReadonlyMap<Address, string>>(clock, {
    max: 1,
    freshMs: () => MINUTE_MS,
  })
  const answers = createSharedCache<Address, AddressAnswer>(clock, {
    max: cachedMax,
    freshMs: ({ kind }) => (kind === 'unavailable' ? RETRY_MS : FRESH_MS),
  })
  const named = {
    facts: { providerNames: () => names.get('names', () => facts.providerNames()) },
  }
  const lists = createSharedCache<'list', readonly ListedProvider[]>(clock, {
    max: 1,
    freshMs: () => MINUTE_MS,
  })
  const listAll = () =>
    lists.get('list', async () => {
      const providerNames = await named.facts.providerNames()
      const signal = AbortSignal.timeout(ANSWER_MS)
      const snapshot = await readProvidersSnapshot(deps, ROUNDS_PER_PROVIDER, signal)
      return listProviders(snapshot, providerNames)
    })
  const lookUp = (address: Address) =>
    answers.get(address, async () => {
      const signal = AbortSignal.timeout(ANSWER_MS)
      const run = () => answerOf(deps, named, listAll, address, signal)
      const answer = await undefinedIfUnavailable(() => turns.take(run, signal), signal)
      return answer ?? { kind: 'unavailable', address }
    })
  return {
    async atAddress(address, round) {
      const answer = await lookUp(address)
      return round === undefined ? answer : asOfRound(deps, answer, round)
    },
    listAll,
    calendar: calendars(deps),
    async find(text) {
      const typed = readAddress(text)
      if (typed.ok) return lookUp(typed.value)
      if (typed.reason !== 'no_address') return { kind: 'nothing', why: typed }
      const providers = await searchProviders(named, { text })
      const [first] = providers
      if (first === undefined) return { kind: 'nothing', why: typed }
      const isSame = first.name.toLowerCase() === text.trim().toLowerCase()
      if (providers.length > 1 && !isSame) return { kind: 'several', providers }
      return lookUp(first.provider)
    },
  }
}

/** A provider as of a round. Registration for the next reward epoch is not stored, so that of now is in the view. */
async function asOfRound(
  { facts }: Deps,
  answer: AddressAnswer,
  round: number,
): Promise<AddressAnswer> {
  if (answer.kind !== 'provider') return answer
  const { provider, rewardEpoch, registeredNext, registrationOpensAt } = answer.view
  const view = await getPastProvider({ facts }, { provider, rounds: ROUNDS, until: round })
  if (view.rounds[0]?.id !== round) return answer
  const isSameEpoch = view.rewardEpoch === rewardEpoch
  return {
    ...answer,
    view: { ...view, ...(isSameEpoch && { registeredNext, registrationOpensAt }) },
  }
}

/** @throws AppError upstream when the chain does not answer; the signal's reason when the caller aborts */
async function answerOf(
  deps: Deps,
  named: Parameters<typeof searchProviders>[0],
  listAll: LookUps['listAll'],
  address: Address,
  signal: AbortSignal,
): Promise<AddressAnswer> {
  const { chain, facts, confirmations } = deps
  const view = await getProviderView(deps, { provider: address, rounds: ROUNDS }, signal)
  const [provider] = await searchProviders(named, { text: view.provider })
  if (isKnownProvider(view) || provider !== undefined) {
    const published = await deps.facts.published(view.provider)
    return { kind: 'provider', view, name: provider?.name, ...published }
  }
  const block = await chain.confirmedBlock(confirmations, signal)
  const [balanceWei, isContract, price, holdings] = await Promise.all([
    balanceOf(chain, address, block, signal),
    chain.isContract(address, signal),
    readUsdPrice({ chain, facts }, 'FLR', block, signal),
    readAccountHoldings(deps, listAll, address, block, signal),
  ])
  const isPriced = balanceWei !== null && price !== undefined
  return {
    kind: 'account',
    address,
    balanceWei,
    usdCents: isPriced ? usdCents(balanceWei, COIN_DECIMALS, price) : null,
    isContract,
    holdings,
  }
}

async function balanceOf(
  chain: FspChain,
  address: Address,
  block: BlockRef,
  signal: AbortSignal,
): Promise<bigint | null> {
  const [balance] = await chain.balances([{ address, asset: 'FLR' }], block, signal)
  return balance ?? null
}
