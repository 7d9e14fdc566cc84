import { packed, unpacked } from '#src/actions/codec.ts'
import type { AlertCard } from '#src/alerts/history/card.ts'
import { recoveredTitle } from '#src/alerts/messages/render.ts'
import { isOwnPayment } from '#src/channels/card/transfer.ts'
import { isOpenLink } from '#src/channels/card/wording.ts'
import type { Envelope, MessageState } from '#src/channels/envelope.ts'
import { failureWords } from '#src/channels/failure-reasons.ts'
import { alertView } from '#src/channels/telegram/alert.ts'
import { withoutNames } from '#src/channels/updates/shown.ts'
import type { DeliveryEntry } from '#src/delivery/model.ts'
import type { SignalHelpSection } from '#src/i18n/signal-help.ts'
import { id, type Translate, typed } from '#src/i18n/translate.ts'
import type { Rows } from '#src/telegram/buttons.ts'
import { canBeProven } from '#src/watches/events.ts'
import { listData, USUAL_FILTER } from '../../views/alert-list.ts'
import { canSeeDestination } from '../../views/destination.ts'
import { textHtml } from '../../views/markup.ts'
import { clockTime, nearTime } from '../../views/time.ts'
import { act, back, type Reader, screen, type View } from '../../views/view.ts'
import { alertGlyph } from './list-view.ts'

/** A delivered message in its present state, in its original language. */
export function deliveredMessage(
  reader: Reader,
  { envelope, state }: { readonly envelope: Envelope; readonly state: MessageState },
  options: { readonly isReceiveOnly: boolean; readonly preview: string | undefined },
): View {
  const { isGroup, bot } = reader
  const { isReceiveOnly, preview } = options
  return { ...alertView(envelope, state, { isGroup, botUsername: bot, isReceiveOnly }), preview }
}

export interface CardOptions {
  readonly help?: SignalHelpSection | undefined
  /** Buttons for the reader. `none`: pages and help; `read`: also deliveries and the way back; `write`: all. */
  readonly rights: 'none' | 'read' | 'write'
  readonly now: Date
  /** Line about the last action: HTML. */
  readonly notice?: string
}

/** An alert of the history: its message in the current state, with actions on the record. */
export function alertCard(reader: Reader, card: AlertCard, options: CardOptions): View {
  const { t } = reader
  const { help, rights, now, notice } = options
  const known = rights === 'write' ? card.state : withoutNames(card.state)
  const state = { ...known, ...(help !== undefined && { help }) }
  const view = alertView(card.envelope, state, {
    isGroup: reader.isGroup,
    botUsername: reader.bot,
    now,
  })
  const params = { id: card.alert.id }
  const { rows } = view
  // Nothing is to be done about an own payment, and its page has the rest.
  const record = isOwnPayment(card.envelope)
    ? []
    : [
        ...(reader.isGroup
          ? []
          : [act(t('bot:button.deliveries'), packed('alert.deliveries', params))]),
        act(t('bot:button.delete'), packed('alert.delete', params)),
      ]
  const readOnlyActions = [reader.isGroup ? [] : record.slice(0, 1)]
  const { link, event } = card.envelope.message
  const isProven = canBeProven(event) && isOpenLink(link) && !isOwnPayment(card.envelope)
  const proof = isProven ? [proofButton(t, link)] : []
  const body = notice === undefined ? view.html : `${notice}\n\n${view.html}`
  return {
    html: body,
    rows: [
      ...(rights === 'write' ? rows : rows.map((row) => row.filter(isReadOnly))),
      proof,
      ...(rights === 'write' ? [record] : rights === 'read' ? readOnlyActions : []),
      ...(rights === 'none' ? [] : [[back(t('bot:button.alerts'), listData(USUAL_FILTER))]]),
    ].filter((row) => row.length > 0),
  }
}

/** Button that opens the page with the proof of an alert. */
function proofButton(t: Translate, link: string) {
  return { label: t('bot:button.proof'), url: `${link}/evidence` }
}

