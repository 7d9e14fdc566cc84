import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import {
  type ChannelKey,
  type Channels,
  DeliveryError,
  Envelope,
  type Receipt,
} from '#src/channels/define.ts'
import { type Db, transact } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import {
  type OpenDestination,
  openDestinations,
  recordOutcomes,
} from '#src/recipients/destinations.ts'
import { unsubscribeUrl } from '#src/recipients/mail-links.ts'
import { createLanes } from './lanes.ts'
import { LEASE_SECONDS } from './model.ts'
import { afterFailure, canBeSentTo, outcomesOf } from './rules.ts'
import * as store from './store.ts'

export interface DeliveryDeps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  readonly box: SecretBox
  readonly channels: Channels
  readonly publicUrl: string
}

/** Least time between two claims, so that each takes many. */
const CLAIM_GAP_MS = 10
/** While something is on its way, how often what came in meanwhile is looked for. */
const LOOK_MS = 50
/** Looking past a long backlog of a host that hangs takes at most a fifth of the time. */
const LOOK_SHARE = 4
/** After a stop, how long sends may go on before they are broken off. */
const GRACE_MS = 5000
/** What waited longer for its place goes back, so that its lease never ends while it is sent. */
const PATIENCE_MS = 20_000
const RANDOM_STEPS = 2 ** 32

/** What an attempt came to. */
type Ending =
  | { readonly kind: 'delivered'; readonly receipt: Receipt }
  | { readonly kind: 'failed'; readonly error: DeliveryError }
  /** The destination is gone or off: nothing was sent. */
  | { readonly kind: 'off' }
  /** Broken off by our own stop. */
  | { readonly kind: 'broken_off' }

