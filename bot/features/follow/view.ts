import { packed } from '#src/actions/codec.ts'
import { SLOT_PRICE_CREDITS, TRIAL_DAYS } from '#src/billing/price-list.ts'
import { usdText } from '#src/billing/price-text.ts'
import { shortAddress } from '#src/i18n/format.ts'
import { type HtmlValue, typed } from '#src/i18n/translate.ts'
import type { Address } from '#src/kernel/units.ts'
import { providerTexts } from '#src/pictures/look-up-text.ts'
import type { ProviderView } from '#src/watches/provider-view.ts'
import { followButton } from '../../views/follow-button.ts'
import { textHtml } from '../../views/markup.ts'
import { act, menuButton, type Reader, screen, type View, wholeAddress } from '../../views/view.ts'

/** A provider that a chat follows, or could follow. */
export interface FollowScreen {
  readonly provider: Address
  /** Public name; undefined if it has none. */
  readonly name: string | undefined
  /** State of the provider; undefined while the chain does not answer. */
  readonly view: ProviderView | undefined
  readonly isFollowed: boolean
  /** Whether the chat has a wallet. */
  readonly isLinked: boolean
  /** What has just happened; undefined if nothing has. */
  readonly event?: FollowEvent
}

/** `instead`: name of the provider that the chat followed before. */
export type FollowEvent =
  | { readonly kind: 'followed'; readonly instead: string | undefined }
  | { readonly kind: 'ended' }

/** A provider with its state, the two ways to hear of it, and what each costs. */
export function followScreen(reader: Reader, shown: FollowScreen): View {
  const { t } = reader
  const { provider, view, isFollowed, isLinked } = shown
  const address = wholeAddress(provider)
  const head =
    shown.name === undefined
      ? address.html
      : t.html('bot:provider.head', { name: typed(shown.name), address })
  const texts = view && providerTexts(t, view)
  const state = texts === undefined ? [] : [texts.rounds, ...texts.lines]
  const name = typed(shown.name ?? shortAddress(provider))
  const lines = [
    ...eventLines(reader, shown.event, name),
    head,
    ...state.map((line) => textHtml(line)),
    '',
    ...(isFollowed ? [t.html('bot:follow.on', { name }), ''] : []),
    isLinked ? undefined : watchLine(reader, name),
    isFollowed ? undefined : t.html(isLinked ? 'bot:follow.offer' : 'bot:follow.or', { name }),
  ]
  const watch = packed('connect.watch', { type: 'provider-fsp', address: provider })
  const change = isFollowed
    ? act(t('bot:button.unfollow'), packed('follow.off', { address: provider }))
    : followButton(t, provider, 'primary')
  return screen(lines, [[change, act(t('bot:button.watchMore'), watch)], [menuButton(t)]])
}

function eventLines(
  { t }: Reader,
  event: FollowEvent | undefined,
  name: HtmlValue,
): readonly string[] {
  if (event === undefined) return []
  if (event.kind === 'ended') return [`✅ ${t.html('bot:follow.ended', { name })}`, '']
  const { instead } = event
  const done = `✅ ${t.html('bot:follow.done', { name })}`
  if (instead === undefined) return [done, '']
  return [done, t.html('bot:follow.instead', { name: typed(instead) }), '']
}

/** What a watch takes: a wallet, and a price after the free days. */
function watchLine({ t, isBillingOff }: Reader, name: HtmlValue): string {
  if (isBillingOff === true) return t.html('bot:follow.watchFree', { name })
  const price = usdText(t, SLOT_PRICE_CREDITS)
  return t.html('bot:follow.watch', { name, count: TRIAL_DAYS, price })
}

/** Answer to `/stop` in a chat without a wallet that followed a provider. */
export function followStopped(
  { t }: Reader,
  { provider, name }: { readonly provider: Address; readonly name: string },
): View {
  return screen(
    [`✅ ${t.html('bot:follow.ended', { name: typed(name) })}`, t.html('bot:follow.noMore')],
    [
      [followButton(t, provider)],
      [menuButton(t), act(t('bot:button.deleteData'), packed('stop.data'))],
    ],
  )
}

/** Line above the answer to `/stop` in a chat with a wallet that followed a provider: HTML. */
export function followEnded({ t }: Reader, name: string): View {
  return screen([`✅ ${t.html('bot:follow.ended', { name: typed(name) })}`])
}
