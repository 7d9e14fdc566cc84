/**
 * Updates live messages: a top-up until it is credited, its QR code until it expires, tests until they have
 * arrived, a pinned overview. The subject of each message is stored, so a restart loses nothing. The job
 * `show-live-messages` runs this.
 */

import type { Api } from 'grammy'
import { claimAll } from '#src/db/queue.ts'
import { translator } from '#src/i18n/translate.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { Hash } from '#src/kernel/units.ts'
import type { App } from '#src/operations/define.ts'
import { invoke } from '#src/operations/invoke.ts'
import { type ChatLink, chatLinks } from '#src/recipients/chats.ts'
import { describe, floodWaitMs, isRefused } from '#src/telegram/errors.ts'
import { post } from '#src/telegram/send.ts'
import { RECIPIENT_TESTS } from '../features/recipients/test-follow.ts'
import { OVERVIEW_KIND, readOverview } from '../features/status/overview.ts'
import { overviewKey, statusScreen } from '../features/status/view.ts'
import { awaitStep, nextStep } from '../features/topup/next-step.ts'
import {
  hashOfView,
  nextLookAt,
  readTopup,
  stageOf,
  TOPUP_MESSAGE_KINDS,
} from '../features/topup/topups.ts'
import { retiredQuote, type ShownTopup, topupScreen } from '../features/topup/view.ts'
import { type ReadTests, readTests, TEST_KIND } from '../features/watches/test-follow.ts'
import type { Reader, View } from '../views/view.ts'
import type { InvokeOperation } from './context.ts'
import {
  deleteExpired,
  deleteLive,
  findLive,
  LIVE_MESSAGES,
  type LiveRow,
  settleLive,
  wakeLive,
} from './live-store.ts'
import { privateState } from './middleware/identify.ts'
import { contentOf } from './show.ts'
import { changeChat, findChat, type KnownChat } from './store.ts'

/** Lease of one message. */
const LEASE_MS = 60_000
/** Minimum interval between two changes of one message. */
const REST_MS = 1000
const RETRY_MS = 30_000
const OVERVIEW_POLL_MS = 60_000
const ROWS_PER_CLAIM = 20
/** For each kind of live message about tests: the function that reads the tests and draws the message. */
const TESTS = new Map<string, ReadTests>([[TEST_KIND, readTests], ...RECIPIENT_TESTS])

/** Dependencies of live messages. */
export interface LiveMessageDeps {
  readonly app: App
  readonly api: Api
  /** The bot's username without `@`. */
  readonly username: string
}

/**
 * Checks every message that is due, and the messages of the given top-ups.
 *
 * @param signal Once aborted, no further message is checked; the rest are retried after their lease.
 */
export async function changeLive(
  notifier: LiveMessageDeps,
  handles: ReadonlySet<string> = new Set(),
  signal?: AbortSignal,
): Promise<void> {
  const { app } = notifier
  if (handles.size > 0) await wakeLive(app.db, [...handles], app.clock.now())
  await deleteExpired(app.db, app.clock.now())
  const options = { leaseMs: LEASE_MS, limit: ROWS_PER_CLAIM, signal }
  for await (const row of claimAll(app, LIVE_MESSAGES, options)) {
    await checkMessage(notifier, row)
  }
}

/**
 * Result of a check: the new stored state of the message; undefined if the message no longer follows its
 * subject.
 */
type CheckResult = Pick<LiveRow, 'stage' | 'shown'> & {
  readonly nextAt: Date
  readonly isChanged: boolean
}

async function checkMessage(notifier: LiveMessageDeps, row: LiveRow): Promise<void> {
  const { app } = notifier
  try {
    const checked = await checkSubject(notifier, row)
    if (checked === undefined) return await deleteLive(app.db, row)
    const { stage, shown, nextAt: dueAt, isChanged } = checked
    const restsUntil = new Date(app.clock.now().getTime() + REST_MS)
    await settleLive(app.db, row, {
      stage,
      shown,
      dueAt,
      leasedUntil: isChanged ? restsUntil : null,
    })
  } catch (error) {
    if (isOver(error)) return await deleteLive(app.db, row)
    const { chatId, stage, shown } = row
    app.log.warn({ chatId, error: describe(error) }, 'live message could not be changed')
    const dueAt = new Date(app.clock.now().getTime() + (floodWaitMs(error) ?? RETRY_MS))
    await settleLive(app.db, row, { stage, shown, dueAt, leasedUntil: dueAt })
  }
}

