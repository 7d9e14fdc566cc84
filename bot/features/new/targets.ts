/** Targets of a new watch: offered targets, typed targets, and their canonical form. */

import { symbolOf } from '#src/billing/topups/rules.ts'
import { shortAddress } from '#src/i18n/format.ts'
import { typed } from '#src/i18n/translate.ts'
import { canonicalJson } from '#src/kernel/canonical-json.ts'
import { AppError } from '#src/kernel/errors.ts'
import { Label } from '#src/kernel/label.ts'
import { readAddress } from '#src/kernel/typed-address.ts'
import { Address } from '#src/kernel/units.ts'
import { listFeeds, resolveTarget } from '#src/operations/chat/previews.ts'
import { listNamedProviders } from '#src/operations/pages/look-ups.ts'
import type { TargetField } from '#src/watches/form.ts'
import type { Watch } from '#src/watches/model.ts'
import { ALL_ASSETS } from '#src/watches/types/own-coin.ts'
import { undefinedIfUnavailable } from '#src/watches/unavailable.ts'
import type { BotContext, ChatState, Membership } from '../../core/context.ts'
import { sentenceOf } from '../../core/error-sentences.ts'
import type { Refusal } from '../../core/session.ts'
import { readFeed } from '../../core/typed-input.ts'
import { allWatches } from '../../core/watches.ts'
import { cut } from '../../views/fields.ts'
import { textHtml } from '../../views/markup.ts'
import { addressRefusal } from '../../views/refusals.ts'
import { formOf, propertyOf } from '../../views/watch-facts.ts'
import { findTypedProvider, providersNamed, readProvider } from '../provider/search.ts'
import { type Candidate, changeDraft, type Draft, type Preview } from './draft.ts'
import type { OfferedAsset } from './steps-view.ts'

/** Result of a choice of a target. */
export type TargetResult =
  | { readonly ok: true; readonly preview: Preview }
  | { readonly ok: false; readonly refusal: Refusal }

const CANDIDATES_MAX = 6
/** Button value of a typed token. */
export const TYPED_TOKEN = 'token'
/** Button value of all assets. */
const ALL = 'all'
/** Popular feeds, in this order, as far as the chain has them. */
const POPULAR = ['FLR/USD', 'BTC/USD', 'ETH/USD', 'XRP/USD', 'SGB/USD', 'DOGE/USD']

function fieldOf({ values }: Draft): TargetField | undefined {
  return formOf(values.type)?.target[0]
}

function assetField({ values }: Draft): TargetField | undefined {
  return formOf(values.type)?.target.find(({ kind }) => kind === 'asset')
}

/**
 * The first offered targets: the wallet itself and targets of its watches; popular feeds; or else the first
 * providers by name.
 */
export async function candidatesOf(
  ctx: ChatState,
  draft: Draft,
  names: readonly Candidate[],
): Promise<readonly Candidate[]> {
  const field = fieldOf(draft)
  if (field === undefined) return []
  if (field.kind === 'feed') {
    const wanted = [...new Set([...draft.values.nearest, ...POPULAR])]
    const usual = wanted.flatMap((name) => names.find((candidate) => candidate.name === name) ?? [])
    return usual.length > 0 ? usual : names.slice(0, CANDIDATES_MAX)
  }
  const own = { name: ctx.t('bot:new.myWallet'), address: draft.wallet }
  const others = ctx.links
    .filter(({ wallet }) => wallet !== draft.wallet)
    .map(({ wallet }) => ({ name: shortAddress(wallet), address: wallet }))
  const watched = (await allWatches(ctx)).flatMap((watch) => addressIn(watch, field))
  const isProvider = field.kind === 'provider'
  const meant = isProvider ? await namesOf(ctx, draft.values.nearest) : []
  const wallets = isProvider ? await knownProviders(ctx, [own, ...others]) : [own, ...others]
  const all = [...meant, ...wallets, ...watched]
  const distinct = all.filter(
    ({ address }, index) => all.findIndex((candidate) => candidate.address === address) === index,
  )
  if (isProvider && distinct.length === 0) return names.slice(0, CANDIDATES_MAX)
  return distinct
    .slice(0, CANDIDATES_MAX)
    .map(({ name, address }) => ({ name, target: { [field.key]: address } }))
}

