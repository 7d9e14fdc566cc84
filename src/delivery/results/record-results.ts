import { randomInt } from 'node:crypto'
import { Envelope, type EnvelopeKind, type MessageState } from '#src/channels/envelope.ts'
import { REGISTRY as CHANNELS } from '#src/channels/index.ts'
import { type Db, transact } from '#src/db/connection.ts'
import { isSharedFailure } from '#src/db/isolate.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { FOLLOWERS_PREFIX } from '#src/kernel/followers.ts'
import {
  recordOutcomes,
  type StoppedDestination,
  type SwitchedOffListener,
} from '#src/recipients/destinations.ts'
import type { LastSuccesses } from '#src/recipients/last-successes.ts'
import { notifyDeletedTopics, recordMigratedChats } from '../chats/moved-chats.ts'
import * as claims from '../claims/claim-store.ts'
import { logFieldsOfEach, logUnrecorded } from '../log/log-lines.ts'
import * as messages from '../messages/message-store.ts'
import { RETAINED_DAYS } from '../model.ts'
import { planPictures } from '../pictures/pictures.ts'
import {
  changeWaitSeconds,
  destinationOutcomesOf,
  isUnanswered,
  RETRY_SECONDS,
  stateAfterFailure,
} from '../rules.ts'
import type { SendTask, SendTaskResult } from '../sending/send-task.ts'
import * as store from '../store.ts'
import * as retained from '../unsent/retained-store.ts'
import type { RecordDeps } from './record-deps.ts'

const RANDOM_STEPS = 2 ** 32
/** Wait before a message that follows its incident is tried again at a recipient that is off. */
const OFF_SECONDS = 1800

/** Dependencies of a queue of results. */
export interface ResultDeps extends RecordDeps {
  readonly lastSuccesses: LastSuccesses
}

/** Outcome of a recording. */
export interface RecordingOutcome {
  /** Results whose deliveries could not be recorded. */
  readonly unrecorded: readonly SendTaskResult[]
  /** Whether other deliveries may have become due. */
  readonly madeDue: boolean
}

/**
 * Records results of attempts: the deliveries, their messages, and the state of their destinations. All
 * results are written in one transaction; if that fails, each in a separate transaction. Of a result that
 * cannot be written then, only the result of the deliveries is recorded, so that they are not sent again.
 *
 * @throws errors that concern no single result, such as a lost connection: the results may be recorded or not, and
 * must be recorded again, which changes nothing where they are recorded
 */
export async function recordResults(
  deps: ResultDeps,
  all: readonly SendTaskResult[],
): Promise<RecordingOutcome> {
  try {
    return { unrecorded: [], madeDue: await recordTogether(deps, all) }
  } catch (error) {
    if (isSharedFailure(error)) throw error
    const unrecorded: SendTaskResult[] = []
    for (const result of all) if (!(await recordAlone(deps, result))) unrecorded.push(result)
    return { unrecorded, madeDue: true }
  }
}

async function recordAlone(deps: ResultDeps, result: SendTaskResult): Promise<boolean> {
  const id = result.task.rows[0]?.id ?? result.task.change?.id ?? ''
  try {
    await recordTogether(deps, [result])
    return true
  } catch (error) {
    if (isSharedFailure(error)) throw error
    deps.quarantine.add('delivery_result', id, error, logFieldsOfEach(result.task)[0])
    return await recordDeliveriesOnly(deps, result)
  }
}

/** Records only the results of the deliveries. */
async function recordDeliveriesOnly(deps: ResultDeps, result: SendTaskResult): Promise<boolean> {
  const { change, replaces } = result.task
  try {
    if (isUndone(result)) return false
    const rows = finishedRows(result)
    await transact(deps.db, async (tx) => {
      if (rows.length > 0) await store.finishDeliveries(tx, rows, deps.clock.now())
      // The message keeps its old content, because the destination refuses the change.
      if (change !== undefined) await messages.recordNoChange(tx, change, { ...change, at: null })
      // The message that is not known to be replaced goes on as it was.
      if (replaces !== undefined) await keepReplaced(tx, replaces, result.at)
    })
    return true
  } catch (error) {
    if (isSharedFailure(error)) throw error
    logUnrecorded(deps.log, result.task, error)
    return false
  }
}

/**
 * Records results in one transaction, after releasing the deliveries of aborted and superseded attempts.
 *
 * @returns whether other deliveries may have become due
 */
