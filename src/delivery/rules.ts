import { DeliveryError, type Receipt } from '#src/channels/define.ts'
import type { AttemptOutcome } from '#src/recipients/rules.ts'
import type { DeliveryStatus } from './model.ts'

/** Waits after a failed attempt, in seconds: after the first, the second … The first try is at once. */
export const RETRY_SECONDS = [5, 300, 1800, 7200, 18_000, 36_000, 36_000] as const
/** How far a wait strays from its step, up and down, so that what failed together is spread out. */
const JITTER = 0.2

/** The reason of a delivery that failed because the delivery or its destination cannot be read. */
export const UNREADABLE = 'unreadable'

/** How a delivery stands after an attempt. */
export interface Next {
  readonly status: Extract<DeliveryStatus, 'retrying' | 'failed'>
  readonly attempts: number
  readonly nextAttemptAt: Date | null
  /** Not to be tried earlier than then, although its destination may answer again. */
  readonly plannedAt: Date | null
}

/**
 * What follows from an attempt that failed.
 *
 * Tests and permanent failures end at once, others when the table is through. A binding wait is kept
 * to the second and its attempt does not count. Neither does one that was made before its time: it is
 * tried again when it would have been, or earlier once more where the fault was ours.
 *
 * @param attempt counts from 1
 * @param random from 0 to below 1
 * @param plannedAt when the attempt was due by the table, where it was made earlier
 */
export function afterFailure(
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
): Next {
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
 * The wait of a step: the step ±20 %, or what the other side asked for, at least the step and at most
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

/** What a channel says when nothing came back from the other side. */
const NO_ANSWER = new Set(['timeout', 'unknown_host', 'refused', 'reset', 'unreachable'])
/** Faults of ours that are not mended by trying again once the channel works. */
const OWN_FAULTS = new Set(['internal', UNREADABLE])

/** Whether a failed attempt may have failed because the channel did not work for anybody. */
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
 * Whether a destination gets messages as it stands. A test may also find out whether a chat that had
 * blocked us takes messages again.
 */
export function canBeSentTo(status: string, isTest: boolean): boolean {
  return status === 'active' || (isTest && status === 'blocked')
}

/**
 * What an attempt says about its destination; nothing where the fault was ours. A chat that became another
 * is moved apart from this, for all its recipients.
 */
export function outcomesOf(
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
