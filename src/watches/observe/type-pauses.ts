import { backoffMs } from '#src/kernel/backoff.ts'

/** Groups of targets of one type whose slices were observed up to the same block. */
interface Group {
  readonly type: string
  readonly slices: readonly number[]
}

/** Groups that fail, with growing pauses before they are tried again. A process keeps them between its passes. */
export interface TypePauses {
  /** The last error of a group that is not to be tried yet; undefined if it is. */
  errorOf(group: Group): { readonly error: unknown } | undefined
  /** Records a failure, from which the pause begins. Returns whether it is the first in a row. */
  failed(group: Group, error: unknown): boolean
  /** Records a success, which ends the pauses of the group. Returns whether the group failed before. */
  worked(group: Group): boolean
}

/**
 * Creates the pauses. A new block makes every type run again, so that without them a type that cannot be read would
 * send all its requests again with every block.
 *
 * @param nowMs monotonic clock, in milliseconds
 */
export function createTypePauses(nowMs = () => performance.now()): TypePauses {
  const failing = new Map<string, { failures: number; error: unknown; untilMs: number }>()
  return {
    errorOf(group) {
      const last = failing.get(keyOf(group))
      return last !== undefined && nowMs() < last.untilMs ? last : undefined
    },
    failed(group, error) {
      const failures = (failing.get(keyOf(group))?.failures ?? 0) + 1
      failing.set(keyOf(group), { failures, error, untilMs: nowMs() + backoffMs(failures) })
      return failures === 1
    },
    worked: (group) => failing.delete(keyOf(group)),
  }
}

function keyOf({ type, slices }: Group): string {
  return `${type} ${slices[0]}`
}
