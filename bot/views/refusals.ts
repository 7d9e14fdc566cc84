import { packed } from '#src/actions/codec.ts'
import { id, type Translate } from '#src/i18n/translate.ts'
import { type AddressProblem, fieldProblemOf } from '#src/kernel/typed-address.ts'
import { fieldText } from '#src/operations/problem.ts'
import type { Button, Rows } from '#src/telegram/buttons.ts'
import { listData, USUAL_FILTER } from './alert-list.ts'
import { textHtml } from './markup.ts'
import { act, menuButton, type Reader, screen, type View } from './view.ts'

/** Why a typed text is no address that can be used, as HTML. */
export function addressRefusal(t: Translate, problem: AddressProblem): string {
  return textHtml(fieldText(t, fieldProblemOf(problem)))
}

/** Button that connects a chat that is not linked. */
export function connectButton(t: Translate): Button {
  return act(t('bot:button.connect'), packed('connect', { spend: false }), 'primary')
}

/**
 * Answer to a chat that lacks a right, with a button that requests it.
 * @param spend true: the right `spend`, false: the right `write`
 */
export function notAllowed({ t }: Reader, spend: boolean) {
  const button = act(t('bot:button.allow'), packed('connect', { spend }), 'primary')
  return { sentence: `${t('bot:error.scope')} ${t('bot:error.allow')}`, button }
}

/** Answer for an object that does not exist, or belongs to another chat. */
export function gone({ t }: Reader, options: { readonly buttons: boolean }): View {
  const watches = act(t('bot:button.watches'), packed('watch.list', { page: 1 }))
  const alerts = act(t('bot:button.alerts'), listData(USUAL_FILTER))
  const rows = [[watches, alerts], [menuButton(t)]]
  return screen([t.html('bot:error.gone')], options.buttons ? rows : [])
}

/** Screen of a chat whose last link was removed. */
export function unlinked({ t, isGroup }: Reader): View {
  return screen([t.html('bot:chat.unlinked')], isGroup ? [] : [[connectButton(t)], [menuButton(t)]])
}

/**
 * A refusal as a separate screen.
 * @param sentence plain text. `button`: what the reader can do about it
 */
export function refusalScreen(
  { t }: Reader,
  sentence: string,
  options: { readonly buttons: boolean; readonly button?: Button },
): View {
  const { buttons, button } = options
  const lines = [`${WARNING} ${textHtml(sentence)}`]
  const help = button === undefined ? [] : [button]
  return screen(lines, buttons ? [help, [menuButton(t)]] : [])
}

/** Number of refused answers from which on the question explains how to cancel. */
const REFUSALS_PATIENT = 3

/** A repeated question below the refusal of the last answer, with suggestions. */
export function withRefusal(
  { t }: Reader,
  view: View,
  refusal: { readonly html: string; readonly rows?: Rows; readonly refusals: number },
): View {
  const way = refusal.refusals >= REFUSALS_PATIENT ? t.html('bot:typed.cancel') : undefined
  const lines = [`${WARNING} ${refusal.html}`, way, '', view.html]
  return screen(lines, [...(refusal.rows ?? []), ...view.rows])
}

/**
 * Answer in a group to a private request.
 * @param link into the private chat
 */
export function onlyInPrivateChat({ t }: Reader, link: string): View {
  return screen(
    [t.html('bot:group.private')],
    [[{ label: t('bot:button.openPrivate'), url: link }]],
  )
}

/** Emoji of a refusal. */
export const WARNING = '⚠️'

/**
 * Message about an update that failed after several attempts.
 *
 * @param reference id of the update in the log
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

/** Answer to a purchase on a service without billing. */
export function freeOfCharge({ t }: Reader): View {
  return screen([t.html('errors:billing_disabled.detail')], [[menuButton(t)]])
}
