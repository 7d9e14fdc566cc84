/** How long watch types have been without current data. Pure. */

import { CLOCK_TOLERANCE_MS } from '#src/kernel/clock.ts'
import type { WatchTypeDefinition } from '../define.ts'
import { failingSince, type PersistentFailure, POLL_MS_MAX } from './monitoring.ts'

/** Time in milliseconds without current data that every type has now and then. */
export const USUAL_MS = 30_000

/** Progress of judging a type: the block up to which all its targets are judged, and when that block was reached. */
export interface JudgedTo {
  readonly blockAt: Date | null
  /** By the clock of the service. */
  readonly observedAt: Date | null
}

/** The interval of a type in seconds, within which its progress stands still although all is well. */
export interface JudgedEvery extends Pick<WatchTypeDefinition, 'name'> {
  readonly everySeconds: number
  readonly watermark?: { readonly everySeconds: number }
}

/**
 * Milliseconds by which the judged block of a type is behind the newest confirmed block, by the times of both blocks.
 * 0 before the first of them.
 */
export function behindMs(judged: Partial<JudgedTo> | undefined, headAt: Date | null): number {
  if (judged?.blockAt == null || headAt === null) return 0
  return Math.max(0, headAt.getTime() - judged.blockAt.getTime())
}

/**
 * Milliseconds for which a type has been without current data, beyond its interval: because it is judged up to no newer
 * block, whatever the reason, or only up to blocks that are far behind the newest one. undefined before it was judged, also
 * if it was judged at a time that is still to come: that says nothing about now.
 *
 * @param headAt time of the newest confirmed block; null before the first
 */
export function standstillMs(
  type: JudgedEvery,
  judged: JudgedTo | undefined,
  headAt: Date | null,
  now: Date,
): number | undefined {
  if (judged?.observedAt == null) return undefined
  const unjudgedMs = now.getTime() - judged.observedAt.getTime()
  if (unjudgedMs < -CLOCK_TOLERANCE_MS) return undefined
  const everyMs = (type.watermark?.everySeconds ?? type.everySeconds) * 1000
  return Math.max(0, Math.max(unjudgedMs, behindMs(judged, headAt)) - everyMs)
}

/**
 * Start of the time for which a type has been without current data, at a check; null if it has current data. It ends only
 * when the type has caught up with the chain. The time in which the service did not run does not count, nor does a jump of
 * the clock: it begins anew if more time has passed since the last check than counts, and the type was judged meanwhile.
 *
 * @param stillMs result of `standstillMs`
 */
export function standsStillSince(
  before: PersistentFailure | undefined,
  stillMs: number | undefined,
  judged: Pick<JudgedTo, 'observedAt'> | undefined,
  now: Date,
): Date | null {
  if (stillMs !== undefined && stillMs <= USUAL_MS) return null
  if (before?.failingSince != null && !hasJumped(before, judged, now)) {
    return failingSince(before, now)
  }
  return new Date(now.getTime() - Math.min(stillMs ?? 0, POLL_MS_MAX))
}

function hasJumped(
  { checkedAt }: PersistentFailure,
  judged: Pick<JudgedTo, 'observedAt'> | undefined,
  now: Date,
): boolean {
  if (checkedAt === null || judged?.observedAt == null) return false
  return now.getTime() - checkedAt.getTime() > POLL_MS_MAX && judged.observedAt > checkedAt
}
