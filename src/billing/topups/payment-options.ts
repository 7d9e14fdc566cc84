import type { Chain, FeedName, PaymentRouterState } from '#src/chain/chain.ts'
import type { Xrpl } from '#src/chain/xrpl.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Address } from '#src/kernel/units.ts'
import { type AssetKey, PAYMENT_ASSETS, type PaymentAsset } from '../price-list.ts'
import type { PaymentSetup } from './model.ts'
import { assetOf, capUnits, type UsdPrice } from './rules.ts'

/** What can be said now of one way to pay. */
export interface AssetState {
  readonly asset: PaymentAsset
  /** Where it is paid to; undefined when this service is not set up for it. */
  readonly place: PaymentDestination | undefined
  /** Quotes can be had: it is set up, priced, and taken by the router. */
  readonly available: boolean
  /** The chain it is paid on does not answer: payments are found when it does again. */
  readonly silent: boolean
  readonly routerAllowlisted: boolean
  /** By the router's owner, or because we hold as much as we may. */
  readonly paused: boolean
  readonly price: UsdPrice | undefined
  /** The router, where contract wallets can pay coins through it now. */
  readonly contractPayTo: Address | undefined
  /** What we hold of it, where that has a cap. */
  readonly holdingsUnits: bigint | undefined
}

/** Where an asset goes: the router, the address for transfers, or the deposit address. */
export interface PaymentDestination {
  readonly payTo: string
  /** The token's contract; undefined for coins. */
  readonly token: Address | undefined
}

/** Prices and availability of the ways to pay. */
export interface PaymentOptions {
  /**
   * As it is at this moment.
   *
   * @throws AppError upstream `dependency_unavailable`
   */
  read(key: AssetKey, signal?: AbortSignal): Promise<AssetState>
  /** What one whole unit is worth; undefined while nobody knows. @throws as `read` */
  price(key: AssetKey, signal?: AbortSignal): Promise<UsdPrice | undefined>
  /** All of them in the order of the price list, at most 15 s old. What cannot be read is not available. */
  list(): Promise<readonly AssetState[]>
}

/** What a market is made of. */
export interface PaymentOptionSources {
  readonly chain: Chain
  /** Undefined: XRP is not set up. */
  readonly xrpl: Xrpl | undefined
  readonly clock: Clock
  readonly log: Logger
  readonly billing: { readonly enabled: boolean; readonly payments: PaymentSetup }
}

/** How old the list may be: a public reading must not cost calls to the chain each time. */
const LIST_KEPT_MS = 15_000
/** How long the list waits for the chain. */
const LIST_TIMEOUT_MS = 4000

/** A market that asks the chain, and remembers only the list. */
export function createPaymentOptions(sources: PaymentOptionSources): PaymentOptions {
  let cached: { readonly atMs: number; readonly states: Promise<readonly AssetState[]> } | undefined
  return {
    read: (key, signal) => readState(sources, createView(sources, signal), assetOf(key)),
    price: (key, signal) => readPrice(sources, createView(sources, signal), assetOf(key)),
    list: () => {
      const nowMs = sources.clock.now().getTime()
      if (cached === undefined || nowMs - cached.atMs >= LIST_KEPT_MS) {
        const next = { atMs: nowMs, states: readAll(sources) }
        cached = next
        // A failure is told to those who wait for it, and to nobody later.
        next.states.catch(() => {
          if (cached === next) cached = undefined
        })
      }
      return cached.states
    },
  }
}

function readAll(sources: PaymentOptionSources): Promise<readonly AssetState[]> {
  const view = createView(sources, AbortSignal.timeout(LIST_TIMEOUT_MS))
  return Promise.all(
    PAYMENT_ASSETS.map(async (asset) => {
      try {
        return await readState(sources, view, asset)
      } catch (error) {
        const isDown = error instanceof AppError && error.kind === 'upstream'
        const isLate = error instanceof Error && error.name === 'TimeoutError'
        if (!isDown && !isLate) throw error
        sources.log.warn({ asset: asset.key }, 'payment asset cannot be read')
        const isSilent = asset.way !== 'xrpl' || (await isXrplSilent(view))
        return closed(asset, placeOf(sources, asset), isSilent)
      }
    }),
  )
}

/** What XRP is priced by is on another chain than what it is paid on. */
async function isXrplSilent(view: View): Promise<boolean> {
  return await view.xrpBalance().then(
    () => false,
    () => true,
  )
}

/** Answers of the chain, each asked for once. */
interface View {
  feed(name: FeedName): Promise<UsdPrice | undefined>
  router(): Promise<PaymentRouterState | undefined>
  decimals(token: Address): Promise<number | undefined>
  tokenBalance(token: Address, holder: Address): Promise<bigint | undefined>
  xrpBalance(): Promise<bigint>
}

