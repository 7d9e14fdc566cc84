/**
 * Changes messages later: each time their subject changes, such as a top-up until it is credited, or once, such as a
 * secret that is hidden. Features define how the kinds of their messages are drawn (`Feature.live`). The subject of each
 * message is stored, so a restart loses nothing. The job `show-live-messages` runs this.
 */

import { createHash } from 'node:crypto'
import type { Api } from 'grammy'
import { claimDueRows } from '#src/db/queue.ts'
import { translator } from '#src/i18n/translate.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { App } from '#src/operations/define.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { type ChatLink, listChatLinks } from '#src/recipients/chats.ts'
import { describe, floodWaitMs, isRefused } from '#src/telegram/errors.ts'
import { post } from '#src/telegram/send.ts'
import type { Reader, View } from '../views/view.ts'
import type { InvokeOperation } from './context.ts'
import {
  deleteExpired,
  endLive,
  isStillLive,
  type LiveRow,
  liveQueue,
  type MessageName,
  putLive,
  settleLive,
  wakeLive,
} from './live-store.ts'
import { contentOf } from './show.ts'
import { findChat, type KnownChat } from './store.ts'

/** Minimum interval between two changes of one message. */
const CHANGE_GAP_MS = 1000
/** Pause after a failed check, if Telegram orders no other. */
const RETRY_MS = 30_000
/** Lease of a message, longer than its check, and the number of messages that a process checks at once. */
const QUICK = { leaseMs: 60_000, places: 8 } as const
/** The same for messages whose check takes long, so that they hold up no others. */
const SLOW = { leaseMs: 90_000, places: 2 } as const

/** Id of a message that its kind sends when the subject changes. */
export const NOT_SENT = 0

/** Dependencies of live messages. */
export interface LiveMessageDeps {
  readonly app: App
  readonly api: Api
  /** The bot's username without `@`. */
  readonly username: string
}

/** The chat of a message and its reader, as they are during a check. */
export interface LiveChat {
  readonly known: KnownChat
  /** Link of the message's wallet; undefined if the chat is not linked to it. */
  readonly link: ChatLink | undefined
  readonly reader: Reader
}

/** A chat that is linked to the message's wallet. */
export interface LinkedChat extends LiveChat {
  readonly link: ChatLink
  /** Calls operations as the wallet of the message. */
  readonly ask: InvokeOperation
}

/** What follows from a check of a message. */
export type LiveResult =
  /** Nothing is left to do, or the message no longer follows its subject. */
  | { readonly kind: 'over' }
  /** The message stays as it is, and is checked again. */
  | { readonly kind: 'later'; readonly at: Date }
  | {
      /** The message is to show this screen. */
      readonly kind: 'redraw'
      readonly view: View
      /** What distinguishes the screen from the shown one; by default a hash of all of it. */
      readonly key?: string
      readonly stage?: string
      /** Time of the next check; undefined if this is the last change. */
      readonly nextAt: Date | undefined
    }

export const OVER: LiveResult = { kind: 'over' }

/**
 * Compares a message with its subject.
 * @throws AppError not_found if the subject is gone
 */
export type LiveCheck = (deps: LiveMessageDeps, row: LiveRow, chat: LiveChat) => Promise<LiveResult>

/** How the messages of one kind are changed. */
export interface LiveKind {
  readonly check: LiveCheck
  /** Whether a check takes seconds. Few such messages are checked at once, and they hold up no others. */
  readonly isSlow?: boolean
}

/** Kinds of live messages by name. */
export type LiveKinds = Readonly<Record<string, LiveKind>>

/** A check of a message that is over once its chat is not linked to its wallet. */
export function whileLinked(
  check: (deps: LiveMessageDeps, row: LiveRow, chat: LinkedChat) => Promise<LiveResult>,
): LiveCheck {
  return async (deps, row, chat) => {
    const { known, link } = chat
    if (link === undefined) return OVER
    return await check(deps, row, { ...chat, link, ask: askAs(deps.app, known, link) })
  }
}

