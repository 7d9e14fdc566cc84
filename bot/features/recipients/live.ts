/**
 * Messages about recipients that a job changes. A secret is hidden ten minutes after it was shown. The message about a new
 * mailbox changes when its reader confirms, that with a link for another chat when a chat is linked by it. A question about
 * retained alerts is forgotten with the alerts.
 */
import { typed } from '#src/i18n/translate.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import { findRecipientIdOfLinkCode } from '#src/operations/chat/chat.ts'
import { getDestination } from '#src/operations/chat/destinations.ts'
import type { Destination } from '#src/recipients/destination-list.ts'
import {
  askAs,
  type LiveChat,
  type LiveCheck,
  type LiveKinds,
  type LiveMessageDeps,
  type LiveResult,
  OVER,
} from '../../core/live-messages.ts'
import type { LiveRow } from '../../core/live-store.ts'
import { privateState } from '../../core/middleware/identify.ts'
import { destinationName } from '../../views/destination.ts'
import { rightsText } from '../start/link-view.ts'
import { recipientConfirmed } from './card-view.ts'
import { RECIPIENT_KINDS } from './follow.ts'
import { findRecipient } from './recipients.ts'
import { secretHidden } from './secret-view.ts'
import { RECIPIENT_TESTS } from './test-follow.ts'
import { watchSelectionView } from './watch-selection.ts'

/** Bounds of the interval between two checks of a mailbox or link. The interval grows with time. */
const CHECK_MS_MIN = 5000
const CHECK_MS_MAX = 5 * MINUTE_MS
/** Time after a link expired in which a transaction that used it may still be committed. */
const USE_SEEN_MS = MINUTE_MS

/** In place of a deleted destination, whose secret is hidden nevertheless. */
const GONE = { id: 1, own: false, channel: 'webhook', name: '…', key: null } as const

const hideSecret: LiveCheck = async (deps, row, chat) => {
  const destination = await findDestination(deps, row, chat)
  const about = { destination: destination ?? GONE, hereId: chat.link?.recipientId }
  const options = { shownAt: row.createdAt, now: deps.app.clock.now() }
  return { kind: 'redraw', view: secretHidden(chat.reader, about, options), nextAt: undefined }
}

const showConfirmed: LiveCheck = async (deps, row, chat) => {
  const destination = await findDestination(deps, row, chat)
  const now = deps.app.clock.now()
  if (destination?.status === 'pending') return checkAgain(row, now)
  if (destination?.status !== 'active') return OVER
  const about = { destination, hereId: chat.link?.recipientId }
  return { kind: 'redraw', view: recipientConfirmed(chat.reader, about), nextAt: undefined }
}

/** Once a chat was linked by the link, asks in the link's message which watches notify that chat. */
const showLinked: LiveCheck = async ({ app, username }, row, { known }) => {
  const state = await privateState(app, known, username)
  const link = state.links.find(({ wallet }) => wallet === row.wallet)
  if (link === undefined) return OVER
  const expiresAt = new Date(row.stage ?? 0)
  const id = await state.call(findRecipientIdOfLinkCode, { body: { expiresAt } }, link)
  if (id === undefined) {
    const now = app.clock.now()
    const isOver = now.getTime() >= expiresAt.getTime() + USE_SEEN_MS
    return isOver ? OVER : checkAgain(row, now)
  }
  const { destination } = await findRecipient(state, id)
  const name = typed(destinationName(state.t, destination, link.recipientId))
  const rights = rightsText(state.reader, destination.chat?.scopes ?? [])
  const notice = `✅ ${state.t.html('bot:rec.chatLinked', { name, rights })}`
  return {
    kind: 'redraw',
    view: await watchSelectionView(state, id, { notice }),
    nextAt: undefined,
  }
}

/** Schedules the next check, after a tenth of the time since the message was shown, within the bounds. */
function checkAgain({ createdAt }: LiveRow, now: Date): LiveResult {
  const shownMs = now.getTime() - createdAt.getTime()
  const waitMs = Math.min(Math.max(shownMs / 10, CHECK_MS_MIN), CHECK_MS_MAX)
  return { kind: 'later', at: new Date(now.getTime() + waitMs) }
}

/** The recipient of a message; undefined if it was deleted, or is no longer that of the chat's wallet. */
async function findDestination(
  { app }: LiveMessageDeps,
  { handle }: LiveRow,
  { known, link }: LiveChat,
): Promise<Destination | undefined> {
  if (link === undefined) return undefined
  try {
    const ask = askAs(app, known, link)
    return (await ask(getDestination, { body: { id: Number(handle) } })).destination
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'not_found') throw error
    return undefined
  }
}

/** Live messages about recipients. */
export const RECIPIENT_MESSAGES: LiveKinds = {
  [RECIPIENT_KINDS.secret]: { check: hideSecret },
  [RECIPIENT_KINDS.confirmation]: { check: showConfirmed },
  [RECIPIENT_KINDS.link]: { check: showLinked },
  // Its alerts are no longer retained.
  [RECIPIENT_KINDS.retained]: { check: async () => OVER },
  ...RECIPIENT_TESTS,
}