async function recordTogether(deps: ResultDeps, all: readonly SendTaskResult[]): Promise<boolean> {
  const undone = all.filter(isUndone)
  if (undone.length > 0) await releaseUndone(deps, undone)
  const over = all.filter((result) => !isUndone(result))
  if (over.length === 0) return true
  const rows = over.flatMap(finishedRows)
  const outcomes = over.flatMap((result) => destinationOutcomesIn(result))
  const { stopped, madeDue } = await transact(deps.db, async (tx) => {
    const madeDue = rows.length > 0 && (await store.finishDeliveries(tx, rows, deps.clock.now()))
    await recordMigratedChats(deps, tx, over)
    await recordMessages(deps, tx, over)
    if (outcomes.length === 0) return { stopped: [], madeDue }
    await notifyDeletedTopics(deps, tx, over)
    const off = await recordOutcomes({ ...deps, db: tx }, outcomes)
    await retainUnsentAndNotify(deps, tx, off)
    return { stopped: off, madeDue }
  })
  for (const { id, channel, statusReason } of stopped) {
    deps.log.info({ recipientId: id, channel, reason: statusReason }, 'destination switched off')
  }
  return madeDue || undone.length > 0
}

/** Retains unsent deliveries of destinations that have just been switched off, and notifies of it. */
export async function retainUnsentAndNotify(
  deps: { readonly clock: Clock; readonly notices: SwitchedOffListener },
  tx: Db,
  off: readonly StoppedDestination[],
): Promise<void> {
  if (off.length === 0) return
  const ids = off.map(({ id }) => id)
  await retained.retainUnsent(tx, ids, deps.clock.now())
  await deps.notices.switchedOff(tx, off)
}

/**
 * Whether an attempt was aborted or superseded. Then it is not counted, and its deliveries are due again.
 */
function isUndone({ attemptResult, task }: SendTaskResult): boolean {
  if (attemptResult.kind === 'aborted' || attemptResult.kind === 'gone') return true
  // A message that cannot be changed stays as it is; deliveries that were to join it are sent separately. One that follows
  // its incident is the only one about it.
  return (
    attemptResult.kind === 'failed' &&
    attemptResult.error.permanent &&
    task.change !== undefined &&
    !CHANNELS[task.channel].followsIncident
  )
}

async function releaseUndone(
  { db, clock }: RecordDeps,
  undone: readonly SendTaskResult[],
): Promise<void> {
  const rows = undone.flatMap(({ task }) =>
    task.rows.map(({ id, attempts }) => ({ id, attempt: attempts })),
  )
  for (const { attemptResult, task } of undone) {
    if (task.replaces !== undefined) await keepReplaced(db, task.replaces, clock.now())
    if (task.change === undefined) continue
    const { change } = task
    if (attemptResult.kind === 'aborted') {
      await messages.recordNoChange(db, change, { ...change, at: clock.now() })
    } else await messages.markMessageGone(db, change.id)
  }
  if (rows.length > 0) await claims.releaseAbortedDeliveries(db, rows)
}

/** Outcomes of the destination that follow from the result. */
function destinationOutcomesIn({ task, at, attemptResult }: SendTaskResult) {
  if (task.rows.length === 0) return []
  if (attemptResult.kind === 'delivered')
    return destinationOutcomesOf(task.recipientId, at, attemptResult.receipt)
  return attemptResult.kind === 'failed'
    ? destinationOutcomesOf(task.recipientId, at, attemptResult.error)
    : []
}

/**
 * The rows that record a result, one for each delivery. `attempt` is the number of the attempt, by which the statement
 * finds deliveries that no other worker took over. `attempts` is the number to store: an attempt that sent nothing,
 * because the destination is off or the alerts are obsolete, does not count.
 */