/** Calls operations as a wallet of a chat. */
export function askAs(
  app: App,
  { locale }: KnownChat,
  { wallet, scopes }: ChatLink,
): InvokeOperation {
  const caller: Caller = { wallet, scopes, via: 'telegram' }
  return async (operation, input) =>
    (await invoke(app, operation, caller, { ...input, locale })).output
}

/** Subject of a message, and when it is checked. */
export interface LiveSubject extends Pick<LiveRow, 'kind' | 'wallet'> {
  readonly handle?: string
  readonly stage?: string
  /** Key of the content that is shown; without it, the first check draws the message. */
  readonly shown?: string
  /** Time at which the message began to follow its subject; now by default. */
  readonly since?: Date
  /** Milliseconds until the first check. */
  readonly checkAfterMs: number
  /** Time after which the message is no longer changed; null if there is no end. */
  readonly expiresAt: Date | null
}

/** Has a message changed later. It replaces an earlier subject of the message. */
export async function followSubject(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  { chatId, messageId }: MessageName,
  subject: LiveSubject,
): Promise<void> {
  const now = clock.now()
  await putLive(db, {
    chatId,
    messageId,
    kind: subject.kind,
    wallet: subject.wallet,
    handle: subject.handle ?? null,
    stage: subject.stage ?? null,
    shown: subject.shown ?? null,
    changeCount: 0,
    dueAt: new Date(now.getTime() + subject.checkAfterMs),
    leasedUntil: null,
    expiresAt: subject.expiresAt,
    createdAt: subject.since ?? now,
  })
}

/** Changes live messages in one process. */
export interface LiveMessages {
  /**
   * Checks the messages that are due, and those of the given subjects. Waits for none of the checks, except while as many
   * as may run at once are running; slow ones are never waited for.
   *
   * @param signal once aborted, no further message is checked; the rest are due again when their leases end
   * @throws the error with which a check of the last run failed, if it is not that of its message alone
   */
  run(handles?: ReadonlySet<string>, signal?: AbortSignal): Promise<void>
  /** Waits until no check is running. */
  settled(): Promise<void>
}

interface CheckPool {
  readonly queue: ReturnType<typeof liveQueue>
  readonly leaseMs: number
  readonly places: number
  readonly running: Set<Promise<void>>
}

/** @param deps called when messages are checked; the bot's name is known by then */
export function createLiveMessages(
  deps: () => LiveMessageDeps,
  kinds: ReadonlyMap<string, LiveKind>,
): LiveMessages {
  const slowKinds = [...kinds].flatMap(([kind, { isSlow }]) => (isSlow === true ? [kind] : []))
  const quick: CheckPool = { ...QUICK, queue: liveQueue(slowKinds, 'not of'), running: new Set() }
  const slow: CheckPool = { ...SLOW, queue: liveQueue(slowKinds, 'of'), running: new Set() }
  let startingSlow: Promise<void> | undefined
  let failures: unknown[] = []

  /** Starts checks in the free places until no message is due. */
  async function start({ queue, leaseMs, places, running }: CheckPool, signal?: AbortSignal) {
    while (signal?.aborted !== true) {
      if (running.size >= places) await Promise.race(running)
      const limit = places - running.size
      const now = deps().app.clock.now()
      const rows = await claimDueRows(deps().app.db, queue, { now, leaseMs, limit })
      if (rows.length === 0) return
      for (const row of rows) {
        const check = remembered(checkMessage(deps(), kinds, row)).finally(() =>
          running.delete(check),
        )
        running.add(check)
      }
    }
  }

  async function remembered(work: Promise<void>): Promise<void> {
    try {
      await work
    } catch (error) {
      failures.push(error)
    }
  }

  return {
    async run(handles = new Set(), signal) {
      const [failure] = failures
      failures = []
      if (failure !== undefined) throw failure
      const { db, clock } = deps().app
      if (handles.size > 0) await wakeLive(db, [...handles], clock.now())
      await deleteExpired(db, clock.now())
      startingSlow ??= remembered(start(slow, signal)).finally(() => {
        startingSlow = undefined
      })
      await start(quick, signal)
    },
    async settled() {
      while (startingSlow !== undefined || quick.running.size + slow.running.size > 0) {
        await Promise.all([startingSlow, ...quick.running, ...slow.running])
      }
    },
  }
}