/** The wallets that are data providers; empty while the chain cannot be read. */
async function knownProviders<T extends { readonly address: string }>(
  ctx: ChatState,
  wallets: readonly T[],
): Promise<readonly T[]> {
  const isKnown = async ({ address }: T) => {
    const provider = Address.safeParse(address)
    if (!provider.success) return false
    const read = await undefinedIfUnavailable(() => readProvider(ctx, provider.data, 20))
    return read?.isKnown === true && !read.view.stale
  }
  const known = await Promise.all(wallets.map(isKnown))
  return wallets.filter((_, index) => known[index])
}

/** The providers with these identities that have a public name, by that name. */
async function namesOf(ctx: ChatState, identities: readonly string[]) {
  const found = await Promise.all(identities.map((identity) => providersNamed(ctx, identity)))
  return found.flat().map(({ provider, name }) => ({ name, address: provider }))
}

/** The address of a watch's target, with the watch's name, if the target is of the same kind. */
function addressIn(watch: Watch, { kind, key }: TargetField) {
  const isSame = formOf(watch.type)?.target.some(
    (targetField) => targetField.kind === kind && targetField.key === key,
  )
  const address = isSame ? propertyOf(watch.target, key) : undefined
  return typeof address === 'string' ? [{ name: watch.label, address }] : []
}

/** The full list of targets, for browsing; empty if it is unavailable. */
export async function listedNames(ctx: ChatState, draft: Draft): Promise<readonly Candidate[]> {
  const field = fieldOf(draft)
  if (field?.kind === 'provider') {
    const { data } = await ctx.call(listNamedProviders)
    return data.map(({ provider, name }) => ({ name, target: { [field.key]: provider } }))
  }
  if (field?.kind !== 'feed') return []
  const { data } = await ctx.call(listFeeds)
  return data.map((name) => ({ name, target: { [field.key]: name } }))
}

/** The assets that are offered for a balance; the chosen asset has a tick. */
export function assetsOf(ctx: ChatState, draft: Draft): readonly OfferedAsset[] {
  const field = assetField(draft)
  if (field === undefined) return []
  const chosen = String(draft.values.parts[field.key] ?? 'FLR')
  const { tokens } = ctx.app.billing.payments
  const paymentTokens = (['WFLR', 'FXRP'] as const).filter((key) => tokens[key] !== undefined)
  const offered = (['FLR', ...paymentTokens] as const).map((value) => ({
    value,
    label: symbolOf(value, ctx.app.billing.serviceTokenSymbol),
    isChosen: value === chosen,
  }))
  const all = { value: ALL, label: ctx.t('bot:button.allAssets'), isChosen: chosen === ALL }
  if (!chosen.startsWith('0x')) return [...offered, all]
  return [...offered, all, { value: TYPED_TOKEN, label: shortAddress(chosen), isChosen: true }]
}

/**
 * The part of a target that the draft's open question asks for, such as `{ address }`; undefined if it is missing or the
 * type has no target.
 */
export function targetOf(
  draft: Draft,
  target: Readonly<Record<string, unknown>>,
): Record<string, unknown> | undefined {
  const field = fieldOf(draft)
  const value = field && target[field.key]
  return field === undefined || value === undefined ? undefined : { [field.key]: value }
}

/**
 * Resolves a typed or chosen target.
 *
 * @param input a text, or the property of the target that the draft asks for
 */
export async function readTarget(
  ctx: BotContext,
  draft: Draft,
  input: string | Readonly<Record<string, unknown>>,
): Promise<TargetResult> {
  const read = typeof input === 'string' ? await readText(ctx, draft, input) : { target: input }
  if ('refusal' in read) return { ok: false, refusal: read.refusal }
  const target = { ...partsOf(ctx, draft), ...read.target }
  const link = ctx.links.find(({ wallet }) => wallet === draft.wallet)
  try {
    const preview = await ctx.call(
      resolveTarget,
      { body: { type: draft.values.type, target } },
      link,
    )
    return { ok: true, preview: await toPreview(ctx, draft, preview) }
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'invalid') throw error
    return { ok: false, refusal: await refusalOf(ctx, draft, error, input) }
  }
}

