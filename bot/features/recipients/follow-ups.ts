/**
 * Automatic changes of messages. A secret is hidden ten minutes after it was shown. The message about a new
 * mailbox changes when its reader confirms. The message with a link for another chat changes when a chat is
 * linked with it. A question about retained alerts is remembered until it is answered. The changes are scheduled in the database, so they survive a restart.
 */

import type { Api } from 'grammy'
import { claimAllDueRows, claimDueRows } from '#src/db/queue.ts'
import { translator, typed } from '#src/i18n/translate.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import { findRecipientIdOfLinkCode } from '#src/operations/chat.ts'
import { getDestination } from '#src/operations/chat-destinations.ts'
import type { App } from '#src/operations/define.ts'
import { invoke } from '#src/operations/invoke.ts'
import { type ChatLink, listChatLinks } from '#src/recipients/chats.ts'
import type { Destination } from '#src/recipients/destination-list.ts'
import { describe, isRefused } from '#src/telegram/errors.ts'
import type { MessageContent } from '#src/telegram/send.ts'
import { post } from '#src/telegram/send.ts'
import { privateState } from '../../core/middleware/identify.ts'
import { contentOf } from '../../core/show.ts'
import { findChat } from '../../core/store.ts'
import { destinationName } from '../../views/destination.ts'
import type { Reader } from '../../views/view.ts'
import { rightsText } from '../start/link-view.ts'
import { recipientConfirmed } from './card-view.ts'
import {
  deleteExpired,
  deleteFollowUp,
  FOLLOW_UPS,
  type FollowUpRow,
  followUpsOf,
  hasFollowUp,
  hurryConfirmations,
  hurryFollowUps,
  postponeFollowUp,
} from './follow-up-store.ts'
import { findRecipient } from './recipients.ts'
import { secretHidden } from './secret-view.ts'
import { watchSelectionView } from './watch-selection.ts'

/** Lease of a claimed follow-up. */
const LEASE_MS = 60_000
const AT_ONCE_MAX = 20
/** Bounds of the interval between two checks of a mailbox or link. The interval grows with time. */
const ASKED_MS_MIN = 5000
const ASKED_MS_MAX = 300_000
/** Time after a link expired in which a transaction that used it may still be committed. */
const USE_SEEN_MS = MINUTE_MS

/** Dependencies: the application, and the bot's client of Telegram. */
export interface FollowUpDeps {
  readonly app: App
  readonly api: Api
  /** The bot's username without `@`. */
  readonly username: string
}

/**
 * Runs every due follow-up, and those about mailboxes that were just confirmed, until the signal is aborted; the rest
 * is due again when its lease ends.
 *
 * @param wallets of the confirmed mailboxes. Every process of the bot is notified of them; the second one that changes
 * a message finds nothing to change.
 */
export async function followUp(
  changer: FollowUpDeps,
  wallets: ReadonlySet<string> = new Set(),
  signal?: AbortSignal,
): Promise<void> {
  const { app } = changer
  const now = app.clock.now()
  await deleteExpired(app.db, now)
  if (wallets.size > 0) await hurryConfirmations(app.db, [...wallets], now)
  const options = { leaseMs: LEASE_MS, limit: AT_ONCE_MAX, signal }
  for await (const row of claimAllDueRows(app, FOLLOW_UPS, options)) await followAlone(changer, row)
}

/**
 * Shows at once, in the messages with a link of this wallet, which chat was linked by it. Above
 * `AT_ONCE_MAX` messages, the job changes the rest.
 */
export async function followLinked(changer: FollowUpDeps, wallet: string): Promise<void> {
  const { db, clock } = changer.app
  const of = { wallet, kind: 'chat' }
  const now = clock.now()
  if (!(await hurryFollowUps(db, of, now))) return
  const rows = await claimDueRows(db, followUpsOf(of), {
    now,
    leaseMs: LEASE_MS,
    limit: AT_ONCE_MAX,
  })
  for (const row of rows) await followAlone(changer, row)
}

/** Runs one follow-up. One that fails stops no other, and is due again when its lease ends. */
async function followAlone(changer: FollowUpDeps, row: FollowUpRow): Promise<void> {
  try {
    await followOne(changer, row)
  } catch (error) {
    changer.app.log.warn(
      { chatId: row.chatId, error: describe(error) },
      'message was not changed; it is due again when its lease ends',
    )
  }
}

