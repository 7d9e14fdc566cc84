import { setTimeout as wait } from 'node:timers/promises'
import type { ChannelKey } from '#src/channels/define.ts'
import { traceOf } from '#src/kernel/trace.ts'
import { type OpenDestination, openDestinations } from '#src/recipients/destinations.ts'
import { attempt } from './attempt.ts'
import { claimChats, claimStale, type Look } from './chats.ts'
import * as due from './due-store.ts'
import { createLanes } from './lanes.ts'
import { LEASE_SECONDS } from './model.ts'
import { type RecordDeps, record } from './record.ts'
import type { Tally } from './tally.ts'
import type { Ended, Ending, Task } from './task.ts'

/** What sending needs. */
export interface WorkerDeps extends RecordDeps {
  readonly publicUrl: string
  /** Counts attempts, for the operator. */
  readonly tally?: Tally
}

/** Least time between two claims, so that each takes many. */
const CLAIM_GAP_MS = 10
/**
 * Least time between the beginnings of two records, so that each takes many: one costs the database
 * about as much for a single delivery as for a dozen.
 */
const RECORD_GAP_MS = 20
/** While something is on its way, how often what came in meanwhile is looked for. */
const LOOK_MS = 50
/** Looking past a long backlog of a host that hangs takes at most a fifth of the time. */
const LOOK_SHARE = 4
/** After a stop, how long sends may go on before they are broken off. */
const GRACE_MS = 5000
/** What waited longer for its place goes back, so that its lease never ends while it is sent. */
const PATIENCE_MS = 20_000

/** Claims, sends and records until there is nothing to do, or until `stop`. */
export interface Worker {
  /** Takes what is due and starts to send it. Whether there was anything. */
  claim(): Promise<boolean>
  /** Nothing is on its way or waits to be recorded. */
  isIdle(): boolean
  /** Grows with everything that may make more deliveries due. */
  recordings(): number
  /** Waits for something to end, and a little more; the longer, the more the last look cost. */
  pause(lookedMs: number): Promise<void>
  /** Waits until everything taken is sent and recorded; after a stop not for long. */
  finish(): Promise<void>
}

