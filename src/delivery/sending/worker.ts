import { setTimeout as wait } from 'node:timers/promises'
import { REGISTRY as CHANNELS, type ServiceChannel } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import { backoffMs } from '#src/kernel/backoff.ts'
import { pause } from '#src/kernel/pause.ts'
import {
  type DecryptionResult,
  decryptDestinationsSeparately,
} from '#src/recipients/destinations.ts'
import { claimChatMessages, claimStaleMessages } from '../chats/chat-claims.ts'
import { isolatingStateReader } from '../chats/state-reader.ts'
import * as claims from '../claims/claim-store.ts'
import { type Claim, type DueDelivery, takeDueHeads } from '../claims/head-store.ts'
import { createHeldHeads } from '../claims/held-heads.ts'
import { recordScanStep, runScanStep } from '../claims/recipient-scan.ts'
import { type DeliverySelection, idsOfDeliveries, selectDeliveries } from '../claims/selection.ts'
import * as messages from '../messages/message-store.ts'
import { LEASE_SECONDS } from '../model.ts'
import type { RecordDeps } from '../results/record-deps.ts'
import { createResultQueue } from '../results/result-queue.ts'
import { attemptTask, responseTime } from './attempt.ts'
import type { AttemptCounter } from './attempt-counter.ts'
import { createOutageDetector } from './channel-outage.ts'
import type { SendTask, SendTaskResult } from './send-task.ts'
import {
  type ChannelSendingState,
  SCAN_STEP_RECIPIENTS,
  type SendingState,
} from './sending-state.ts'

/** Dependencies of sending. */
export interface WorkerDeps extends RecordDeps {
  readonly publicUrl: string
  /** Counts attempts, for the operator. */
  readonly attemptCounter?: AttemptCounter
  /** State that is kept between runs; by default a new state for this run. */
  readonly sending?: SendingState
  /** Pool of the claims, whose statements keep their plans; `db` by default. */
  readonly claimsDb?: Db
}

/** Minimum interval between the starts of two claims, so that each takes many. */
const CLAIM_GAP_MS = 5
/** Pause between two claims if nothing wakes the worker, while messages are in progress and while none are. */
const CLAIM_PAUSE_MS = { busy: 50, idle: 250 } as const
/** When only this share of the messages in progress is left, free places are filled again. */
const REFILL_SHARE = 2 / 3
/** Pause after a claim, in durations of the claim: claims take at most a fifth of the time. */
const PAUSE_SHARE = 4
/** Time after a stop for which sends may continue before they are aborted. */
const GRACE_MS = 5000
/** A message that waited longer for its place is released, so that its lease never ends during the send. */
const PATIENCE_MS = 20_000
/** Seconds for which a claim may have a head, which takes milliseconds, before another worker takes it. */
const HEAD_SECONDS = 10
/** Most heads that one claim takes, and fewest, if so many are due. */
const HEADS = { min: 32, max: 256 } as const
/** Most due deliveries that one claim reads, for all heads and for one of them. */
const ROWS_MAX = { ofAll: 1024, ofHead: 256 } as const
/** Fewest due deliveries that one claim reads for each head, if so many are due. */
const ROWS_OF_HEAD_MIN = 4
/** Share of the places that changes of messages leave free unless a person awaits them, so that news finds a place at once. */
const NEWS_SHARE = 1 / 4
/**
 * Times for which a recipient stands aside that gets none of the free places, so that claims reach the others: the first,
 * doubled each time up to the longest.
 */
const ASIDE_MS = { min: 250, max: 8000 } as const

type Opened = ReadonlyMap<number, DecryptionResult>

/** The last claim; `restMs` is the wait after a failed one. */
type LastClaim = { readonly claimMs: number; readonly restMs: number; readonly found: boolean }