/** Observes a draft's target now; returns the previous observation if the target cannot be read. */
export async function observeDraftTarget(
  ctx: BotContext,
  { values: { type, preview } }: Draft,
  link: Membership,
): Promise<unknown> {
  if (preview === null) return undefined
  try {
    const body = { type, target: preview.target }
    return (await ctx.call(resolveTarget, { body }, link)).observation ?? preview.observation
  } catch (error) {
    if (!(error instanceof AppError) || error.kind === 'internal') throw error
    return preview.observation
  }
}

/** Converts a target to the draft's preview, with the public name of a provider. */
async function toPreview(
  ctx: BotContext,
  draft: Draft,
  seen: { readonly target?: unknown; readonly label: string; readonly observation?: unknown },
): Promise<Preview> {
  const { target, label, observation } = seen
  const parts = typeof target === 'object' && target !== null ? { ...target } : {}
  const field = fieldOf(draft)
  const provider = field?.kind === 'provider' ? propertyOf(parts, field.key) : undefined
  const identity = Address.safeParse(provider)
  const known = identity.success ? await readProvider(ctx, identity.data, 20) : undefined
  const name = Label.safeParse(known?.name)
  return {
    target: parts,
    label: name.data ?? label,
    observation: observation ?? null,
    isKnown: known?.isKnown ?? true,
    providerName: name.data ?? null,
  }
}

/** The part of the target that is chosen first: the asset of a balance, by its address if it is a token. */
function partsOf(ctx: BotContext, draft: Draft): Record<string, unknown> {
  const field = assetField(draft)
  if (field === undefined) return {}
  const chosen = String(draft.values.parts[field.key] ?? 'FLR')
  const { tokens } = ctx.app.billing.payments
  const known = chosen === 'WFLR' || chosen === 'FXRP' ? tokens[chosen] : undefined
  return { [field.key]: chosen === ALL ? ALL_ASSETS : (known ?? chosen) }
}

async function readText(
  ctx: BotContext,
  draft: Draft,
  text: string,
): Promise<{ readonly target: Record<string, unknown> } | { readonly refusal: Refusal }> {
  const field = fieldOf(draft)
  if (field === undefined) return { refusal: { html: ctx.t.html('bot:typed.press') } }
  if (field.kind === 'feed') {
    const { data } = await ctx.call(listFeeds)
    return { target: { [field.key]: readFeed(text, data) } }
  }
  if (field.kind === 'provider') {
    const meant = await findTypedProvider(ctx, text)
    if (meant.ok) return { target: { [field.key]: meant.provider } }
    await changeDraft(ctx, draft, { nearest: meant.several.map(({ provider }) => provider) })
    return { refusal: meant.refusal }
  }
  const address = readAddress(text)
  if (address.ok) return { target: { [field.key]: address.value } }
  return { refusal: { html: addressRefusal(ctx.t, address) } }
}

/** Refusal of a target. For an unknown feed, stores the nearest names, which the step then offers. */
async function refusalOf(
  ctx: BotContext,
  draft: Draft,
  error: AppError,
  input: string | Readonly<Record<string, unknown>>,
): Promise<Refusal> {
  const field = fieldOf(draft)
  const wrong = error.details.errors?.[0]
  const name = typeof input === 'string' ? input : String(field && input[field.key])
  const isNamed = wrong?.pointer === `/target/${field?.key}`
  if (field?.kind !== 'feed' || !isNamed) return { html: textHtml(sentenceOf(ctx.t, error)) }
  const nearest = String(wrong?.values?.nearest ?? '').split(', ')
  await changeDraft(ctx, draft, { nearest: nearest.filter((name) => name !== '') })
  return { html: ctx.t.html('bot:typed.noFeed', { input: typed(cut(name)) }) }
}

/** Another watch of the wallet with the same target; undefined if there is none. */
export async function findWatchOfTarget(
  ctx: ChatState,
  { values }: Draft,
  link: Membership,
): Promise<Watch | undefined> {
  const { type, preview } = values
  if (preview === null || Object.keys(preview.target).length === 0) return undefined
  const wanted = canonicalJson(preview.target)
  const watches = await allWatches(ctx, link)
  return watches.find((watch) => watch.type === type && canonicalJson(watch.target) === wanted)
}
