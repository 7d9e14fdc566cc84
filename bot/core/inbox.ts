/**
 * Every update goes through a table, keyed by its id: it is there once, whatever Telegram sends again;
 * it is handled in the order of its chat, one at a time; and it is still there after a `kill -9`.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Update } from 'grammy/types'
import { z } from 'zod'
import type { Sql } from '#src/db/connection.ts'
import { listen } from '#src/db/listen.ts'
import { claim } from '#src/db/queue.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { storableJson } from '#src/kernel/outside-text.ts'
import type { App } from '#src/operations/define.ts'
import { describe, floodWaitMs } from '#src/telegram/errors.ts'
import * as store from './inbox-store.ts'
import { mayPass } from './patiently.ts'
import { deleteExpired } from './session-store.ts'
import { createWaker, pause } from './waker.ts'

/** Updates in hand at once, of different chats. */
const AT_ONCE_MAX = 8
/** How long nobody else takes an update whose worker went silent. */
const LEASE_MS = 30_000
/** Look this often when nothing wakes us. */
const LOOK_MS = 1000
/** Handled updates are remembered this long; Telegram repeats them for a day. */
const KEPT_MS = 72 * HOUR_MS
const PRUNE_MS = HOUR_MS
/** How long a stop waits for updates in hand. */
const STOP_MS = 10_000
/** Tries after a bug, and while Telegram or the database is away. */
const TRIES_MAX = 3
const PASSING_TRIES_MAX = 10
const RETRY_MS_MAX = 60_000
/** Tries to write down that an update is handled: six seconds in all. */
const CLOSE_TRIES_MAX = 6

type Deps = Pick<App, 'db' | 'clock' | 'log'>

/** What is done with an update. */
export interface UpdateHandler {
  handle(update: Update): Promise<void>
  /** Tells the person that an update was given up. */
  giveUp(update: Update): Promise<void>
}

const AnyUpdate = z.looseObject({ update_id: z.int().min(0) })

/**
 * What came from outside as an update; undefined for anything else. Of its parts only those a handler
 * asks for are looked at.
 */
export function readUpdate(value: unknown): Update | undefined {
  const parsed = AnyUpdate.safeParse(value)
  // Safe: Telegram, or who knows its secret, wrote it; handlers ask for each part before they use it.
  return parsed.success ? (parsed.data as unknown as Update) : undefined
}

/** Writes updates down. When this returns they are safe, and repeating them does nothing. */
export async function putUpdates(deps: Deps, updates: readonly Update[]): Promise<void> {
  const rows = updates.map((update) => ({
    updateId: update.update_id,
    chatKey: chatKeyOf(update),
    update: storableUpdate(update),
  }))
  await store.insertUpdates(deps.db, rows, deps.clock.now())
}

/** Updates of one chat go one after another. */
function chatKeyOf(update: Update): string {
  const { message, callback_query: query, my_chat_member: membership } = update
  // What somebody types elsewhere does not wait behind their chat, nor hold it up.
  if (update.inline_query !== undefined) return `inline ${update.inline_query.from.id}`
  const chatId =
    message?.chat.id ?? query?.message?.chat.id ?? membership?.chat.id ?? query?.from.id
  return chatId === undefined ? `update ${update.update_id}` : `chat ${chatId}`
}

/** Without what PostgreSQL cannot keep in JSON, so that no text can block the inbox. */
function storableUpdate(update: Update): object {
  return z.looseObject({}).parse(storableJson(update))
}

/** Handles everything that is due, one after another, and ends. */
export async function drainInbox(deps: Deps, handler: UpdateHandler): Promise<void> {
  for (;;) {
    const claimed = await claimNext(deps)
    if (claimed === undefined) return
    await handleClaimed(deps, handler, claimed)
  }
}

async function claimNext({ db, clock }: Deps): Promise<store.ClaimedUpdate | undefined> {
  const [row] = await claim(db, store.INBOX, { now: clock.now(), leaseMs: LEASE_MS, limit: 1 })
  return row
}

/** Workers at work. */
export interface RunningInbox {
  /** Takes nothing more and waits for what is in hand, ten seconds at most. */
  stop(): Promise<void>
}