/** Claims, sends and records due deliveries of one channel, until `stop`. */
export interface Worker {
  /** Claims due deliveries and starts to send them. @returns whether there were any */
  claim(): Promise<boolean>
  /** Whether nothing is in progress or waits to be recorded. */
  isIdle(): boolean
  /** Waits until deliveries may be due, at most until the next poll. */
  pause(lastClaim: LastClaim): Promise<void>
  /** Waits until everything claimed is sent and recorded; after a stop only for a short time. */
  finish(): Promise<void>
}

/** Creates the worker of a channel. Long because claiming, sending and stopping share its queues. */
export function createWorker(
  workerDeps: WorkerDeps,
  channel: ServiceChannel,
  sending: ChannelSendingState,
  stop: AbortSignal,
): Worker {
  const stateOf = isolatingStateReader(workerDeps.stateOf, workerDeps.quarantine)
  const deps = { claimsDb: workerDeps.db, ...workerDeps, stateOf }
  const { limiter, claimedIds, waker } = sending
  const outage = createOutageDetector(deps, channel, sending.outage)
  const held = createHeldHeads({ ...deps, db: deps.claimsDb })
  const inFlight = new Set<Promise<void>>()
  /** With fewer in flight the last claim is repeated, because it may have left deliveries without a place. */
  let refillAt = 0
  /** Number of messages in progress to each recipient of a chat or mailbox. */
  const busy = new Map<number, number>()
  /** How often each recipient has stood aside in a row. */
  const asides = new Map<number, number>()
  const sendingAbort = new AbortController()
  let claimedAt = Number.NEGATIVE_INFINITY
  /** Whether each delivery is a message of its own. If not, a recipient gets one message at a time. */
  const isSentSeparately = !CHANNELS[channel.key].groups
  const placesKept = Math.floor(channel.limits.capacity * NEWS_SHARE)
  const results = createResultQueue(deps, sending.unrecorded, {
    release: ({ task }) => release(task),
    recorded: (batch, madeDue) => {
      outage.recordResults(batch)
      if (madeDue || !isSentSeparately) waker.wake()
    },
    idle: waker.wake,
  })

  async function claim(): Promise<boolean> {
    claimedAt = performance.now()
    waker.reset()
    results.retry()
    await outage.loadSilent()
    const found = await claimDueDeliveries()
    const stale = channel.edit === undefined ? false : await claimStale()
    const areWoken = await outage.wakeSilent()
    return found || stale || areWoken
  }

  function isIdle(): boolean {
    return inFlight.size === 0 && results.isIdle() && held.isEmpty()
  }

  function contextNow(): Claim {
    const now = deps.clock.now()
    return { now, leasedUntil: new Date(now.getTime() + LEASE_SECONDS * 1000) }
  }

  async function claimDueDeliveries(): Promise<boolean> {
    if (limiter.free() <= 0 || results.isFull()) return false
    const context = contextNow()
    const { partitions, recipients } = limiter.full()
    const headsMax = Math.min(HEADS.max, Math.max(HEADS.min, 2 * limiter.free()))
    const { heads, due } = await takeDueHeads(deps.claimsDb, channel.key, {
      now: context.now,
      leasedUntil: new Date(context.now.getTime() + HEAD_SECONDS * 1000),
      full: { partitions, recipients: [...recipients, ...busy.keys()] },
      headsMax,
      rowsMax: isSentSeparately ? ROWS_MAX : { ofAll: 0, ofHead: 1 },
      rowsOfHeadMin: isSentSeparately ? ROWS_OF_HEAD_MIN : 1,
    })
    const isCrowded = heads.length >= headsMax
    const notBefore = new Map<number, Date>()
    try {
      const claimedBefore = due.filter(({ id }) => claimedIds.has(id))
      if (claimedBefore.length > 0)
        await claims.extendLeases(
          deps.claimsDb,
          idsOfDeliveries(claimedBefore),
          context.leasedUntil,
        )
      const { placesGiven } = sending
      const of = { limiter, claimedIds, isSentSeparately, placesGiven }
      const selection = selectDeliveries(due, of)
      sending.placesGiven += selection.selected.length
      for (const { recipientId } of selection.selected) asides.delete(recipientId)
      for (const id of selection.refused) {
        if (isCrowded || limiter.isSuspect(id)) notBefore.set(id, endOfAside(id, due, context))
      }
      const { tasks, destinations } = isSentSeparately
        ? await claimSeparateMessages(selection, context)
        : await claimMessagePerRecipient(selection, context)
      startAll(tasks, destinations)
      const isSomeExcluded = partitions.length + recipients.length > 0
      const mayBeMore = selection.isSomeLeft || isSomeExcluded || isCrowded
      refillAt = mayBeMore ? REFILL_SHARE * inFlight.size : 0
    } finally {
      held.putBack(heads, notBefore)
    }
    return heads.length > 0
  }

  /** A pause of a recipient that does not answer holds up first attempts only. */
  function endOfAside(id: number, due: readonly DueDelivery[], { now }: Claim): Date {
    const ofRecipient = due.filter(({ recipientId }) => recipientId === id)
    const isNew = ofRecipient.every(({ attempts }) => attempts === 0)
    const pauseMs = isNew ? limiter.pauseMsOf(id) : 0
    const times = (asides.get(id) ?? 0) + 1
    asides.set(id, times)
    return new Date(now.getTime() + Math.max(backoffMs(times, ASIDE_MS), pauseMs))
  }

  /** Claims deliveries that are sent as separate messages. */
  async function claimSeparateMessages({ selected, behind }: DeliverySelection, context: Claim) {
    // Deliveries were written before both statements, so no destination that is read is older.
    const [{ claimed, blocked }, destinations] = await Promise.all([
      claims.claimDueDeliveries(deps.claimsDb, idsOfDeliveries(selected), context),
      openAll(selected),
    ])
    const parked = [...blocked, ...idsOfDeliveries(behind)]
    if (parked.length > 0) await claims.parkBlocked(deps.claimsDb, parked)
    const tasks = claimed.map((row): SendTask => {
      const { recipientId, wallet, partitionKey, envelope } = row
      return { channel: channel.key, recipientId, wallet, partitionKey, rows: [row], envelope }
    })
    return { tasks, destinations }
  }

  /** Claims one message per recipient. */
  async function claimMessagePerRecipient({ selected }: DeliverySelection, context: Claim) {
    const ids = selected.map(({ recipientId }) => recipientId)
    const { tasks, obsolete } = await claimChatMessages(
      { ...deps, db: deps.claimsDb },
      channel,
      ids,
      context,
    )
    const attemptResult = { kind: 'obsolete' } as const
    for (const task of obsolete) {
      results.add({ task, isTest: false, at: deps.clock.now(), attemptResult })
    }
    return { tasks, destinations: await openAll(tasks) }
  }

  async function claimStale(): Promise<boolean> {
    if (limiter.free() <= 0 || results.isFull()) return false
    const context = contextNow()
    const none = { recipients: [], ran: false, isEnd: false } as const
    const awaiting = await listAwaiting(context)
    const scanStep = await runScanStep(sending.stale, none, (step) =>
      messages.listStaleRecipients(deps.claimsDb, channel.key, { ...step, now: context.now }),
    )
    const known = new Set(awaiting.map(({ recipientId }) => recipientId))
    const others = scanStep.recipients.filter(({ recipientId }) => !known.has(recipientId))
    const reservation = limiter.startReservation()
    const mayTake = (id: number) => known.has(id) || reservation.placesLeft() > placesKept
    const ids = [...awaiting, ...others].flatMap(({ recipientId, partitionKey }) =>
      mayTake(recipientId) &&
      !busy.has(recipientId) &&
      reservation.reserve({ recipientId, partitionKey, wasTried: false })
        ? [recipientId]
        : [],
    )
    const tasks = await claimStaleMessages(deps, channel.key, ids, context)
    recordScanStep(sending.stale, scanStep, tasks.length > 0)
    startAll(tasks, await openAll(tasks))
    return tasks.length > 0 || !sending.stale.quiet
  }

  /** Recipients with a message whose change a person awaits; read after a NOTIFY, and until none is left. */
  async function listAwaiting({ now }: Claim) {
    if (!sending.stale.isNotified) return []
    sending.stale.isNotified = false
    sending.stale.quietUntil = 0
    const of = { now, recipientsMax: SCAN_STEP_RECIPIENTS.first }
    const awaiting = await messages.listAwaitingRecipients(deps.claimsDb, channel.key, of)
    if (awaiting.length > 0) sending.stale.isNotified = true
    return awaiting
  }

  async function openAll(of: readonly { readonly recipientId: number }[]): Promise<Opened> {
    if (of.length === 0) return new Map()
    return await decryptDestinationsSeparately(deps, [
      ...new Set(of.map(({ recipientId }) => recipientId)),
    ])
  }

  function startAll(tasks: readonly SendTask[], destinations: Opened): void {
    for (const { rows } of tasks) for (const { id } of rows) claimedIds.add(id)
    for (const task of tasks) start(task, destinations.get(task.recipientId))
  }

  function start(task: SendTask, destination: DecryptionResult | undefined): void {
    const isMessageStored = task.stored !== undefined
    if (isMessageStored) busy.set(task.recipientId, (busy.get(task.recipientId) ?? 0) + 1)
    const sent = sendInTurn(task, destination).then((result) => {
      inFlight.delete(sent)
      results.add(result)
      if (inFlight.size < refillAt) waker.wake()
    })
    inFlight.add(sent)
  }

  async function sendInTurn(
    task: SendTask,
    destination: DecryptionResult | undefined,
  ): Promise<SendTaskResult> {
    const { recipientId, partitionKey, rows } = task
    const wasTried = rows.some(({ attempts }) => attempts > 1)
    const claimedAt = performance.now()
    const permit = limiter.acquire({ recipientId, partitionKey, wasTried })
    await permit.ready
    const startedAt = performance.now()
    const isLate = startedAt - claimedAt > PATIENCE_MS || sendingAbort.signal.aborted
    const isShort = limiter.usesShortTimeout(recipientId)
    const result: SendTaskResult = isLate
      ? { task, isTest: false, at: deps.clock.now(), attemptResult: { kind: 'aborted' } }
      : await attemptTask(deps, task, destination, { signal: sendingAbort.signal, isShort })
    permit.release(responseTime(result.attemptResult, performance.now() - startedAt))
    if (!isLate) deps.attemptCounter?.count(channel.key, result)
    return { ...result, stateBefore: permit.state }
  }

  /** Removes a recorded message from the messages in progress, before the next claim. */
  function release({ rows, stored, recipientId }: SendTask): void {
    for (const { id } of rows) claimedIds.delete(id)
    if (stored === undefined) return
    const others = (busy.get(recipientId) ?? 1) - 1
    if (others === 0) busy.delete(recipientId)
    else busy.set(recipientId, others)
  }

  return {
    claim,
    isIdle,
    pause: async ({ claimMs, restMs, found }) => {
      const pauseMs = found || !isIdle() ? CLAIM_PAUSE_MS.busy : CLAIM_PAUSE_MS.idle
      await waker.sleep(Math.max(pauseMs, PAUSE_SHARE * claimMs, restMs), stop)
      const early = claimedAt + Math.max(CLAIM_GAP_MS, restMs) - performance.now()
      await pause(Math.max(0, early), stop)
    },
    finish: async () => {
      const quiet = new AbortController()
      const whenStopped = () => {
        wait(GRACE_MS, undefined, { signal: quiet.signal }).then(
          () => {
            sendingAbort.abort()
            results.giveUp()
            held.giveUp()
          },
          () => undefined,
        )
      }
      if (stop.aborted) whenStopped()
      else stop.addEventListener('abort', whenStopped, { once: true })
      await Promise.all(inFlight)
      await results.finish()
      await held.finish()
      quiet.abort()
      stop.removeEventListener('abort', whenStopped)
    },
  }
}
