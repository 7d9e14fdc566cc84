/**
 * Every update is stored in a table, with its id as key. Therefore an update that Telegram sends again is
 * handled once, the updates of a chat are handled in order, one at a time, and updates survive a `kill -9`.
 *
 * The inbox has a loop of its own, apart from the job runner (docs/decisions/0010): it claims the next update
 * as soon as one of 32 is done.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Update } from 'grammy/types'
import { z } from 'zod'
import type { Sql } from '#src/db/connection.ts'
import { listen } from '#src/db/listen.ts'
import { reportOutage } from '#src/db/outage.ts'
import { claimDueRows } from '#src/db/queue.ts'
import { backoffMs } from '#src/kernel/backoff.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { endsWithin } from '#src/kernel/ends-within.ts'
import { storableJson } from '#src/kernel/outside-text.ts'
import { createWaker } from '#src/kernel/waker.ts'
import type { App } from '#src/operations/define.ts'
import { describe, floodWaitMs } from '#src/telegram/errors.ts'
import * as store from './inbox-store.ts'
import { LEASE_MS, PAUSE_MS_MAX } from './inbox-store.ts'
import { deleteExpired } from './session-store.ts'
import { isTransientFailure } from './telegram-contact.ts'

/** Maximum number of updates in progress at once, all of different chats. */
const AT_ONCE_MAX = 32
/** Interval of claims while no notification about new updates arrives. */
const POLL_MS = 1000
/** Pause before an update, or the inbox, is tried again. */
const INBOX_PAUSE_MS = { min: POLL_MS, max: PAUSE_MS_MAX }
/** Time for which handled updates are stored; Telegram repeats updates for a day. */
const KEPT_MS = 72 * HOUR_MS
const PRUNE_MS = HOUR_MS
/** Maximum time for which a stop waits for updates in progress. */
const STOP_MS = 10_000
/** Maximum number of attempts: after an unexpected error, and while Telegram or the database is unavailable. */
const TRIES_MAX = 3
const PASSING_TRIES_MAX = 10
/** Maximum number of attempts to record that an update is handled: six seconds in total. */
const CLOSE_TRIES_MAX = 6

type Deps = Pick<App, 'db' | 'clock' | 'log'>

/** Handles updates. */
export interface UpdateHandler {
  handle(update: Update): Promise<void>
  /** Informs the person that an update was given up. */
  giveUp(update: Update): Promise<void>
}

const AnyUpdate = z.looseObject({ update_id: z.int().min(0) })

/** Parses an update; undefined for anything else. Only the parts that a handler needs are checked. */
export function parseUpdate(value: unknown): Update | undefined {
  const parsed = AnyUpdate.safeParse(value)
  // Safe: Telegram, or a holder of its secret, wrote the update; handlers check each part before use.
  return parsed.success ? (parsed.data as unknown as Update) : undefined
}

/** Stores updates durably. Repeating the call changes nothing. */
export async function putUpdates(deps: Deps, updates: readonly Update[]): Promise<void> {
  const rows = updates.map((update) => ({
    updateId: update.update_id,
    chatKey: chatKeyOf(update),
    update: storableUpdate(update),
  }))
  await store.insertUpdates(deps.db, rows, deps.clock.now())
}

/** Key of a chat, whose updates are handled one after another. */
function chatKeyOf(update: Update): string {
  const { message, callback_query: query, my_chat_member: membership } = update
  // Inline queries neither wait for the person's chat nor delay it.
  if (update.inline_query !== undefined) return `inline ${update.inline_query.from.id}`
  const chatId =
    message?.chat.id ?? query?.message?.chat.id ?? membership?.chat.id ?? query?.from.id
  return chatId === undefined ? `update ${update.update_id}` : `chat ${chatId}`
}

/**
 * The update without characters that PostgreSQL cannot store in JSON, so that no text can block the inbox.
 */
function storableUpdate(update: Update): object {
  return z.looseObject({}).parse(storableJson(update))
}

/** Handles all due updates, one after another. */
export async function drainInbox(deps: Deps, handler: UpdateHandler): Promise<void> {
  for (;;) {
    const [claimed] = await claimNext(deps, 1)
    if (claimed === undefined || !(await handleClaimed(deps, handler, claimed))) return
  }
}

/**
 * Claims the next updates, each of a different chat. @param inProgress updates on which this process works,
 * because their leases may have ended
 */
async function claimNext(
  { db, clock }: Deps,
  limit: number,
  inProgress: readonly number[] = [],
): Promise<readonly store.ClaimedUpdate[]> {
  const among = store.inboxWithout(inProgress)
  return await claimDueRows(db, among, { now: clock.now(), leaseMs: LEASE_MS, limit })
}

/** Running workers of the inbox. */
export interface RunningInbox {
  /** Stops claiming and waits at most ten seconds for updates in progress. */
  stop(): Promise<void>
}

/**
 * Handles updates of the inbox in this process, while other processes may do the same. Long because
 * claiming, handling and stopping share the updates in progress.
 */