function finishedRows(result: SendTaskResult): store.FinishedDelivery[] {
  const { task, isTest, at, attemptResult, stateBefore } = result
  // One random value for all, so that deliveries that failed together are retried together.
  const random = randomInt(RANDOM_STEPS) / RANDOM_STEPS
  const retainedUntil = new Date(at.getTime() + RETAINED_DAYS * DAY_MS)
  return task.rows.map(({ id, orderKey, recipientId, attempts: attempt, plannedAt }) => {
    const defaults = {
      id,
      orderKey,
      recipientId,
      attempt,
      attempts: attempt,
      nextAttemptAt: null,
      plannedAt: null,
      statusCode: null,
      error: null,
      deliveredAt: null,
      retainedUntil: null,
      messageId: null,
      carriedBy: null,
      isSilent: false,
    }
    switch (attemptResult.kind) {
      case 'delivered': {
        const { statusCode = null, messageId = null } = attemptResult.receipt
        const carriedBy = task.stored === undefined ? null : carrierOf(task)
        const arrived = { statusCode, messageId, carriedBy, deliveredAt: at }
        return { ...defaults, ...arrived, status: 'delivered' }
      }
      case 'off':
        return { ...defaults, attempts: attempt - 1, status: 'disabled', retainedUntil }
      case 'obsolete':
        return { ...defaults, attempts: attempt - 1, status: 'muted' }
      case 'failed': {
        const { error } = attemptResult
        const next = stateAfterFailure(error, { attempt, isTest, random, now: at, plannedAt })
        const about = { statusCode: error.statusCode ?? null, error: error.reason }
        const isKnownDown = !error.isOurFault && stateBefore === 'suspect'
        return {
          ...defaults,
          ...about,
          ...next,
          retainedUntil: next.status === 'failed' ? retainedUntil : null,
          isSilent: isUnanswered(error) ? (isKnownDown ? null : true) : false,
        }
      }
      case 'gone':
      case 'aborted':
        throw new Error('a delivery without a result cannot be recorded')
      default:
        return attemptResult satisfies never
    }
  })
}

function carrierOf({ change, rows }: SendTask): string {
  const id = change?.id ?? rows[0]?.id
  if (id === undefined) throw new Error('a message without deliveries')
  return id
}

async function recordMessages(
  deps: ResultDeps,
  tx: Db,
  over: readonly SendTaskResult[],
): Promise<void> {
  await messages.lockMessages(tx, {
    changed: over.flatMap(({ task }) => task.change?.id ?? []),
    replaced: over.flatMap(({ task }) => task.replaces?.id ?? []),
  })
  for (const result of over) {
    const { task, attemptResult } = result
    if (task.change !== undefined) await recordChange(tx, result, task.change)
    else if (task.stored !== undefined && attemptResult.kind === 'delivered') {
      await messages.insertMessage(tx, sentMessage(deps, result, attemptResult.receipt.messageId))
    }
    if (task.replaces !== undefined) await recordReplacement(tx, result, task.replaces)
  }
  await reviseLate(deps, tx, over)
  await planPictures(deps, tx, over)
}

/** Moves the deliveries of a replaced message into the new one, if that was sent. */
async function recordReplacement(
  tx: Db,
  { task, attemptResult, at }: SendTaskResult,
  replaced: NonNullable<SendTask['replaces']>,
): Promise<void> {
  if (attemptResult.kind !== 'delivered') return await keepReplaced(tx, replaced, at)
  const id = carrierOf(task)
  const { messageId = null } = attemptResult.receipt
  await messages.moveParts(tx, { from: replaced.id, to: id, messageId })
  // A new message is sent without the states of its alerts, and something may have joined the replaced one meanwhile.
  await messages.markMessagesStale(tx, [id])
}

/** Ends the lease of a message that was not replaced. */
async function keepReplaced(
  db: Db,
  replaced: NonNullable<SendTask['replaces']>,
  at: Date,
): Promise<void> {
  await messages.recordNoChange(db, replaced, { at, revisions: replaced.revisions })
}

async function recordChange(
  tx: Db,
  { task, at, attemptResult }: SendTaskResult,
  change: NonNullable<SendTask['change']>,
): Promise<void> {
  if (attemptResult.kind === 'delivered') {
    const kind = task.stored?.kind ?? 'alert'
    const { messageId = null } = attemptResult.receipt
    await messages.recordChange(tx, change, { kind, parts: task.rows.length, at, messageId })
    return
  }
  const { revisions } = change
  // The incident may go on or end while the recipient is off.
  if (attemptResult.kind === 'off' && CHANNELS[task.channel].followsIncident) {
    const again = new Date(at.getTime() + OFF_SECONDS * 1000)
    return await messages.recordNoChange(tx, change, { at: again, revisions })
  }
  const step = RETRY_SECONDS[revisions]
  const again = attemptResult.kind === 'failed' && step !== undefined
  const wait = again ? changeWaitSeconds(attemptResult.error, step) : 0
  await messages.recordNoChange(tx, change, {
    at: again ? new Date(at.getTime() + wait * 1000) : null,
    revisions: revisions + 1,
  })
}

