import { resourceEntry } from '#src/billing/metering/offers.ts'
import * as prices from '#src/billing/price-list.ts'
import { paymentAssetOf, symbolOf, unitsForCredits, usdRateOf } from '#src/billing/topups/rules.ts'
import { checkedKey, translate } from '#src/i18n/translate.ts'
import { VERSION } from '#src/kernel/release.ts'
import { JsonObject } from '#src/kernel/units.ts'
import { REGISTRY as WATCH_TYPES } from '#src/watches/types/index.ts'
import type * as pricingOperations from '../rest/pricing.ts'
import type { ExamplesOf, OperationExample } from './define.ts'
import * as story from './story.ts'

type DiscoveryExamples = ExamplesOf<typeof pricingOperations> & {
  readonly getOpenApi: OperationExample
}

/** The documents, abridged: one operation, the signals of one watch type. */
export function discoveryExamples(publicUrl: string): DiscoveryExamples {
  return {
    getOpenApi: { response: description(publicUrl) },
    getPricing: { response: pricing(publicUrl) },
    getWatchType: { response: watchType() },
  }
}

function description(publicUrl: string): JsonObject {
  return {
    openapi: '3.1.0',
    info: { title: translate('en', 'operations:info.title'), version: VERSION },
    servers: [{ url: `${publicUrl}/api/x402` }],
    paths: {
      '/stats': {
        get: {
          operationId: 'getStats',
          summary: translate('en', 'operations:getStats.summary'),
          security: [],
          responses: { 200: { description: translate('en', 'operations:info.success') } },
        },
      },
    },
  }
}

const EXAMPLE_CHAIN = {
  chainId: story.CHAIN_ID,
  chainName: 'flare',
  serviceTokenSymbol: story.SERVICE_TOKEN,
} as const

/** One payment asset, as an example for all. */
const PAID_IN_FLR = {
  asset: paymentAssetOf('FLR'),
  place: { payTo: story.PAY_TO, token: undefined },
  available: true,
  silent: false,
  routerAllowlisted: false,
  paused: false,
  price: story.PRICES.FLR,
  contractPayTo: undefined,
  holdingsUnits: undefined,
} as const

const TYPE = 'wallet-balance'
const SIGNAL = 'balance-change'

const pricing = (publicUrl: string) => ({
  docs: '/docs',
  enabled: true,
  network: 'flare',
  chainId: story.CHAIN_ID,
  usdPer1000CreditsMicros: String(prices.USD_PER_1000_CREDITS_MICROS),
  minTopupCredits: prices.MIN_TOPUP_CREDITS,
  freeTierDailyCalls: prices.FREE_TIER_DAILY_CALLS,
  resources: prices.RESOURCES.map((resource) => ({
    url: `${publicUrl}${prices.resourcePath(resource)}`,
    ...JsonObject.parse(
      resourceEntry(resource, { publicUrl, ...EXAMPLE_CHAIN }, [PAID_IN_FLR], 'en'),
    ),
  })),
  assets: [token('service'), token('WFLR'), token('FXRP')],
  nativeXrp: {
    ...termsOf('XRP'),
    address: story.XRP_ADDRESS,
    note: translate('en', 'operations:note.nativeXrp'),
  },
  nativeFlr: {
    ...termsOf('FLR'),
    payTo: story.PAY_TO,
    note: translate('en', 'operations:note.nativeFlr'),
  },
  watchdog: {
    model: 'slots',
    slotPriceCreditsPer30d: prices.SLOT_PRICE_CREDITS,
    maxSlotsPerWallet: prices.SLOTS_MAX,
    durationDiscounts: prices.DURATION_DISCOUNTS,
    volumeDiscounts: prices.VOLUME_DISCOUNTS,
    uiDurations: prices.OFFERED_PERIODS,
    types: WATCH_TYPES.map(({ name }) => name),
    signalDefinitions: { [TYPE]: [signal()] },
  },
})

function watchType(): JsonObject {
  const words = (part: string) => translate('en', checkedKey(`signals:${TYPE}.${SIGNAL}.${part}`))
  return {
    type: TYPE,
    signals: [
      {
        id: SIGNAL,
        group: 'alerts',
        label: words('label'),
        description: words('description'),
        help: { checked: words('help.checked') },
        events: { alerts: [story.EVENT] },
        defaultEnabled: true,
        parameters: [],
      },
    ],
  }
}

function token(key: prices.PaymentTokenKey): JsonObject {
  const { decimals, bonusBps } = paymentAssetOf(key)
  return {
    symbol: symbolOf(key, story.SERVICE_TOKEN),
    address: story.TOKENS[key],
    decimals,
    bonusBps,
    routerAllowlisted: true,
    ...termsOf(key),
  }
}

function termsOf(key: prices.QuotedAssetKey): JsonObject {
  const { capPerTopup, holdingsCap } = paymentAssetOf(key)
  return {
    available: true,
    amountPer1000Credits: String(unitsForCredits(1000, usdRateOf(key, story.PRICES[key]))),
    capPerTopup: capPerTopup && String(capPerTopup),
    holdingsCap: holdingsCap && String(holdingsCap),
    paused: false,
  }
}

function signal(): JsonObject {
  const prefix = `signals:${TYPE}.${SIGNAL}`
  const group = 'signals:group.alerts'
  return {
    id: SIGNAL,
    help: {
      checked: text(`${prefix}.help.checked`),
      why: text(`${prefix}.help.why`),
      causes: text(`${prefix}.help.causes`),
      action: text(`${prefix}.help.action`),
    },
    group: { id: 'alerts', help: text(`${group}.help`), ...text(`${group}.label`) },
    label: text(`${prefix}.label`),
    description: text(`${prefix}.description`),
    events: { alerts: [story.EVENT] },
    defaultEnabled: true,
  }
}

function text(key: string): { readonly key: string; readonly def: string } {
  return { key, def: translate('en', checkedKey(key)) }
}