/** A worker with nothing to do yet. */
export function createWorker(deps: WorkerDeps, stop: AbortSignal): Worker {
  const lanes = createLanes(deps.channels)
  const sending = new Set<Promise<void>>()
  /** How many messages are on their way to each recipient of a chat or mailbox. */
  const busy = new Map<number, number>()
  const breakOff = new AbortController()
  let bell = Promise.withResolvers<void>()
  let ended: Ended[] = []
  let recording: Promise<void> | undefined
  let recordings = 0
  let recordedAt = Number.NEGATIVE_INFINITY

  async function claim(): Promise<boolean> {
    const channels = Object.values(deps.channels).filter((channel) => channel.available())
    const found = await Promise.allSettled(channels.map(({ key }) => claimOf(key)))
    const failed = found.find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return found.some((one) => one.status === 'fulfilled' && one.value)
  }

  async function claimOf(key: ChannelKey): Promise<boolean> {
    const channel = deps.channels[key]
    const look = lookAt(key)
    if (look.room.free <= 0) return false
    const { tasks, changed } =
      key === 'webhook' ? await claimEach(key, look) : await claimChats(deps, channel, look)
    await startAll(tasks)
    if (channel.edit === undefined) return changed
    const later = lookAt(key)
    const stale = later.room.free <= 0 ? [] : await claimStale(deps, key, later)
    await startAll(stale)
    return changed || stale.length > 0
  }

  function lookAt(key: ChannelKey): Look {
    const now = deps.clock.now()
    const leasedUntil = new Date(now.getTime() + LEASE_SECONDS * 1000)
    return { room: lanes.roomOf(key), busy: [...busy.keys()], now, leasedUntil }
  }

  /** Each delivery by itself. */
  async function claimEach(channel: ChannelKey, look: Look) {
    const { claimed, blocked } = await due.claimDue(deps.db, channel, look)
    if (blocked.length > 0) await due.parkBlocked(deps.db, blocked)
    const tasks = claimed.map((row): Task => {
      const { recipientId, wallet, lane, envelope } = row
      return { channel, recipientId, wallet, lane, rows: [row], envelope }
    })
    return { tasks, changed: claimed.length + blocked.length > 0 }
  }

  async function startAll(tasks: readonly Task[]): Promise<void> {
    if (tasks.length === 0) return
    const ids = [...new Set(tasks.map(({ recipientId }) => recipientId))]
    const destinations = await openDestinations(deps, ids)
    for (const task of tasks) start(task, destinations.get(task.recipientId))
  }

  function start(task: Task, destination: OpenDestination | undefined): void {
    const isKept = task.keep !== undefined
    if (isKept) busy.set(task.recipientId, (busy.get(task.recipientId) ?? 0) + 1)
    const sent = sendInTurn(task, destination).then((result) => {
      ended.push(result)
      sending.delete(sent)
      recording ??= recordAll()
      ring()
    })
    sending.add(sent)
  }

  async function sendInTurn(task: Task, destination: OpenDestination | undefined): Promise<Ended> {
    const { channel, lane } = task
    const claimedAt = performance.now()
    await lanes.enter(channel, lane)
    const startedAt = performance.now()
    const isLate = startedAt - claimedAt > PATIENCE_MS || breakOff.signal.aborted
    const result: Ended = isLate
      ? { task, isTest: false, at: deps.clock.now(), ending: { kind: 'broken_off' } }
      : await attempt(deps, task, destination, breakOff.signal)
    const latencyMs = performance.now() - startedAt
    lanes.leave(channel, lane, hasAnswered(result.ending) ? latencyMs : undefined)
    if (!isLate) deps.tally?.count(channel, result.ending)
    return result
  }

  /** One transaction after another, each with all that ended meanwhile. */
  async function recordAll(): Promise<void> {
    while (ended.length > 0) {
      const earlyMs = recordedAt + RECORD_GAP_MS - performance.now()
      if (earlyMs > 0) await wait(earlyMs)
      recordedAt = performance.now()
      const batch = ended
      ended = []
      try {
        await record(deps, batch)
      } catch (error) {
        // The rows keep their leases and are taken again when these end.
        deps.log.warn(
          { rows: batch.length, error: traceOf(error) },
          'delivery results not recorded',
        )
      }
      for (const { task } of batch) if (task.keep !== undefined) leaveAlone(task.recipientId)
      recordings += 1
    }
    recording = undefined
    ring()
  }

  /** One message less is on its way to it, and recorded: what comes next knows of it. */
  function leaveAlone(recipientId: number): void {
    const others = (busy.get(recipientId) ?? 1) - 1
    if (others === 0) busy.delete(recipientId)
    else busy.set(recipientId, others)
  }

  function ring(): void {
    bell.resolve()
    bell = Promise.withResolvers()
  }
  stop.addEventListener('abort', ring)

  return {
    claim,
    isIdle: () => sending.size === 0 && recording === undefined,
    recordings: () => recordings,
    pause: async (lookedMs) => {
      const lookMs = Math.max(LOOK_MS, LOOK_SHARE * lookedMs)
      const quiet = new AbortController()
      const timer = wait(lookMs, undefined, { signal: quiet.signal })
      await Promise.race([bell.promise, timer.catch(() => undefined)])
      quiet.abort()
      if (!stop.aborted) await wait(CLAIM_GAP_MS)
    },
    finish: async () => {
      const quiet = new AbortController()
      if (stop.aborted) {
        wait(GRACE_MS, undefined, { signal: quiet.signal }).then(
          () => breakOff.abort(),
          () => undefined,
        )
      }
      await Promise.all(sending)
      quiet.abort()
      await recording
      stop.removeEventListener('abort', ring)
    },
  }
}

/** A refusal is an answer too: the other side is there. */
function hasAnswered(ending: Ending): boolean {
  return ending.kind !== 'failed' || ending.error.statusCode !== undefined
}
