/**
 * Updates live messages: messages that change with their subject, such as a top-up until it is credited.
 * Features define how their messages are checked (`Feature.live`). The subject of each message is stored, so a
 * restart loses nothing. The job `show-live-messages` runs this.
 */

import { createHash } from 'node:crypto'
import type { Api } from 'grammy'
import { claimAllDueRows } from '#src/db/queue.ts'
import { translator } from '#src/i18n/translate.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { App } from '#src/operations/define.ts'
import { invoke } from '#src/operations/invoke.ts'
import { type ChatLink, listChatLinks } from '#src/recipients/chats.ts'
import { describe, floodWaitMs, isRefused } from '#src/telegram/errors.ts'
import { post } from '#src/telegram/send.ts'
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
import { contentOf } from './show.ts'
import { findChat, type KnownChat } from './store.ts'

/** Lease of one message. */
const LEASE_MS = 60_000
/** Minimum interval between two changes of one message. */
const CHANGE_GAP_MS = 1000
const RETRY_MS = 30_000
const ROWS_PER_CLAIM = 20

/** Dependencies of live messages. */
export interface LiveMessageDeps {
  readonly app: App
  readonly api: Api
  /** The bot's username without `@`. */
  readonly username: string
}

/** A message's chat, wallet and reader, as they are during a check. */
export interface ChatSnapshot {
  readonly reader: Reader
  readonly known: KnownChat
  readonly link: ChatLink
  /** Calls operations as the wallet of the message. */
  readonly ask: InvokeOperation
}

/**
 * Result of a check: the new stored state of the message; undefined if the message no longer follows its
 * subject.
 */
type CheckResult = Pick<LiveRow, 'stage' | 'shown'> & {
  readonly nextAt: Date
  readonly isChanged: boolean
}

/** Compares a message with its subject, and changes the message if they differ. */
export type LiveCheck = (
  deps: LiveMessageDeps,
  row: LiveRow,
  seen: ChatSnapshot,
) => Promise<CheckResult | undefined>

/** Checks by the kind of the live message. */
export type LiveChecks = Readonly<Record<string, LiveCheck>>

interface CheckDeps extends LiveMessageDeps {
  readonly checks: ReadonlyMap<string, LiveCheck>
}

/**
 * Checks every message that is due, and the messages of the given top-ups.
 *
 * @param signal Once aborted, no further message is checked; the rest are retried after their lease.
 */
export async function updateLiveMessages(
  deps: CheckDeps,
  handles: ReadonlySet<string> = new Set(),
  signal?: AbortSignal,
): Promise<void> {
  const { app } = deps
  if (handles.size > 0) await wakeLive(app.db, [...handles], app.clock.now())
  await deleteExpired(app.db, app.clock.now())
  const options = { leaseMs: LEASE_MS, limit: ROWS_PER_CLAIM, signal }
  for await (const row of claimAllDueRows(app, LIVE_MESSAGES, options)) {
    await checkMessage(deps, row)
  }
}

async function checkMessage(deps: CheckDeps, row: LiveRow): Promise<void> {
  const { app } = deps
  try {
    const checked = await checkSubject(deps, row)
    if (checked === undefined) return await deleteLive(app.db, row)
    const { stage, shown, nextAt: dueAt, isChanged } = checked
    const nextChangeAt = new Date(app.clock.now().getTime() + CHANGE_GAP_MS)
    await settleLive(app.db, row, {
      stage,
      shown,
      dueAt,
      leasedUntil: isChanged ? nextChangeAt : null,
    })
  } catch (error) {
    if (isMessageGone(error)) return await deleteLive(app.db, row)
    const { chatId, stage, shown } = row
    app.log.warn({ chatId, error: describe(error) }, 'live message could not be changed')
    const dueAt = new Date(app.clock.now().getTime() + (floodWaitMs(error) ?? RETRY_MS))
    await settleLive(app.db, row, { stage, shown, dueAt, leasedUntil: dueAt })
  }
}

/** Whether an error says that the message, its chat or its subject is gone. */
export function isMessageGone(error: unknown): boolean {
  if (error instanceof AppError) return error.kind === 'not_found'
  return isRefused(error, 400, 403)
}

/** Checks one message. @returns undefined also for a kind that this version does not have */
async function checkSubject(deps: CheckDeps, row: LiveRow): Promise<CheckResult | undefined> {
  const { app, username, checks } = deps
  const { chatId } = row
  const check = checks.get(row.kind)
  if (check === undefined) return undefined
  const [known, links] = await Promise.all([findChat(app.db, chatId), listChatLinks(app, chatId)])
  const link = links.find(({ wallet }) => wallet === row.wallet)
  if (known === undefined || link === undefined) return undefined
  const reader: Reader = {
    t: translator(known.locale),
    timezone: link.timezone,
    isGroup: known.kind !== 'private',
    bot: username,
    isBillingOff: !app.billing.enabled,
  }
  return await check(deps, row, { reader, known, link, ask: askAs(app, known, link) })
}

function askAs(app: App, { locale }: KnownChat, { wallet, scopes }: ChatLink): InvokeOperation {
  const caller: Caller = { wallet, scopes, via: 'telegram' }
  return async (operation, input) =>
    (await invoke(app, operation, caller, { ...input, locale })).output
}

/** Whether the message still follows its subject. */
export async function isStillLive({ db }: Pick<App, 'db'>, row: LiveRow): Promise<boolean> {
  const current = await findLive(db, row)
  return current?.createdAt.getTime() === row.createdAt.getTime()
}

/** Changes a message, unless it shows another screen by now. @returns whether the message was changed */
export async function changeLiveMessage(
  { app, api }: LiveMessageDeps,
  row: LiveRow,
  view: View,
  locale: Locale,
): Promise<boolean> {
  if (!(await isStillLive(app, row))) return false
  const { chatId, messageId } = row
  const posted = await post(api, { chatId, messageId, content: () => contentOf(view, locale) })
  if (posted.kind === 'gone') throw new AppError('not_found', 'not_found')
  return posted.kind === 'done'
}

/** Hash of a screen, by which changes are detected. */
export function hashOfView(view: View): string {
  return createHash('sha256').update(JSON.stringify(view)).digest('base64url')
}