/** Whether a button changes nothing, such as pages and help. */
function isReadOnly(button: Rows[number][number]): boolean {
  return !('data' in button) || unpacked(button.data)?.verb === 'alert.help'
}

/** Asks for confirmation of deleting an alert. */
export function deleteAlertQuestion({ t }: Reader, { alert }: AlertCard): View {
  const { title } = alert.rendered
  const lines = [t.html('bot:alerts.deleteQuestion', { title }), t.html('bot:alerts.deleteEffect')]
  return screen(lines, [
    [
      act(
        t('bot:button.deleteAlert', { number: id(`#${alert.id}`) }),
        packed('alert.deleteYes', { id: alert.id }),
        'danger',
      ),
    ],
    [back(t('bot:button.keep'), packed('alert.card', { id: alert.id }))],
  ])
}

/**
 * Maximum number of deliveries that are shown. A wallet has at most `RECIPIENTS_MAX` named destinations, and a few
 * of its own; further ones are not shown.
 */
const DELIVERIES_MAX = 24

/**
 * Deliveries of an alert, one line for each recipient.
 * @param names by recipient
 * @param options `rights` of the reader; without `write` only deliveries to this chat are shown
 */
export function deliveriesCard(
  reader: Reader,
  { alert }: AlertCard,
  names: ReadonlyMap<number, string>,
  options: { readonly now: Date; readonly rights: Parameters<typeof canSeeDestination>[0] },
): View {
  const { t } = reader
  const { now, rights } = options
  const shown = alert.deliveries.filter(({ recipientId }) => canSeeDestination(rights, recipientId))
  const lines = [
    t.html('bot:deliveries.title', { number: id(`#${alert.id}`) }),
    `${alertGlyph(alert)} ${textHtml(shownTitle(t, alert))}`,
    '',
    ...shown.slice(0, DELIVERIES_MAX).map((entry) => {
      const name = names.get(entry.recipientId) ?? t('bot:deliveries.gone')
      return t.html('bot:deliveries.line', {
        name: typed(name),
        what: deliveryText(reader, entry, now),
      })
    }),
    shown.length === 0 ? t.html('bot:deliveries.none') : undefined,
  ]
  return screen(lines, [[back(t('bot:button.alert'), packed('alert.card', { id: alert.id }))]])
}

/** Title of an alert; of an alert that has recovered, with the time after which it recovered. */
function shownTitle(t: Translate, { rendered, durationSeconds: seconds }: AlertCard['alert']) {
  return seconds === null ? rendered.title : recoveredTitle(t, rendered.title, seconds)
}

/** State of a delivery, as markup for a text. */
export function deliveryText(
  reader: Reader,
  entry: Pick<
    DeliveryEntry,
    'status' | 'attempts' | 'lastStatusCode' | 'lastError' | 'nextAttemptAt' | 'deliveredAt'
  >,
  now: Date,
): { readonly kind: 'html'; readonly html: string } {
  const { t } = reader
  const { status, attempts, lastStatusCode, lastError, nextAttemptAt, deliveredAt } = entry
  const failure =
    lastStatusCode === null
      ? lastError === null || status === 'delivered'
        ? []
        : [textHtml(failureWords(t, lastError))]
      : [t.html('bot:deliveries.reason', { reason: id(lastStatusCode) })]
  const parts = [
    status === 'delivered' && deliveredAt !== null
      ? t.html('bot:deliveries.delivered', {
          time: clockTime(reader, deliveredAt, { seconds: true }),
        })
      : status === 'retrying' && nextAttemptAt !== null
        ? t.html('bot:deliveries.retrying', { time: nearTime(reader, nextAttemptAt, now) })
        : t.html(`bot:deliveries.status.${status}`),
    ...(attempts > 1 || (attempts === 1 && status !== 'delivered')
      ? [t.html('bot:deliveries.try', { number: id(attempts) })]
      : []),
    ...failure,
  ]
  return { kind: 'html', html: parts.join(' · ') }
}
