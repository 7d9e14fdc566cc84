import { z } from 'zod'
import { Offer, resourceEntry } from '#src/billing/metering/offers.ts'
import * as prices from '#src/billing/price-list.ts'
import type { AssetState } from '#src/billing/topups/payment-options.ts'
import { symbolOf, unitsForCredits, usdRateOf } from '#src/billing/topups/rules.ts'
import { checkedKey, translate } from '#src/i18n/translate.ts'
import { SIGNAL_GROUPS } from '#src/kernel/signal-group.ts'
import { ZERO_ADDRESS } from '#src/kernel/units.ts'
import { ParameterValue } from '#src/watches/model.ts'
import type { Parameter, SignalDefinition } from '#src/watches/signal.ts'
import { REGISTRY as WATCH_TYPES } from '#src/watches/types/index.ts'
import type { App } from '../define.ts'

/** A text by its key, with the English text as the definition. */
const Text = z.object({ key: z.string(), def: z.string() }).meta({ id: 'Text' })

const AssetTerms = {
  available: z.boolean(),
  amountPer1000Credits: z.string(),
  capPerTopup: z.string().nullable(),
  holdingsCap: z.string().nullable(),
  paused: z.boolean(),
}

const PaymentAsset = z
  .object({
    symbol: z.string(),
    address: z.string(),
    decimals: z.int(),
    bonusBps: z.int(),
    routerAllowlisted: z.boolean(),
    ...AssetTerms,
  })
  .meta({ id: 'PaymentAsset' })

const Resource = z
  .object({
    resource: z.enum(prices.RESOURCES),
    url: z.url().nullable().meta({ description: 'operations:field.resourceUrl' }),
    priceCredits: z.int().meta({ description: 'operations:field.callPrice' }),
    description: z.string(),
    accepts: z.array(Offer).meta({ description: 'operations:field.offers' }),
  })
  .meta({ id: 'MeteredResource' })

/** A parameter of a signal, without its texts. */
export const ParameterFields = {
  key: z.string(),
  type: z.enum(['integer', 'number', 'boolean']),
  default: ParameterValue,
  min: z.number().optional(),
  max: z.number().optional(),
  step: z.number().optional(),
}

const ParameterDefinition = z
  .object({ ...ParameterFields, label: Text, help: Text })
  .meta({ id: 'ParameterDefinition' })

const SignalEntry = z
  .object({
    id: z.string(),
    help: z.object({ checked: Text, why: Text, causes: Text, action: Text }),
    group: z.object({ id: z.enum(SIGNAL_GROUPS), help: Text, key: z.string(), def: z.string() }),
    label: Text,
    description: Text,
    events: z.object({ alerts: z.array(z.string()), recovery: z.string().optional() }),
    defaultEnabled: z.boolean(),
    recovery: z.object({ defaultEnabled: z.boolean() }).optional(),
    parameters: z.array(ParameterDefinition).optional(),
  })
  .meta({ id: 'SignalDefinition' })

/** Response of `GET /pricing`. */
export const PricingDocument = z
  .object({
    docs: z.string(),
    enabled: z.boolean(),
    network: z.string(),
    chainId: z.int(),
    usdPer1000CreditsMicros: z.string(),
    minTopupCredits: z.int(),
    freeTierDailyCalls: z.int(),
    resources: z.array(Resource),
    assets: z.array(PaymentAsset),
    nativeXrp: z.object({ ...AssetTerms, address: z.string(), note: z.string() }),
    nativeFlr: z.object({ ...AssetTerms, payTo: z.string(), note: z.string() }),
    watchdog: z.object({
      model: z.literal('slots'),
      slotPriceCreditsPer30d: z.int(),
      maxSlotsPerWallet: z.int(),
      durationDiscounts: z.array(z.object({ minPeriods: z.int(), discountBps: z.int() })),
      volumeDiscounts: z.array(z.object({ minQuantity: z.int(), discountBps: z.int() })),
      uiDurations: z.array(z.int()),
      types: z.array(z.string()),
      signalDefinitions: z.record(z.string(), z.array(SignalEntry)),
    }),
  })
  .meta({ id: 'PricingDocument' })
export type PricingDocument = z.output<typeof PricingDocument>

/** The document without its catalogue of signals, which is most of it. */
export function withoutCatalogue(document: PricingDocument): PricingDocument {
  return { ...document, watchdog: { ...document.watchdog, signalDefinitions: {} } }
}

/**
 * Prices, capacity and the signal catalogue, from the payment options, the price list and the
 * registries.
 */
