import { DeliveryError, type Receipt } from '#src/channels/define.ts'
import type { FailureReason } from '#src/channels/failure-reasons.ts'
import type { AttemptOutcome } from '#src/recipients/rules.ts'
import type { DeliveryStatus } from './model.ts'

/**
 * Waits after a failed attempt, in seconds: after the first, the second … The first attempt is immediate.
 */
export const RETRY_SECONDS = [5, 300, 1800, 7200, 18_000, 36_000, 36_000] as const
/** Maximum random share by which a wait differs from its step, so that retries are spread out. */
const JITTER = 0.2

/** Reason of a failure because the delivery or its destination is unreadable. */
export const UNREADABLE_REASON = 'unreadable' satisfies FailureReason

/** State of a delivery after an attempt. */
export interface RetryState {
  readonly status: Extract<DeliveryStatus, 'retrying' | 'failed'>
  readonly attempts: number
  readonly nextAttemptAt: Date | null
  /**
   * Earliest time of the next try, even if the destination responds again before; null if there is no such
   * limit.
   */
  readonly plannedAt: Date | null
}

/**
 * State after a failed attempt.
 *
 * Tests and permanent failures end immediately, others after the last step. A mandatory wait is kept
 * exactly and the attempt does not count. An early attempt does not count either: the next attempt is at
 * the planned time, or early again if the fault was that of this service.
 *
 * @param attempt number of the attempt, from 1
 * @param random from 0 to below 1
 * @param plannedAt regular time of an attempt that was made early
 */
export function stateAfterFailure(
  failure: Pick<
    DeliveryError,
    'permanent' | 'retryAfterIsMandatory' | 'retryAfterSeconds' | 'isOurFault'
  >,
  {
    attempt,
    isTest,
    random,
    now,
    plannedAt = null,
  }: {
    readonly attempt: number
    readonly isTest: boolean
    readonly random: number
    readonly now: Date
    readonly plannedAt?: Date | null
  },
): RetryState {
  const { permanent, retryAfterIsMandatory, retryAfterSeconds } = failure
  const step = RETRY_SECONDS[attempt - 1]
  const isOrder = retryAfterIsMandatory && retryAfterSeconds !== undefined
  if (plannedAt !== null && plannedAt > now && !permanent && !isTest) {
    const orderedMs = isOrder ? now.getTime() + Math.round((retryAfterSeconds + random) * 1000) : 0
    const at = new Date(Math.max(plannedAt.getTime(), orderedMs))
    const mayBeEarly = failure.isOurFault && !isOrder
    return {
      status: 'retrying',
      attempts: attempt - 1,
      nextAttemptAt: at,
      plannedAt: mayBeEarly ? null : at,
    }
  }
  if (permanent || isTest || (step === undefined && !isOrder)) {
    return { status: 'failed', attempts: attempt, nextAttemptAt: null, plannedAt: null }
  }
  const seconds =
    isOrder || step === undefined
      ? (retryAfterSeconds ?? 0) + random
      : waitSeconds(step, retryAfterSeconds, random)
  const at = new Date(now.getTime() + Math.round(seconds * 1000))
  return {
    status: 'retrying',
    attempts: isOrder ? attempt - 1 : attempt,
    nextAttemptAt: at,
    plannedAt: retryAfterSeconds === undefined ? null : at,
  }
}

/**
 * Wait of a step: the step ±20 %, or the wait that the receiver requested, at least the step and at most
 * twice as long.
 */
export function waitSeconds(
  step: number,
  retryAfterSeconds: number | undefined,
  random: number,
): number {
  if (retryAfterSeconds !== undefined) return Math.min(Math.max(retryAfterSeconds, step), 2 * step)
  return step * (1 - JITTER + 2 * JITTER * random)
}

/** Wait until a message is changed again, at least the step; a wait that the receiver requested counts as for a new message. */
export function changeWaitSeconds(
  {
    retryAfterIsMandatory,
    retryAfterSeconds,
  }: Pick<DeliveryError, 'retryAfterIsMandatory' | 'retryAfterSeconds'>,
  step: number,
): number {
  if (retryAfterSeconds === undefined) return step
  return retryAfterIsMandatory
    ? Math.max(step, retryAfterSeconds)
    : waitSeconds(step, retryAfterSeconds, 0)
}

/**
 * Number of the attempt that proves an answer which must be repeated: about two hours after the attempt before it.
 */
const PROVING_ATTEMPT = 5

/**
 * Whether a failure is what it says. One that may be wrong once must be the result of two attempts of a delivery in a
 * row, hours apart.
 */
export function isProvenBy(
  { needsRepetition, reason }: Pick<DeliveryError, 'needsRepetition' | 'reason'>,
  rows: readonly {
    /** Number of the attempt, from 1. */
    readonly attempts: number
    readonly lastError: string | null
    /** Regular time of an attempt that is made early. */
    readonly plannedAt: Date | null
  }[],
  now: Date,
): boolean {
  if (!needsRepetition) return true
  return rows.some(
    ({ attempts, lastError, plannedAt }) =>
      attempts >= PROVING_ATTEMPT &&
      lastError === reason &&
      (plannedAt === null || plannedAt <= now),
  )
}

/** Reasons of a channel for a missing response. */
const NO_ANSWER = new Set(['timeout', 'unknown_host', 'refused', 'reset', 'unreachable'])
/**
 * Faults of this service that an end of an outage does not resolve. A mail server that refuses this service for one
 * mailbox may go on so while others take its e-mails; if it refuses many, the reason is `mail_outage`.
 */
const OWN_FAULTS = new Set(['internal', UNREADABLE_REASON, 'mail_refused', 'mail_postponed'])

/** Whether a failed attempt may be due to an outage of the whole channel. */
export function isUnanswered(error: DeliveryError): boolean {
  const { permanent, retryAfterIsMandatory, isOurFault, reason } = error
  return (
    !permanent &&
    !retryAfterIsMandatory &&
    !OWN_FAULTS.has(reason) &&
    (isOurFault || NO_ANSWER.has(reason))
  )
}

/**
 * Whether messages are sent to a destination with this status. A test may also check whether a chat that
 * had blocked the bot accepts messages again.
 */
export function canBeSentTo(status: string, isTest: boolean): boolean {
  return status === 'active' || (isTest && status === 'blocked')
}

/**
 * Outcomes of the destination that follow from an attempt; none if the fault was that of this service.
 * Migrated chats are handled separately, for all their recipients.
 */
export function destinationOutcomesOf(
  recipientId: number,
  at: Date,
  result: Receipt | DeliveryError,
): readonly AttemptOutcome[] {
  if (!(result instanceof DeliveryError)) {
    const { movedTo, moved } = result
    const isStored = movedTo !== undefined && moved !== 'migrated'
    return [{ recipientId, at, ok: true, ...(isStored && { movedTo }) }]
  }
  if (result.isOurFault) return []
  const { permanent, becomes, reason } = result
  return [{ recipientId, at, ok: false, reason, ...(permanent && { disable: becomes }) }]
}

/** Of so many places one goes to a lower urgency than the highest that is due, so that a flood of critical alerts starves none. */
export const PLACES_PER_LOWER = 8

/** Which of the urgencies that are due a place is for: 0 for the highest. */
export function rankOfPlace(place: number, urgencies: number): number {
  const isForLower = place % PLACES_PER_LOWER === PLACES_PER_LOWER - 1
  return isForLower && urgencies > 1
    ? 1 + (Math.floor(place / PLACES_PER_LOWER) % (urgencies - 1))
    : 0
}