export async function startInbox(
  deps: Deps,
  sql: Sql,
  handler: UpdateHandler,
): Promise<RunningInbox> {
  const stop = new AbortController()
  const waker = createWaker()
  const inProgress = new Map<
    number,
    { readonly claim: store.UpdateClaim; readonly work: Promise<void> }
  >()
  /** Number of notifications about new updates so far. */
  let arrivals = 0
  const stopListening = await listen(sql, store.INBOX_CHANNEL, () => {
    arrivals += 1
    waker.wake()
  })
  const beat = setInterval(() => void keep(), LEASE_MS / 3)
  let keptAtMs = deps.clock.now().getTime()
  let failures = 0
  let prunedAtMs = Number.NEGATIVE_INFINITY

  /** Extends the leases of the updates in progress. */
  async function keep(): Promise<void> {
    keptAtMs = deps.clock.now().getTime()
    await keepLeases(
      deps,
      [...inProgress.values()].map(({ claim: of }) => of),
    )
  }

  /**
   * Fills all free places with one claim, because consecutive claims would wait for each other's commit.
   * @returns whether more updates may be due
   */
  async function takeMore(): Promise<boolean> {
    // The clock jumped ahead, or the timer is late: for other processes these leases may have ended.
    const isLate = deps.clock.now().getTime() - keptAtMs > LEASE_MS / 2
    if (isLate) await keep()
    const places = AT_ONCE_MAX - inProgress.size
    const claimed = places > 0 ? await claimNext(deps, places, [...inProgress.keys()]) : []
    for (const update of claimed) {
      const before = arrivals
      const work = handleClaimed(deps, handler, update).then((mayMoreWait) => {
        inProgress.delete(update.updateId)
        // A claim for an update that arrived meanwhile may have been too early, before this one was closed.
        if (mayMoreWait || arrivals !== before) waker.wake()
      })
      inProgress.set(update.updateId, { claim: update, work })
    }
    return places > 0 && claimed.length === places
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
        const isMore = await takeMore()
        failures = 0
        if (isMore) continue
        await prune()
      } catch (error) {
        failures += 1
        if (!reportOutage(deps.log, error) && failures === 1)
          deps.log.warn({ error: describe(error) }, 'inbox cannot be read')
      }
      await waker.sleep(backoffMs(failures + 1, INBOX_PAUSE_MS), stop.signal)
      waker.reset()
    }
  }

  const running = run()
  return {
    stop: async () => {
      stop.abort()
      await running
      const works = [...inProgress.values()].map(({ work }) => work)
      await endsWithin(Promise.all(works), STOP_MS)
      clearInterval(beat)
      await stopListening()
    },
  }
}

async function keepLeases(deps: Deps, claims: readonly store.UpdateClaim[]): Promise<void> {
  try {
    const leasedUntil = new Date(deps.clock.now().getTime() + LEASE_MS)
    await store.extendLeases(deps.db, claims, leasedUntil)
  } catch (error) {
    if (!reportOutage(deps.log, error))
      deps.log.warn({ error: describe(error) }, 'leases of updates were not extended')
  }
}

/**
 * Handles one update, or releases it. Never throws.
 * @returns false if no other update waited when this one was closed; one that arrives later is notified
 */
async function handleClaimed(
  deps: Deps,
  handler: UpdateHandler,
  claimed: store.ClaimedUpdate,
): Promise<boolean> {
  const { updateId, attempts } = claimed
  try {
    const update = parseUpdate(claimed.update)
    if (update === undefined) throw new Error('an update in the inbox cannot be read')
    if (attempts > PASSING_TRIES_MAX) return await giveUp(deps, handler, update, claimed)
    return await tryUpdate(deps, handler, update, claimed)
  } catch (error) {
    // The lease expires, and another worker tries again.
    deps.log.error({ updateId, error: describe(error) }, 'update was left for later')
    return true
  }
}

/** @returns whether other updates may wait */
async function tryUpdate(
  deps: Deps,
  handler: UpdateHandler,
  update: Update,
  claimed: store.UpdateClaim,
): Promise<boolean> {
  const { updateId, attempts } = claimed
  try {
    await handler.handle(update)
  } catch (error) {
    const waitMs = floodWaitMs(error)
    const isOver = attempts >= (isTransientFailure(error) ? PASSING_TRIES_MAX : TRIES_MAX)
    const fields = { updateId, attempts, error: describe(error) }
    if (waitMs === undefined && isOver) {
      deps.log.error(fields, 'update was given up')
      return giveUp(deps, handler, update, claimed)
    }
    deps.log.warn(fields, 'update will be tried again later')
    // If the wait is longer, the next attempt asks for it again; the pace of the bot remembers it.
    const pauseMs = Math.min(waitMs ?? backoffMs(attempts, INBOX_PAUSE_MS), PAUSE_MS_MAX)
    const dueAt = new Date(deps.clock.now().getTime() + pauseMs)
    // A wait that Telegram requested does not count as a failed attempt.
    const counted = waitMs === undefined ? attempts : attempts - 1
    await store.returnUpdate(deps.db, claimed, { dueAt, attempts: counted })
    return true
  }
  return (await close(deps, claimed)).isOtherWaiting
}

/**
 * Records that an update is handled, and repeats until that works, because otherwise the update would be
 * handled again.
 */
async function close(deps: Deps, claimed: store.UpdateClaim): Promise<store.ClosedUpdate> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await store.closeUpdate(deps.db, claimed, deps.clock.now())
    } catch (error) {
      if (!isTransientFailure(error) || tries === CLOSE_TRIES_MAX) throw error
      await wait(100 * 2 ** tries)
    }
  }
}

/** @returns whether other updates may wait */
async function giveUp(
  deps: Deps,
  handler: UpdateHandler,
  update: Update,
  claimed: store.UpdateClaim,
): Promise<boolean> {
  const { isLast, isOtherWaiting } = await close(deps, claimed)
  if (isLast) await handler.giveUp(update)
  return isOtherWaiting
}
