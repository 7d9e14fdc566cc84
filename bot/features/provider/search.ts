/** Search for data providers by address or public name. */
import { typed } from '#src/i18n/translate.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import { readAddress } from '#src/kernel/typed-address.ts'
import type { Address } from '#src/kernel/units.ts'
import { searchProviders } from '#src/operations/pages/look-ups.ts'
import { getProviderFsp } from '#src/operations/rest/providers.ts'
import type { PictureRounds } from '#src/pictures/provider-picture.ts'
import type { NamedProvider } from '#src/watches/provider-names.ts'
import { isKnownProvider, type ProviderView } from '#src/watches/provider-view.ts'
import type { BotContext, ChatState } from '../../core/context.ts'
import type { Refusal } from '../../core/session.ts'
import { cut } from '../../views/fields.ts'
import { addressRefusal } from '../../views/refusals.ts'

/** Maximum number of suggestions. */
const OFFERED_MAX = 4
/** Maximum length of a searched text. */
export const TEXT_LENGTH_MAX = 200
/** Minimum length of a searched name; shorter texts match too many names. */
export const NAME_MIN = 3

/** The provider of a text, or the refusal with suggestions. */
export type ProviderResult =
  | { readonly ok: true; readonly provider: Address }
  | { readonly ok: false; readonly refusal: Refusal; readonly several: readonly NamedProvider[] }

/** Finds the provider of a text, by an address in it or by a part of its public name. */
export async function findTypedProvider(ctx: BotContext, text: string): Promise<ProviderResult> {
  const { t } = ctx
  const address = readAddress(text)
  if (address.ok) return { ok: true, provider: address.value }
  if (address.reason !== 'no_address') {
    return { ok: false, refusal: { html: addressRefusal(t, address) }, several: [] }
  }
  const found = await providersNamed(ctx, text)
  const [only] = found
  if (only === undefined) return { ok: false, refusal: unknownProvider(ctx, text), several: [] }
  const isSure = found.length === 1 || only.name.toLowerCase() === text.trim().toLowerCase()
  if (isSure) return { ok: true, provider: only.provider }
  const refusal = { html: t.html('bot:provider.several', { input: typed(cut(text)) }) }
  return { ok: false, refusal, several: found.slice(0, OFFERED_MAX) }
}

/** Refusal for an unknown provider. */
export function unknownProvider({ t }: BotContext, text: string): Refusal {
  return { html: t.html('bot:typed.noProvider', { input: typed(cut(text)) }) }
}

/** Providers whose public name contains the text, at most six. */
export async function providersNamed(
  ctx: ChatState,
  text: string,
): Promise<readonly NamedProvider[]> {
  const query = { text: cutText(text, TEXT_LENGTH_MAX) }
  return (await ctx.call(searchProviders, { query })).data
}

/** Public name of a provider, by its identity address; undefined if it has none. */
export async function providerName(ctx: ChatState, provider: Address): Promise<string | undefined> {
  return (await providersNamed(ctx, provider))[0]?.name
}

/** State of a provider, and whether it exists; true while this is uncertain. */
export async function readProvider(
  ctx: ChatState,
  provider: Address,
  rounds: PictureRounds,
): Promise<{
  readonly view: ProviderView
  readonly name: string | undefined
  readonly isKnown: boolean
}> {
  const query = { provider, rounds: String(rounds) }
  const view = await ctx.call(getProviderFsp, { query })
  const name = await providerName(ctx, view.provider)
  return { view, name, isKnown: isKnownProvider(view) || view.stale || name !== undefined }
}