function sentMessage(
  { channels }: RecordDeps,
  { task, at }: SendTaskResult,
  messageId: string | undefined,
): messages.SentMessage {
  const { stored, channel, recipientId, wallet, partitionKey } = task
  if (stored === undefined) throw new Error('a message that is not stored')
  const { kind, watchId, recovery, loud, openedAt } = stored
  const isChangeable = channels[channel].edit !== undefined
  return {
    id: carrierOf(task),
    wallet,
    recipientId,
    channel,
    partitionKey,
    watchId,
    kind,
    recovery,
    loud,
    parts: task.rows.length,
    openedAt,
    sentAt: at,
    messageId: isChangeable ? (messageId ?? null) : null,
    version: 0,
    reviseAt: null,
    revisions: 0,
    openPart: null,
    leasedUntil: null,
  }
}

/** Updates messages whose alerts changed while the message was in progress, before its id was known. */
async function reviseLate(
  deps: ResultDeps,
  tx: Db,
  over: readonly SendTaskResult[],
): Promise<void> {
  const arrived = over.filter(
    ({ task, attemptResult }) =>
      attemptResult.kind === 'delivered' &&
      task.stored !== undefined &&
      deps.channels[task.channel].edit !== undefined,
  )
  const alertIds = arrived.flatMap(({ task }) => shownAlerts(task))
  const states = alertIds.length === 0 ? new Map() : await deps.stateOf(tx, alertIds)
  const late: string[] = []
  for (const result of arrived) {
    const { task } = result
    const hasChanged = shownAlerts(task).some(
      (alertId) => !isSame(states.get(alertId), task.stored?.states.get(alertId)),
    )
    if (hasChanged || (await hasIncidentChanged(deps, tx, result))) late.push(carrierOf(task))
  }
  await messages.markMessagesStale(tx, late)
  const growing = arrived.filter(({ task }) => isGrowing(task, states))
  await messages.planGrowth(
    tx,
    growing.map(({ task }) => carrierOf(task)),
    deps.clock.now(),
  )
}

/** Kinds of messages that count on while their alerts are open. A reminder has the figures of its time. */
const GROWING_KINDS: readonly EnvelopeKind[] = ['alert', 'raised', 'group']

/**
 * Whether a message counts on: it is about an open alert whose figures grow. Of the chats that follow a provider there may be
 * very many; they hear of the beginning and the end.
 *
 * @param fresh states of the alerts that were not in the message before
 */
function isGrowing(task: SendTask, fresh: ReadonlyMap<number, MessageState>): boolean {
  const { channel, wallet, stored } = task
  const mayGrow =
    CHANNELS[channel].showsGrowth &&
    !wallet.startsWith(FOLLOWERS_PREFIX) &&
    stored !== undefined &&
    GROWING_KINDS.includes(stored.kind) &&
    !stored.recovery
  if (!mayGrow) return false
  const states = [...stored.states.values(), ...shownAlerts(task).map((id) => fresh.get(id))]
  return states.some((state) => state?.isGrowing === true)
}

/** Whether an incident has another state now than the one that was sent. */
async function hasIncidentChanged(
  { incidentOf }: ResultDeps,
  tx: Db,
  { task, incident: sent }: SendTaskResult,
): Promise<boolean> {
  const { wallet, envelope } = task
  const incidentId = Envelope.safeParse(envelope).data?.message.incidentId ?? null
  if (sent === undefined || incidentId === null) return false
  const now = await incidentOf(tx, { wallet, incidentId })
  return now.isOver !== sent.isOver || now.isTaken !== sent.isTaken
}

/**
 * The alerts that a task has drawn: those that it adds, and those of a message that it replaces. A recovery never
 * changes, and the line of its alert was written with its current state.
 */
function shownAlerts({ rows, replaces, stored }: SendTask): readonly number[] {
  return [
    ...rows.flatMap(({ alertId, recovery }) => (alertId === null || recovery ? [] : [alertId])),
    ...(replaces === undefined ? [] : (stored?.states.keys() ?? [])),
  ]
}

/** Whether two states read alike. That figures grow is seen by their next change. */
function isSame(a: MessageState = {}, b: MessageState = {}): boolean {
  const [one, other] = [a, b].map(({ isGrowing: _, ...state }) => JSON.stringify(state))
  return one === other
}