/** Whether an error says that the message, its chat or its subject is gone. */
export function isOver(error: unknown): boolean {
  if (error instanceof AppError) return error.kind === 'not_found'
  return isRefused(error, 400, 403)
}

async function checkSubject(
  notifier: LiveMessageDeps,
  row: LiveRow,
): Promise<CheckResult | undefined> {
  const { app, username } = notifier
  const { chatId } = row
  const [known, links] = await Promise.all([findChat(app.db, chatId), chatLinks(app, chatId)])
  const link = links.find(({ wallet }) => wallet === row.wallet)
  if (known === undefined || link === undefined) return undefined
  const reader: Reader = {
    t: translator(known.locale),
    timezone: link.timezone,
    isGroup: known.kind !== 'private',
    bot: username,
    isFree: !app.billing.enabled,
  }
  const seen = { reader, known, link, ask: askAs(app, known, link) }
  switch (row.kind) {
    case TOPUP_MESSAGE_KINDS.screen:
      return showTopup(notifier, row, seen)
    case TOPUP_MESSAGE_KINDS.qr:
      return updateQr(notifier, row, seen)
    case OVERVIEW_KIND:
      return showOverview(notifier, row, seen)
    default:
      return showTests(notifier, row, seen)
  }
}

interface ChatSnapshot {
  readonly reader: Reader
  readonly known: KnownChat
  readonly link: ChatLink
  readonly ask: InvokeOperation
}

function askAs(app: App, { locale }: KnownChat, { wallet, scopes }: ChatLink): InvokeOperation {
  const caller: Caller = { wallet, scopes, via: 'telegram' }
  return async (operation, input) =>
    (await invoke(app, operation, caller, { ...input, locale })).output
}

async function readShown(
  { app }: LiveMessageDeps,
  { chatId, handle, stage }: LiveRow,
  ask: InvokeOperation,
) {
  return await readTopup(app, ask, { handle: Hash.parse(handle), chatId, stage })
}

async function showTopup(
  notifier: LiveMessageDeps,
  row: LiveRow,
  seen: ChatSnapshot,
): Promise<CheckResult | undefined> {
  const now = notifier.app.clock.now()
  const topup = await readShown(notifier, row, seen.ask)
  const screen = topupScreen(seen.reader, topup, now)
  // Only the newest of a chat's messages about top-ups has buttons.
  const isCurrent = seen.known.currentMessages.topup === row.messageId
  const isNew = row.stage !== stageOf(topup)
  if (isCurrent && isNew && (await resumeWizard(notifier, row, seen, topup, screen)))
    return undefined
  const isRetired = !isCurrent && topup.topup.status === 'draft'
  const view = isRetired
    ? retiredQuote(seen.reader, topup)
    : isCurrent
      ? screen
      : { ...screen, rows: [] }
  const shown = hashOfView(view)
  const isChanged = shown !== row.shown && (await change(notifier, row, view, seen.reader.t.locale))
  const nextAt = isRetired ? topup.topup.expiresAt : nextLookAt(topup, now)
  return { stage: stageOf(topup), shown, nextAt, isChanged }
}

/**
 * Shows the next step of an unfinished watch in the message of the top-up that bought its slot. Each step
 * is idempotent, so a crash between steps is harmless.
 *
 * @returns whether the message no longer follows the top-up: it shows the step, or a press has put another
 * screen into it
 */
