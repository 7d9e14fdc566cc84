import { packed } from '#src/actions/codec.ts'
import { escapeHtml, id, type Translate } from '#src/i18n/translate.ts'
import type { Address } from '#src/kernel/units.ts'
import { listData, USUAL_FILTER } from '../features/alerts/filter-view.ts'
import {
  act,
  type Button,
  menuButton,
  type Reader,
  type Rows,
  screen,
  type View,
  wholeAddress,
} from './view.ts'

/** `/cancel` while nothing is asked. */
export function nothingOpen({ t }: Reader): View {
  return screen([t.html('bot:cancel.nothing')], [[menuButton(t)]])
}

/** A message that means nothing here, and where to read what does. */
export function notUnderstood(
  { t }: Reader,
  options: {
    readonly why: 'text' | 'media' | 'two_addresses' | 'checksum'
    readonly isLinked: boolean
  },
): View {
  const { why, isLinked } = options
  const text =
    why === 'text'
      ? t.html(isLinked ? 'bot:unknown.text' : 'bot:unknown.unlinked')
      : why === 'media'
        ? t.html('bot:unknown.media')
        : `${WARNING} ${t.html(`bot:typed.${why}`)}`
  return screen(
    [text],
    [
      isLinked ? [] : [connectButton(t)],
      [menuButton(t), act(t('bot:button.help'), packed('help', { topic: undefined }))],
    ],
  )
}

/** An address that was typed without a word: what can be done with it. */
export function aboutAddress(
  { t }: Reader,
  address: Address,
  options: { readonly canWrite: boolean },
): View {
  const watch = packed('new.type', { type: 'wallet-balance', address })
  return screen(
    [t.html('bot:unknown.address', { address: wholeAddress(address) })],
    [
      options.canWrite ? [act(t('bot:button.watchBalance'), watch, 'primary')] : [],
      [act(t('bot:button.providerStatus'), packed('status.provider', { address, count: 20 }))],
      [menuButton(t)],
    ],
  )
}

/** The way in for a chat that is not linked. */
function connectButton(t: Translate): Button {
  return act(t('bot:button.connect'), packed('connect', { spend: false }), 'primary')
}

/** That the chat lacks a right, and the button to the signature that gives it. @param spend which right */
export function notAllowed({ t }: Reader, spend: boolean) {
  const button = act(t('bot:button.allow'), packed('connect', { spend }), 'primary')
  return { sentence: `${t('bot:error.scope')} ${t('bot:error.allow')}`, button }
}

/** What was asked for is not there, or not this chat's. */
export function gone({ t }: Reader, options: { readonly buttons: boolean }): View {
  const watches = act(t('bot:button.watches'), packed('watch.list', { page: 1 }))
  const alerts = act(t('bot:button.alerts'), listData(USUAL_FILTER))
  const rows = [[watches, alerts], [menuButton(t)]]
  return screen([t.html('bot:error.gone')], options.buttons ? rows : [])
}

/** A chat whose last link was taken away. */
export function unlinked({ t, isGroup }: Reader): View {
  return screen([t.html('bot:chat.unlinked')], isGroup ? [] : [[connectButton(t)], [menuButton(t)]])
}

/** A refusal as a screen of its own. @param sentence plain text. `button`: what helps */
export function refusal(
  { t }: Reader,
  sentence: string,
  options: { readonly buttons: boolean; readonly button?: Button },
): View {
  const { buttons, button } = options
  const lines = [`${WARNING} ${escapeHtml(sentence)}`]
  const help = button === undefined ? [] : [button]
  return screen(lines, buttons ? [help, [menuButton(t)]] : [])
}

/** After so many refused answers the way out is named. */
const REFUSALS_PATIENT = 3

/** A question asked again: why the answer was refused, and what may have been meant, above it. */
export function withRefusal(
  { t }: Reader,
  view: View,
  refusal: { readonly html: string; readonly rows?: Rows; readonly refusals: number },
): View {
  const way = refusal.refusals >= REFUSALS_PATIENT ? t.html('bot:typed.cancel') : undefined
  const lines = [`${WARNING} ${refusal.html}`, way, '', view.html]
  return screen(lines, [...(refusal.rows ?? []), ...view.rows])
}

/** Something that is never shown in a group. @param link into the private chat */
export function privateMatter({ t }: Reader, link: string): View {
  return screen(
    [t.html('bot:group.private')],
    [[{ label: t('bot:button.openPrivate'), url: link }]],
  )
}

/** The sign before a refusal. */
export const WARNING = '⚠️'

/**
 * What is said when an update was given up after several tries.
 *
 * @param reference what a log knows it by
 * @param retry data of the button that was pressed
 */
export function apology(
  { t, isGroup }: Reader,
  reference: number,
  retry: string | undefined,
): View {
  const lines = [`${WARNING} ${t.html('bot:error.internal', { reference: id(reference) })}`]
  const again = retry === undefined ? [] : [act(t('bot:button.retry'), retry)]
  return screen(lines, [again, isGroup ? [] : [menuButton(t)]])
}

/** That there is nothing to buy on this service. */
export function freeOfCharge({ t }: Reader): View {
  return screen([t.html('errors:billing_disabled.detail')], [[menuButton(t)]])
}
