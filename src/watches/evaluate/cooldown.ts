/** The time that two alerts of a signal are apart, and what imposes a longer one. Pure. */
import { MINUTE_MS } from '#src/kernel/durations.ts'
import type { StoredState } from '../model.ts'

/** What a cooldown is computed from. */
export type FoldedTimes = Pick<StoredState, 'lastFiredAt' | 'changes' | 'cooldownUntil'>

/** More changes than this within `FREQUENT_MS` impose a cooldown of that length. */
const CHANGES_MAX = 5
const FREQUENT_MS = 30 * MINUTE_MS

/** End of the cooldown of a signal, in milliseconds: of the watch's own one, or of a longer one that was imposed. */
export function cooldownEnd(
  { lastFiredAt, cooldownUntil }: Pick<FoldedTimes, 'lastFiredAt' | 'cooldownUntil'>,
  cooldownSeconds: number,
): number {
  const own = lastFiredAt === null ? -Infinity : lastFiredAt.getTime() + cooldownSeconds * 1000
  return Math.max(own, cooldownUntil?.getTime() ?? -Infinity)
}

/**
 * The times of a signal after an observation, and the end of the cooldown that its alert imposes. What the signal does
 * counts, not what was told of it, so one cooldown follows another while it goes on.
 */
export function timesAfter(
  before: FoldedTimes | undefined,
  step: { readonly isFiring: boolean; readonly isAlert: boolean; readonly at: Date },
  cooldownSeconds: number,
): FoldedTimes & { readonly imposed: Date | undefined } {
  const { isFiring, isAlert, at } = step
  const { lastFiredAt = null } = before ?? {}
  const known = before?.cooldownUntil ?? null
  const cooldownUntil = known !== null && known > at ? known : null
  const changes = changesAfter(before?.changes ?? [], isFiring, at)
  if (!isAlert) return { lastFiredAt, changes, cooldownUntil, imposed: undefined }
  const imposed = imposedCooldown({ changes, cooldownUntil }, cooldownSeconds, at)
  return { lastFiredAt: at, changes, cooldownUntil: imposed ?? cooldownUntil, imposed }
}

/**
 * The changes of a signal after an observation. They alternate and begin with a beginning, so their number is odd while
 * the signal fires. Those that do not count any more go in pairs, which keeps it so.
 */
function changesAfter(before: readonly Date[], isFiring: boolean, at: Date): readonly Date[] {
  const wasFiring = before.length % 2 === 1
  const changes = wasFiring === isFiring ? [...before] : [...before, at]
  for (;;) {
    const second = changes[1]
    if (second === undefined) return changes
    if (changes.length <= CHANGES_MAX + 2 && isRecent(second, at)) return changes
    changes.splice(0, 2)
  }
}

/**
 * End of the cooldown that an alert imposes; undefined if its signal does not change often, such a cooldown is
 * running, or the watch has a longer one of its own.
 */
function imposedCooldown(
  { changes, cooldownUntil }: Pick<FoldedTimes, 'changes' | 'cooldownUntil'>,
  cooldownSeconds: number,
  at: Date,
): Date | undefined {
  if (cooldownUntil !== null || cooldownSeconds * 1000 >= FREQUENT_MS) return undefined
  const recent = changes.filter((change) => isRecent(change, at))
  return recent.length > CHANGES_MAX ? new Date(at.getTime() + FREQUENT_MS) : undefined
}

function isRecent(change: Date, at: Date): boolean {
  return at.getTime() - change.getTime() < FREQUENT_MS
}
