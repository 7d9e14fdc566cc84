import type { Chain, FeedName, PaymentRouterState } from '#src/chain/chain.ts'
import type { Xrpl } from '#src/chain/xrpl/xrpl.ts'
import { servedChain } from '#src/kernel/chains.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Address } from '#src/kernel/units.ts'
import { type AssetKey, DIRECT_ASSET, PAYMENT_ASSETS, type PaymentAsset } from '../price-list.ts'
import type { PaymentSetup } from './model.ts'
import {
  capUnits,
  ONE_DOLLAR,
  paymentAssetOf,
  quotedUnitsFor,
  type UsdPrice,
  usdRateOf,
} from './rules.ts'

/** Current state of one payment asset. */
export interface AssetState {
  readonly asset: PaymentAsset
  /** Destination of payments; undefined when the asset is not configured. */
  readonly place: PaymentDestination | undefined
  /** Whether quotes are possible: the asset is configured, priced, and accepted by the router. */
  readonly available: boolean
  /** Whether the asset's chain is unreachable. Payments are found when the chain responds again. */
  readonly silent: boolean
  readonly routerAllowlisted: boolean
  /** Whether the asset is paused by the router's owner, or because holdings reached their cap. */
  readonly paused: boolean
  readonly price: UsdPrice | undefined
  /** The router, if contract wallets can pay coins through it now. */
  readonly contractPayTo: Address | undefined
  /** Holdings of the asset, where they have a cap. */
  readonly holdingsUnits: bigint | undefined
}

/** Destination of an asset's payments: the router, the address for transfers, or the deposit address. */
export interface PaymentDestination {
  readonly payTo: string
  /** Contract of the token; undefined for coins. */
  readonly token: Address | undefined
}

/** Prices and availability of the payment assets. */
export interface PaymentOptions {
  /**
   * Reads the current state of an asset.
   *
   * @throws AppError upstream `dependency_unavailable`
   */
  read(key: AssetKey, signal?: AbortSignal): Promise<AssetState>
  /** Price of one whole unit; undefined while no price is available. @throws the errors of `read` */
  price(key: AssetKey, signal?: AbortSignal): Promise<UsdPrice | undefined>
  /**
   * All assets in the order of the price list, at most 15 s old. Assets that cannot be read are not
   * available.
   */
  list(): Promise<readonly AssetState[]>
}

/** Dependencies of the payment options. */
export interface PaymentOptionSources {
  readonly chain: Chain
  /** Client of the XRP Ledger; undefined if XRP is not configured. */
  readonly xrpl: Xrpl | undefined
  readonly clock: Clock
  readonly log: Logger
  readonly billing: { readonly enabled: boolean; readonly payments: PaymentSetup }
}

/** Time for which the list is cached, so that not every public request calls the chain. */
const LIST_KEPT_MS = 15_000
/** Maximum time for which the list waits for the chain. */
const LIST_TIMEOUT_MS = 4000

/** Creates payment options that ask the chain, and cache only the list. */
export function createPaymentOptions(sources: PaymentOptionSources): PaymentOptions {
  let cached: { readonly atMs: number; readonly states: Promise<readonly AssetState[]> } | undefined
  return {
    read: (key, signal) => readState(sources, createView(sources, signal), paymentAssetOf(key)),
    price: (key, signal) => readPrice(sources, createView(sources, signal), paymentAssetOf(key)),
    list: () => {
      const nowMs = sources.clock.now().getTime()
      if (cached === undefined || nowMs - cached.atMs >= LIST_KEPT_MS) {
        const next = { atMs: nowMs, states: readAll(sources) }
        cached = next
        // A failure rejects the callers that wait now, and is not cached.
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
        sources.log.warn(
          { asset: asset.key },
          'state of a payment asset cannot be read; the asset is not offered now',
        )
        const isSilent = asset.way !== 'xrpl' || (await isXrplUnreachable(view))
        return closed(asset, placeOf(sources, asset), isSilent)
      }
    }),
  )
}

/** Whether the XRP Ledger is unreachable. XRP is priced on Flare and paid on the XRP Ledger. */
async function isXrplUnreachable(view: View): Promise<boolean> {
  return await view.xrpBalance().then(
    () => false,
    () => true,
  )
}

/** Reads the chain. Feeds and the state of the router are read once, however often they are requested. */
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
  { key, feed }: PaymentAsset,
): Promise<UsdPrice | undefined> {
  if (key === DIRECT_ASSET.key) return ONE_DOLLAR
  if (feed !== null) return view.feed(feed === 'FLR/USD' ? servedChain().feed : feed)
  const micros = billing.payments.serviceTokenUsdMicros
  return micros === undefined ? undefined : { value: micros, decimals: 6 }
}

interface RouterAnswer {
  readonly isAllowed: boolean
  readonly isPaused: boolean
  /**
   * Whether the router accepts the token, and the token has the decimals of the price list; with other
   * decimals its price would be wrong.
   */
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
    log.error(
      { router: payTo },
      'no payment router contract at the configured address; token top-ups are unavailable',
    )
    return undefined
  }
  const isAllowed = state.allowed[tokensOf(billing.payments).indexOf(token)] === true
  const expected = PAYMENT_ASSETS.find(
    (paymentAsset) =>
      paymentAsset.way === 'router' && billing.payments.tokens[paymentAsset.key] === token,
  )
  const isSound = decimals === expected?.decimals
  if (!isSound)
    log.error(
      { token, decimals: decimals ?? null },
      'payment token has other decimals than the price list, or is not a token; it is not accepted',
    )
  return { isAllowed, isPaused: state.paused, isTaken: isAllowed && isSound }
}

/**
 * The router that takes coins from contract wallets; undefined if there is none now. Plain transfers work
 * without a router.
 */
async function readContractPayTo(
  { billing }: PaymentOptionSources,
  view: View,
): Promise<Address | undefined> {
  const state = await view.router()
  return state?.paused === false ? billing.payments.router : undefined
}

/** Reads the holdings of an asset with a cap. */
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

/** Payment destination of an asset, if it is configured. */
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
    // It is quoted nowhere.
    case 'authorization':
      return undefined
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

/**
 * Amount of a quote for these credits at today's price, in the asset's smallest unit, at most 15 s old; undefined while
 * the asset cannot be quoted.
 */
export async function expectedUnits(
  { paymentOptions }: { readonly paymentOptions: PaymentOptions },
  key: AssetKey,
  credits: number,
): Promise<bigint | undefined> {
  const state = (await paymentOptions.list()).find(({ asset }) => asset.key === key)
  if (state?.price === undefined || !state.available || state.paused) return undefined
  return quotedUnitsFor(credits, usdRateOf(key, state.price))
}