function createView({ chain, xrpl, billing }: PaymentOptionSources, signal?: AbortSignal): View {
  const feeds = new Map<FeedName, Promise<UsdPrice | undefined>>()
  let router: Promise<PaymentRouterState | undefined> | undefined
  const { payments } = billing
  return {
    feed: (name) => {
      const price = feeds.get(name) ?? chain.feedPrice(name, signal)
      feeds.set(name, price)
      return price
    },
    router: () => {
      if (payments.router === undefined) return Promise.resolve(undefined)
      router ??= chain.routerState(payments.router, tokensOf(payments), signal)
      return router
    },
    decimals: async (token) => (await chain.assetInfo(token, signal))?.decimals,
    tokenBalance: async (token, holder) => {
      const tip = await chain.confirmedBlock(1, signal)
      const [units] = await chain.balances([{ address: holder, asset: token }], tip, signal)
      return units
    },
    xrpBalance: () => xrpl?.balanceUnits(signal) ?? Promise.resolve(0n),
  }
}

/** Tokens in the order in which the router is asked about them. */
function tokensOf({ tokens }: PaymentSetup): readonly Address[] {
  return Object.values(tokens).filter((token) => token !== undefined)
}

async function readState(
  sources: PaymentOptionSources,
  view: View,
  asset: PaymentAsset,
): Promise<AssetState> {
  const place = placeOf(sources, asset)
  if (place === undefined || !sources.billing.enabled) return closed(asset, place)
  const [price, router, holdingsUnits, contractPayTo] = await Promise.all([
    readPrice(sources, view, asset),
    asset.way === 'router' ? readRouter(sources, view, place) : undefined,
    readHoldings(view, asset, place),
    asset.way === 'native' ? readContractPayTo(sources, view) : undefined,
  ])
  const isTaken = asset.way !== 'router' || router?.isTaken === true
  const cap = capUnits(asset, 'holdingsCap')
  const isFull = cap !== undefined && holdingsUnits !== undefined && holdingsUnits >= cap
  const isCounted = cap === undefined || holdingsUnits !== undefined
  return {
    asset,
    place,
    available: price !== undefined && isTaken && isCounted,
    silent: false,
    routerAllowlisted: router?.isAllowed === true,
    paused: router?.isPaused === true || isFull,
    price,
    contractPayTo,
    holdingsUnits,
  }
}

async function readPrice(
  { billing }: PaymentOptionSources,
  view: View,
  { feed }: PaymentAsset,
): Promise<UsdPrice | undefined> {
  if (feed !== null) return view.feed(feed)
  const micros = billing.payments.serviceTokenUsdMicros
  return micros === undefined ? undefined : { value: micros, decimals: 6 }
}

interface RouterAnswer {
  readonly isAllowed: boolean
  readonly isPaused: boolean
  /** Allowed, and counted as the price list says: anything else would be priced wrongly. */
  readonly isTaken: boolean
}

async function readRouter(
  { billing, log }: PaymentOptionSources,
  view: View,
  { token, payTo }: PaymentDestination,
): Promise<RouterAnswer | undefined> {
  if (token === undefined) return undefined
  const [state, decimals] = await Promise.all([view.router(), view.decimals(token)])
  if (state === undefined) {
    log.error({ router: payTo }, 'payment router is none')
    return undefined
  }
  const isAllowed = state.allowed[tokensOf(billing.payments).indexOf(token)] === true
  const expected = PAYMENT_ASSETS.find(
    (one) => one.way === 'router' && billing.payments.tokens[one.key] === token,
  )
  const isSound = decimals === expected?.decimals
  if (!isSound) log.error({ token, decimals: decimals ?? null }, 'payment token is another one')
  return { isAllowed, isPaused: state.paused, isTaken: isAllowed && isSound }
}

/** Undefined where there is no router that takes coins now. Coins can be paid without one all the same. */
async function readContractPayTo(
  { billing }: PaymentOptionSources,
  view: View,
): Promise<Address | undefined> {
  const state = await view.router()
  return state?.takesCoins === true && !state.paused ? billing.payments.router : undefined
}

/** Only what has a cap is looked at. */
async function readHoldings(
  view: View,
  asset: PaymentAsset,
  { token }: PaymentDestination,
): Promise<bigint | undefined> {
  if (asset.holdingsCap === null) return undefined
  if (token === undefined) return view.xrpBalance()
  const router = await view.router()
  return router && view.tokenBalance(token, router.treasury)
}

/** Where an asset is paid to, if this service is set up for it. */
function placeOf(
  { billing, xrpl }: Pick<PaymentOptionSources, 'billing' | 'xrpl'>,
  asset: PaymentAsset,
): PaymentDestination | undefined {
  const { router, nativePayTo, tokens, xrpDepositAddress } = billing.payments
  switch (asset.way) {
    case 'router': {
      const token = tokens[asset.key]
      return router && token && { payTo: router, token }
    }
    case 'native':
      return nativePayTo && { payTo: nativePayTo, token: undefined }
    case 'xrpl':
      return xrpl && xrpDepositAddress !== undefined
        ? { payTo: xrpDepositAddress, token: undefined }
        : undefined
    default:
      return asset satisfies never
  }
}

function closed(
  asset: PaymentAsset,
  place: PaymentDestination | undefined,
  silent = false,
): AssetState {
  return {
    asset,
    place,
    available: false,
    silent,
    routerAllowlisted: false,
    paused: false,
    price: undefined,
    contractPayTo: undefined,
    holdingsUnits: undefined,
  }
}