async function resumeWizard(
  notifier: LiveMessageDeps,
  row: LiveRow,
  { known, reader }: ChatSnapshot,
  topup: ShownTopup,
  credited: View,
): Promise<boolean> {
  const { app, username } = notifier
  const { chatId, messageId } = row
  if (topup.topup.status !== 'credited' || known.kind !== 'private') return false
  const state = await privateState(app, known, username)
  const step = await nextStep(state, topup, credited)
  if (step === undefined) return false
  await change(notifier, row, step.view, reader.t.locale)
  // A button press has meanwhile put another screen into this message.
  if (!(await isFollowed(app, row))) return true
  const { wizard } = known.currentMessages
  // If the person has continued elsewhere meanwhile, the message goes on following the top-up.
  if (!(await awaitStep(state, messageId, step))) return false
  const currentMessages = { topup: null, wizard: messageId }
  await app.db.transaction(async (tx) => {
    await changeChat(tx, chatId, { currentMessages }, app.clock.now())
    await deleteLive(tx, row)
  })
  if (wizard !== null && wizard !== messageId) await removeStaleButtons(notifier, chatId, wizard)
  return true
}

/** Removes the buttons of a message. Failures are ignored: the old buttons lead to the current step. */
async function removeStaleButtons(
  { app, api }: LiveMessageDeps,
  chatId: number,
  messageId: number,
): Promise<void> {
  try {
    await api.editMessageReplyMarkup(chatId, messageId, { reply_markup: { inline_keyboard: [] } })
  } catch (error) {
    app.log.debug({ chatId, error: describe(error) }, 'buttons could not be removed')
  }
}

/** Removes the QR code of a top-up that is paid or expired. */
async function updateQr(
  notifier: LiveMessageDeps,
  row: LiveRow,
  { ask }: ChatSnapshot,
): Promise<CheckResult | undefined> {
  const topup = await readShown(notifier, row, ask)
  if (topup.topup.status === 'draft') {
    const nextAt = nextLookAt(topup, notifier.app.clock.now())
    return { stage: null, shown: null, nextAt, isChanged: false }
  }
  await notifier.api.deleteMessage(row.chatId, row.messageId)
  return undefined
}

async function showOverview(
  notifier: LiveMessageDeps,
  row: LiveRow,
  seen: ChatSnapshot,
): Promise<CheckResult> {
  const { reader, link, ask } = seen
  const now = notifier.app.clock.now()
  const overview = await readOverview(ask, { ...link, isGroup: reader.isGroup })
  const shown = overviewKey(overview, now)
  const view = statusScreen(reader, overview, { now, buttons: true, isPinned: true })
  const isChanged = shown !== row.shown && (await change(notifier, row, view, reader.t.locale))
  const nextAt = new Date(now.getTime() + OVERVIEW_POLL_MS)
  return { stage: null, shown, nextAt, isChanged }
}

/** Shows which tests have arrived. Rows of an unknown kind are deleted. */
async function showTests(
  notifier: LiveMessageDeps,
  row: LiveRow,
  { known, link, reader }: ChatSnapshot,
): Promise<CheckResult | undefined> {
  const read = TESTS.get(row.kind)
  if (read === undefined) return undefined
  const state = await privateState(notifier.app, known, notifier.username)
  const membership = state.links.find(({ wallet }) => wallet === link.wallet)
  if (membership === undefined) return undefined
  const of = { id: Number(row.handle), since: row.createdAt }
  const { view, nextAt } = await read(state, membership, of)
  const shown = hashOfView(view)
  const isChanged = shown !== row.shown && (await change(notifier, row, view, reader.t.locale))
  return nextAt && { stage: null, shown, nextAt, isChanged }
}

/** Whether the message still follows its subject. */
export async function isFollowed({ db }: Pick<App, 'db'>, row: LiveRow): Promise<boolean> {
  const current = await findLive(db, row)
  return current?.createdAt.getTime() === row.createdAt.getTime()
}

/** Changes a message, unless it shows another screen by now. @returns whether the message was changed */
export async function change(
  { app, api }: LiveMessageDeps,
  row: LiveRow,
  view: View,
  locale: Locale,
): Promise<boolean> {
  if (!(await isFollowed(app, row))) return false
  const { chatId, messageId } = row
  const posted = await post(api, { chatId, messageId, content: () => contentOf(view, locale) })
  if (posted.kind === 'gone') throw new AppError('not_found', 'not_found')
  return posted.kind === 'done'
}