/** Handles what is in the inbox and what comes, in this process beside others. */
export async function startInbox(
  deps: Deps,
  sql: Sql,
  handler: UpdateHandler,
): Promise<RunningInbox> {
  const stop = new AbortController()
  const waker = createWaker()
  const inHand = new Map<number, Promise<void>>()
  const stopListening = await listen(sql, store.INBOX_CHANNEL, waker.wake)
  const beat = setInterval(() => void keepLeases(deps, [...inHand.keys()]), LEASE_MS / 3)
  let failures = 0
  let prunedAtMs = Number.NEGATIVE_INFINITY

  async function takeOne(): Promise<boolean> {
    const claimed = await claimNext(deps)
    if (claimed === undefined) return false
    const work = handleClaimed(deps, handler, claimed).finally(() => {
      inHand.delete(claimed.updateId)
      waker.wake()
    })
    inHand.set(claimed.updateId, work)
    return true
  }

  async function prune(): Promise<void> {
    const nowMs = deps.clock.now().getTime()
    if (nowMs - prunedAtMs < PRUNE_MS) return
    await store.deleteHandled(deps.db, new Date(nowMs - KEPT_MS))
    await deleteExpired(deps.db, new Date(nowMs))
    prunedAtMs = nowMs
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        const isTaken = inHand.size < AT_ONCE_MAX && (await takeOne())
        failures = 0
        if (isTaken) continue
        await prune()
      } catch (error) {
        failures += 1
        if (failures === 1) deps.log.warn({ error: describe(error) }, 'inbox not readable')
      }
      await waker.sleep(Math.min(LOOK_MS * 2 ** failures, RETRY_MS_MAX), stop.signal)
    }
  }

  const running = run()
  return {
    stop: async () => {
      stop.abort()
      await running
      const deadline = new AbortController()
      await Promise.race([Promise.all(inHand.values()), pause(STOP_MS, deadline.signal)])
      deadline.abort()
      clearInterval(beat)
      await stopListening()
    },
  }
}

async function keepLeases(deps: Deps, updateIds: readonly number[]): Promise<void> {
  try {
    const leasedUntil = new Date(deps.clock.now().getTime() + LEASE_MS)
    await store.extendLeases(deps.db, updateIds, leasedUntil)
  } catch (error) {
    deps.log.warn({ error: describe(error) }, 'updates in hand not kept')
  }
}

/** Handles one update to its end, or gives it back. Never throws. */
async function handleClaimed(
  deps: Deps,
  handler: UpdateHandler,
  claimed: store.ClaimedUpdate,
): Promise<void> {
  const { updateId, attempts } = claimed
  try {
    const update = readUpdate(claimed.update)
    if (update === undefined) throw new Error('an update in the inbox cannot be read')
    if (attempts > PASSING_TRIES_MAX) await giveUp(deps, handler, update)
    else await tryUpdate(deps, handler, update, attempts)
  } catch (error) {
    // The lease ends by itself, and somebody tries again.
    deps.log.error({ updateId, error: describe(error) }, 'update left for later')
  }
}

async function tryUpdate(
  deps: Deps,
  handler: UpdateHandler,
  update: Update,
  attempts: number,
): Promise<void> {
  const { update_id: updateId } = update
  try {
    await handler.handle(update)
  } catch (error) {
    const waitMs = floodWaitMs(error)
    const isOver = attempts >= (mayPass(error) ? PASSING_TRIES_MAX : TRIES_MAX)
    const fields = { updateId, attempts, error: describe(error) }
    if (waitMs === undefined && isOver) {
      deps.log.error(fields, 'update given up')
      return giveUp(deps, handler, update)
    }
    deps.log.warn(fields, 'update tried again later')
    const pauseMs = waitMs ?? Math.min(1000 * 2 ** (attempts - 1), RETRY_MS_MAX)
    const dueAt = new Date(deps.clock.now().getTime() + pauseMs)
    // Waiting because Telegram says so is no failed try.
    const counted = waitMs === undefined ? attempts : attempts - 1
    return store.returnUpdate(deps.db, updateId, { dueAt, attempts: counted })
  }
  await close(deps, updateId)
}

/** Tries hard: what is done and not written down as done would be done again. */
async function close(deps: Deps, updateId: number): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await store.closeUpdate(deps.db, updateId, deps.clock.now())
    } catch (error) {
      if (!mayPass(error) || tries === CLOSE_TRIES_MAX) throw error
      await wait(100 * 2 ** tries)
    }
  }
}

async function giveUp(deps: Deps, handler: UpdateHandler, update: Update): Promise<void> {
  await close(deps, update.update_id)
  await handler.giveUp(update)
}
