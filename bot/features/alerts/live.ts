/** Cards of open alerts, which follow their alerts to the end, as the sent messages do. */
import type { AlertCard } from '#src/alerts/card.ts'
import { hasEnded } from '#src/channels/wording.ts'
import { SIGNAL_HELP_SECTIONS } from '#src/i18n/signal-help.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { getAlert } from '#src/operations/chat-alerts.ts'
import type { BotContext } from '../../core/context.ts'
import {
  changeLiveMessage,
  hashOfView,
  type LiveCheck,
  type LiveChecks,
} from '../../core/live-messages.ts'
import { putLive } from '../../core/live-store.ts'
import { alertCard, type CardOptions } from './card-view.ts'

const ALERT_KIND = 'alert'
const ALERT_POLL_MS = 15_000
/** Time for which a card follows its alert. */
const FOLLOWED_MS = 3 * DAY_MS

type Shown = Pick<CardOptions, 'rights' | 'help'>

/** Updates the card of an open alert from now on. */
export async function followAlert(
  { app, knownChat, reader }: BotContext,
  messageId: number,
  { card, wallet, rights, help }: Shown & { readonly card: AlertCard; readonly wallet: string },
): Promise<void> {
  if (!isOpen(card)) return
  const now = app.clock.now()
  await putLive(app.db, {
    chatId: knownChat.id,
    messageId,
    kind: ALERT_KIND,
    wallet,
    handle: String(card.alert.id),
    stage: `${rights}:${help ?? ''}`,
    shown: hashOfView(alertCard(reader, card, { rights, help, now })),
    changeCount: 0,
    dueAt: new Date(now.getTime() + ALERT_POLL_MS),
    leasedUntil: null,
    createdAt: now,
    expiresAt: new Date(now.getTime() + FOLLOWED_MS),
  })
}

function isOpen({ envelope, state }: AlertCard): boolean {
  return envelope.message.canRecover && !hasEnded(state)
}

const showAlertCard: LiveCheck = async (deps, row, { reader, link, ask }) => {
  const now = deps.app.clock.now()
  const { t, timezone, isGroup } = reader
  const { recipientId } = link
  const body = { id: Number(row.handle), recipientId, locale: t.locale, timezone, isGroup }
  const card = await ask(getAlert, { body })
  const view = alertCard(reader, card, { ...optionsOf(row.stage), now })
  const shown = hashOfView(view)
  const isChanged = shown !== row.shown && (await changeLiveMessage(deps, row, view, t.locale))
  if (!isOpen(card)) return undefined
  return { stage: row.stage, shown, nextAt: new Date(now.getTime() + ALERT_POLL_MS), isChanged }
}

function optionsOf(stage: string | null): Shown {
  const [rights, help] = (stage ?? '').split(':')
  return {
    rights: rights === 'write' || rights === 'read' ? rights : 'none',
    help: SIGNAL_HELP_SECTIONS.find((section) => section === help),
  }
}

/** Check of the cards. */
export const ALERT_CHECKS: LiveChecks = { [ALERT_KIND]: showAlertCard }