async function checkMessage(
  deps: LiveMessageDeps,
  kinds: ReadonlyMap<string, LiveKind>,
  row: LiveRow,
): Promise<void> {
  const { app } = deps
  try {
    // Rows may be of a kind that this version does not have.
    const kind = kinds.get(row.kind)
    const chat = kind && (await readChat(deps, row))
    const result = kind && chat ? await kind.check(deps, row, chat) : OVER
    if (result.kind === 'over') return await endLive(app.db, row)
    if (result.kind === 'later') {
      const { stage, shown } = row
      return await settleLive(app.db, row, { stage, shown, dueAt: result.at, leasedUntil: null })
    }
    const { view, key: shown = hashOfView(view), stage = row.stage, nextAt } = result
    const locale = chat?.known.locale ?? 'en'
    const isNew = shown !== row.shown
    const change = isNew ? await changeLiveMessage(deps, row, view, locale) : 'unchanged'
    if (nextAt === undefined) return await endLive(app.db, row)
    const nextChangeAt = new Date(app.clock.now().getTime() + CHANGE_GAP_MS)
    const leasedUntil = change === 'changed' ? nextChangeAt : null
    await settleLive(app.db, row, { stage, shown, dueAt: nextAt, leasedUntil })
  } catch (error) {
    if (isMessageGone(error)) return await endLive(app.db, row)
    const { chatId, kind, stage, shown } = row
    app.log.warn({ chatId, kind, error: describe(error) }, 'live message could not be changed')
    const dueAt = new Date(app.clock.now().getTime() + (floodWaitMs(error) ?? RETRY_MS))
    await settleLive(app.db, row, { stage, shown, dueAt, leasedUntil: dueAt })
  }
}

/** Whether an error says that the message, its chat or its subject is gone. */
export function isMessageGone(error: unknown): boolean {
  if (error instanceof AppError) return error.kind === 'not_found'
  return isRefused(error, 400, 403)
}

/** The chat of a message; undefined if nothing is stored of it. */
async function readChat(
  { app, username: bot }: LiveMessageDeps,
  { chatId, wallet }: LiveRow,
): Promise<LiveChat | undefined> {
  const [known, links] = await Promise.all([findChat(app.db, chatId), listChatLinks(app, chatId)])
  if (known === undefined) return undefined
  const link = links.find((chatLink) => chatLink.wallet === wallet)
  const reader: Reader = {
    t: translator(known.locale),
    timezone: link?.timezone ?? 'UTC',
    isGroup: known.kind !== 'private',
    bot,
    isBillingOff: !app.billing.enabled,
  }
  return { known, link, reader }
}

/**
 * Changes a message, unless it shows another screen by now.
 * @returns whether it was changed, showed this screen already, or shows another one
 * @throws AppError not_found if the message was deleted
 */
export async function changeLiveMessage(
  { app, api }: LiveMessageDeps,
  row: LiveRow,
  view: View,
  locale: Locale,
): Promise<'changed' | 'unchanged' | 'replaced'> {
  if (!(await isStillLive(app.db, row))) return 'replaced'
  const { chatId, messageId } = row
  const posted = await post(api, { chatId, messageId, content: () => contentOf(view, locale) })
  if (posted.kind === 'gone') throw new AppError('not_found', 'not_found')
  return posted.kind === 'done' ? 'changed' : 'unchanged'
}

/** Hash of a screen, by which changes are detected. */
export function hashOfView(view: View): string {
  return createHash('sha256').update(JSON.stringify(view)).digest('base64url')
}