async function followOne(changer: FollowUpDeps, row: FollowUpRow): Promise<void> {
  const { app } = changer
  if (row.kind === 'chat') return followLink(changer, row)
  // Its alerts are no longer retained.
  if (row.kind === 'retained') return deleteFollowUp(app.db, row)
  const link = (await listChatLinks(app, row.chatId)).find(({ wallet }) => wallet === row.wallet)
  const destination = link && (await findDestination(app, row, link))
  const reader = await readerOf(changer, row, link)
  const now = app.clock.now()
  if (row.kind === 'confirmation') {
    if (destination?.status === 'pending') return askLater(app, row)
    if (destination?.status === 'active') {
      const view = recipientConfirmed(reader, { destination, hereId: link?.recipientId })
      await edit(changer, row, contentOf(view, reader.t.locale))
    }
  } else {
    const recipient = { destination: destination ?? GONE, hereId: link?.recipientId }
    const view = secretHidden(reader, recipient, { shownAt: row.shownAt, now })
    await edit(changer, row, contentOf(view, reader.t.locale))
  }
  await deleteFollowUp(app.db, row)
}

/** Schedules the next check, after a tenth of the time since the message was shown, within the bounds. */
function askLater(app: App, row: FollowUpRow): Promise<void> {
  const now = app.clock.now().getTime()
  const waitedMs = now - row.shownAt.getTime()
  const waitMs = Math.min(Math.max(waitedMs / 10, ASKED_MS_MIN), ASKED_MS_MAX)
  return postponeFollowUp(app.db, row, new Date(now + waitMs))
}

/** Once a chat was linked with the link, asks in the link's message which watches notify that chat. */
async function followLink(changer: FollowUpDeps, row: FollowUpRow): Promise<void> {
  const { app, username } = changer
  const known = await findChat(app.db, row.chatId)
  const state = known && (await privateState(app, known, username))
  const link = state?.links.find(({ wallet }) => wallet === row.wallet)
  if (state !== undefined && link !== undefined) {
    const body = { expiresAt: row.expiresAt }
    const id = await state.call(findRecipientIdOfLinkCode, { body }, link)
    if (id === undefined) return isOver(app, row) ? deleteFollowUp(app.db, row) : askLater(app, row)
    const { destination } = await findRecipient(state, id)
    const name = typed(destinationName(state.t, destination, link.recipientId))
    const rights = rightsText(state.reader, destination.chat?.scopes ?? [])
    const notice = `✅ ${state.t.html('bot:rec.chatLinked', { name, rights })}`
    const view = await watchSelectionView(state, id, { notice })
    await edit(changer, row, contentOf(view, state.t.locale))
  }
  await deleteFollowUp(app.db, row)
}

/** Whether a link expired so long ago that every transaction that used it is committed. */
function isOver({ clock }: App, { expiresAt }: FollowUpRow): boolean {
  return clock.now().getTime() >= expiresAt.getTime() + USE_SEEN_MS
}

/** Placeholder for a deleted destination: the message is changed nevertheless. */
const GONE = { id: 1, own: false, channel: 'webhook', name: '…', key: null } as const

async function findDestination(
  app: App,
  { wallet, recipientId }: FollowUpRow,
  link: ChatLink,
): Promise<Destination | undefined> {
  const caller = { wallet: link.wallet, scopes: ['read'], via: 'telegram' } as const
  if (link.wallet !== wallet) return undefined
  try {
    const { output } = await invoke(app, getDestination, caller, { body: { id: recipientId } })
    return output.destination
  } catch (error) {
    if (error instanceof AppError && error.kind === 'not_found') return undefined
    throw error
  }
}

async function readerOf(
  { app, username }: FollowUpDeps,
  { chatId }: FollowUpRow,
  link: ChatLink | undefined,
): Promise<Reader> {
  const chat = await findChat(app.db, chatId)
  return {
    t: translator(chat?.locale ?? 'en'),
    timezone: link?.timezone ?? 'UTC',
    isGroup: false,
    isBillingOff: !app.billing.enabled,
    bot: username,
  }
}

/** Edits a message; a message that was deleted, or shows another screen by now, is ignored. */
async function edit(
  { app, api }: FollowUpDeps,
  row: FollowUpRow,
  content: MessageContent,
): Promise<void> {
  if (!(await hasFollowUp(app.db, row))) return
  const { chatId, messageId } = row
  try {
    await post(api, { chatId, messageId, content: () => content })
  } catch (error) {
    if (!isRefused(error, 400, 403)) throw error
  }
}
