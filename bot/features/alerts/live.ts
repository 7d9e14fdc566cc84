/** Cards of open alerts, which follow their alerts to the end, as the sent messages do. */
import type { AlertCard } from '#src/alerts/history/card.ts'
import { hasEnded } from '#src/channels/card/wording.ts'
import { OPEN_PARTS } from '#src/channels/envelope.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { getAlert } from '#src/operations/chat/alerts.ts'
import type { BotContext } from '../../core/context.ts'
import { followSubject, hashOfView, type LiveKinds, whileLinked } from '../../core/live-messages.ts'
import { alertCard, type CardOptions } from './card-view.ts'

const ALERT_KIND = 'alert'
const ALERT_POLL_MS = 15_000
/** Time for which a card follows its alert. */
const FOLLOWED_MS = 3 * DAY_MS

type Shown = Pick<CardOptions, 'rights' | 'open'>

/** Updates the card of an open alert from now on. */
export async function followAlert(
  { app, knownChat, reader }: BotContext,
  messageId: number,
  { card, wallet, rights, open }: Shown & { readonly card: AlertCard; readonly wallet: string },
): Promise<void> {
  if (!isOpen(card)) return
  const now = app.clock.now()
  const message = { chatId: knownChat.id, messageId }
  await followSubject(app, message, {
    kind: ALERT_KIND,
    wallet,
    handle: String(card.alert.id),
    stage: `${rights}:${open ?? ''}`,
    shown: hashOfView(alertCard(reader, card, { rights, open, now })),
    checkAfterMs: ALERT_POLL_MS,
    expiresAt: new Date(now.getTime() + FOLLOWED_MS),
  })
}

function isOpen({ envelope, state }: AlertCard): boolean {
  return envelope.message.canRecover && !hasEnded(state)
}

const showAlertCard = whileLinked(async ({ app }, row, { reader, link, ask }) => {
  const now = app.clock.now()
  const { t, timezone, isGroup } = reader
  const { recipientId } = link
  const body = { id: Number(row.handle), recipientId, locale: t.locale, timezone, isGroup }
  const card = await ask(getAlert, { body })
  const view = alertCard(reader, card, { ...optionsOf(row.stage), now })
  const nextAt = isOpen(card) ? new Date(now.getTime() + ALERT_POLL_MS) : undefined
  return { kind: 'redraw', view, nextAt }
})

function optionsOf(stage: string | null): Shown {
  const [rights, open] = (stage ?? '').split(':')
  return {
    rights: rights === 'write' || rights === 'read' ? rights : 'none',
    open: OPEN_PARTS.find((part) => part === open),
  }
}

/** The cards. */
export const ALERT_CARDS: LiveKinds = { [ALERT_KIND]: { check: showAlertCard } }