export async function pricingDocument(
  app: Pick<App, 'billing' | 'chainId' | 'paymentOptions' | 'publicUrl'>,
): Promise<PricingDocument> {
  const { billing } = app
  const states = await app.paymentOptions.list()
  const context = { publicUrl: app.publicUrl, chainId: app.chainId, ...billing }
  return {
    docs: '/docs',
    enabled: billing.enabled,
    network: billing.chainName,
    chainId: app.chainId,
    usdPer1000CreditsMicros: String(prices.USD_PER_1000_CREDITS_MICROS),
    minTopupCredits: prices.MIN_TOPUP_CREDITS,
    freeTierDailyCalls: prices.FREE_TIER_DAILY_CALLS,
    resources: prices.RESOURCES.map((resource) => ({
      url: billing.resources.includes(resource)
        ? `${app.publicUrl}${prices.resourcePath(resource)}`
        : null,
      ...resourceEntry(resource, context, states, 'en'),
    })),
    assets: states
      .filter(({ asset }) => asset.way === 'router')
      .map((state) => ({
        symbol: symbolOf(state.asset.key, billing.serviceTokenSymbol),
        address: state.place?.token ?? ZERO_ADDRESS,
        decimals: state.asset.decimals,
        bonusBps: state.asset.bonusBps,
        routerAllowlisted: state.routerAllowlisted,
        ...assetTerms(state),
      })),
    nativeXrp: {
      ...assetTerms(stateOf(states, 'XRP')),
      address: stateOf(states, 'XRP').place?.payTo ?? '',
      note: translate('en', 'operations:note.nativeXrp'),
    },
    nativeFlr: {
      ...assetTerms(stateOf(states, 'FLR')),
      payTo: stateOf(states, 'FLR').place?.payTo ?? ZERO_ADDRESS,
      note: translate('en', 'operations:note.nativeFlr'),
    },
    watchdog: {
      model: 'slots',
      slotPriceCreditsPer30d: prices.SLOT_PRICE_CREDITS,
      maxSlotsPerWallet: prices.SLOTS_MAX,
      durationDiscounts: [...prices.DURATION_DISCOUNTS],
      volumeDiscounts: [...prices.VOLUME_DISCOUNTS],
      uiDurations: [...prices.OFFERED_PERIODS],
      types: shownTypes(billing).map(({ name }) => name),
      signalDefinitions: Object.fromEntries(
        shownTypes(billing).map(({ name, signals }) => [
          name,
          signals.map((signal) => definition(name, signal)),
        ]),
      ),
    },
  }
}

/** Watch types that are offered; watches on credits are left out if billing is off. */
export function shownTypes({ enabled }: App['billing']) {
  return WATCH_TYPES.filter(({ reads }) => reads === 'chain' || enabled)
}

function stateOf(states: readonly AssetState[], key: prices.AssetKey): AssetState {
  const state = states.find(({ asset }) => asset.key === key)
  if (state === undefined) throw new Error(`no payment asset ${key}`)
  return state
}

/** Terms of an asset. Without a possible quote it is not available, and its price is 0. */
function assetTerms({ asset, available, paused, price }: AssetState) {
  const amount = available && price ? unitsForCredits(1000, usdRateOf(asset.key, price)) : undefined
  return {
    available: available && amount !== undefined,
    amountPer1000Credits: String(amount ?? 0),
    capPerTopup: asset.capPerTopup === null ? null : String(asset.capPerTopup),
    holdingsCap: asset.holdingsCap === null ? null : String(asset.holdingsCap),
    paused,
  }
}

function definition(type: string, signal: SignalDefinition): z.output<typeof SignalEntry> {
  const prefix = `signals:${type}.${signal.id}`
  const group = `signals:group.${signal.group}`
  return {
    id: signal.id,
    help: {
      checked: text(`${prefix}.help.checked`),
      why: text(`${prefix}.help.why`),
      causes: text(`${prefix}.help.causes`),
      action: text(`${prefix}.help.action`),
    },
    group: { id: signal.group, help: text(`${group}.help`), ...text(`${group}.label`) },
    label: text(`${prefix}.label`),
    description: text(`${prefix}.description`),
    events: {
      alerts: [...signal.events.alerts],
      ...(signal.events.recovery !== undefined && { recovery: signal.events.recovery }),
    },
    defaultEnabled: signal.defaultEnabled,
    ...(signal.events.recovery !== undefined && { recovery: { defaultEnabled: true } }),
    ...(signal.parameters.length > 0 && {
      parameters: signal.parameters.map((parameter) => parameterDefinition(prefix, parameter)),
    }),
  }
}

function parameterDefinition(
  prefix: string,
  parameter: Parameter,
): z.output<typeof ParameterDefinition> {
  const key = `${prefix}.${parameter.key}`
  const { unit: _unit, ...shown } = { unit: undefined, ...parameter }
  return { ...shown, label: text(`${key}.label`), help: text(`${key}.help`) }
}

function text(key: string): { key: string; def: string } {
  return { key, def: translate('en', checkedKey(key)) }
}