interface Ended {
  readonly row: store.ClaimedRow
  readonly isTest: boolean
  readonly at: Date
  readonly ending: Ending
}

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
export function createWorker(deps: DeliveryDeps, stop: AbortSignal): Worker {
  const lanes = createLanes()
  const sending = new Set<Promise<void>>()
  const breakOff = new AbortController()
  let bell = Promise.withResolvers<void>()
  let ended: Ended[] = []
  let recording: Promise<void> | undefined
  let recordings = 0

  async function claim(): Promise<boolean> {
    const channels = Object.values(deps.channels).filter((channel) => channel.available())
    const found = await Promise.allSettled(channels.map(({ key }) => claimOf(key)))
    const failed = found.find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return found.some((one) => one.status === 'fulfilled' && one.value)
  }

  async function claimOf(channel: ChannelKey): Promise<boolean> {
    const room = lanes.roomOf(channel)
    if (room.free <= 0) return false
    const now = deps.clock.now()
    const leasedUntil = new Date(now.getTime() + LEASE_SECONDS * 1000)
    const { claimed, blocked } = await store.claimDue(deps.db, channel, { room, now, leasedUntil })
    if (blocked.length > 0) await store.parkBlocked(deps.db, blocked)
    if (claimed.length === 0) return blocked.length > 0
    const ids = [...new Set(claimed.map(({ recipientId }) => recipientId))]
    const destinations = await openDestinations(deps, ids)
    for (const row of claimed) start(channel, row, destinations.get(row.recipientId))
    return true
  }

  function start(
    channel: ChannelKey,
    row: store.ClaimedRow,
    destination: OpenDestination | undefined,
  ): void {
    const sent = sendInTurn(channel, row, destination).then((result) => {
      ended.push(result)
      sending.delete(sent)
      recording ??= recordAll()
      ring()
    })
    sending.add(sent)
  }

  async function sendInTurn(
    channel: ChannelKey,
    row: store.ClaimedRow,
    destination: OpenDestination | undefined,
  ): Promise<Ended> {
    const claimedAt = performance.now()
    await lanes.enter(channel, row.lane)
    const startedAt = performance.now()
    const isLate = startedAt - claimedAt > PATIENCE_MS || breakOff.signal.aborted
    const result = isLate
      ? { row, isTest: false, at: deps.clock.now(), ending: { kind: 'broken_off' } as const }
      : await attempt(deps, channel, row, destination, breakOff.signal)
    const latencyMs = performance.now() - startedAt
    lanes.leave(channel, row.lane, hasAnswered(result.ending) ? latencyMs : undefined)
    return result
  }

  /** One transaction after another, each with all that ended meanwhile. */
  async function recordAll(): Promise<void> {
    while (ended.length > 0) {
      const batch = ended
      ended = []
      try {
        await record(deps, batch)
      } catch (error) {
        // The rows keep their leases and are taken again when these end.
        deps.log.warn({ rows: batch.length, error: String(error) }, 'delivery results not recorded')
      }
      recordings += 1
    }
    recording = undefined
    ring()
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

async function attempt(
  deps: DeliveryDeps,
  channel: ChannelKey,
  row: store.ClaimedRow,
  opened: OpenDestination | undefined,
  signal: AbortSignal,
): Promise<Ended> {
  const now = deps.clock.now()
  let isTest = false
  const end = (ending: Ending): Ended => ({ row, isTest, at: deps.clock.now(), ending })
  try {
    const envelope = Envelope.parse(row.envelope)
    isTest = envelope.message.test
    if (opened === undefined || !canBeSentTo(opened.status, isTest)) return end({ kind: 'off' })
    const url = unsubscribeUrl(deps, opened)
    const receipt = await deps.channels[channel].send(opened.destination, envelope, {
      attempt: row.attempts,
      now,
      signal,
      wallet: row.wallet,
      ...(url === undefined ? {} : { unsubscribeUrl: url }),
    })
    return end({ kind: 'delivered', receipt })
  } catch (error) {
    if (error instanceof DeliveryError) return end({ kind: 'failed', error })
    if (signal.aborted) return end({ kind: 'broken_off' })
    const fields = { deliveryId: row.id, channel, error: String(error) }
    deps.log.error(fields, 'delivery broke')
    return end({
      kind: 'failed',
      error: new DeliveryError('internal', { ours: true, cause: error }),
    })
  }
}

async function record(deps: DeliveryDeps, all: readonly Ended[]): Promise<void> {
  const brokenOff = all.filter(({ ending }) => ending.kind === 'broken_off')
  if (brokenOff.length > 0) {
    await store.release(
      deps.db,
      brokenOff.map(({ row }) => ({ id: row.id, attempt: row.attempts })),
    )
  }
  const over = all.filter(({ ending }) => ending.kind !== 'broken_off')
  if (over.length === 0) return
  const rows = over.flatMap((one) => finishedRow(one))
  const outcomes = over.flatMap(({ row, at, ending }) => {
    if (ending.kind === 'delivered') return outcomesOf(row.recipientId, at, ending.receipt)
    return ending.kind === 'failed' ? outcomesOf(row.recipientId, at, ending.error) : []
  })
  const stopped = await transact(deps.db, async (tx) => {
    await store.finish(tx, rows, deps.clock.now())
    return outcomes.length === 0 ? [] : await recordOutcomes({ ...deps, db: tx }, outcomes)
  })
  for (const { id, channel, statusReason } of stopped) {
    deps.log.info({ recipientId: id, channel, reason: statusReason }, 'destination switched off')
  }
}

function finishedRow({ row, isTest, at, ending }: Ended): store.FinishedRow[] {
  const { id, orderKey, attempts: attempt } = row
  const plain = { id, orderKey, attempt, attempts: attempt, nextAttemptAt: null, deliveredAt: null }
  switch (ending.kind) {
    case 'delivered':
      return [
        {
          ...plain,
          status: 'delivered',
          statusCode: ending.receipt.statusCode ?? null,
          error: null,
          deliveredAt: at,
        },
      ]
    case 'off':
      return [
        { ...plain, attempts: attempt - 1, status: 'disabled', statusCode: null, error: null },
      ]
    case 'failed': {
      const { error } = ending
      const random = randomInt(RANDOM_STEPS) / RANDOM_STEPS
      const next = afterFailure(error, { attempt, isTest, random, now: at })
      return [{ ...plain, ...next, statusCode: error.statusCode ?? null, error: error.reason }]
    }
    case 'broken_off':
      return []
    default:
      return ending satisfies never
  }
}

/** A refusal is an answer too: the other side is there. */
function hasAnswered(ending: Ending): boolean {
  return ending.kind !== 'failed' || ending.error.statusCode !== undefined
}
