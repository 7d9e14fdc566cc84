/** Divides slices among the processes that work on them. Pure. */

/** A slice, with its owner. */
export interface SliceLease {
  readonly slice: number
  readonly owner: string | null
  /** Fencing number, which grows with every new owner. */
  readonly number: number
  /** Whether the owner renews its membership. */
  readonly isOwnerLive: boolean
}

/** Slices that one process releases and may take to reach its share. */
export interface ShareMove {
  /** Slices that the process gives up, because other processes have joined. */
  readonly giveUp: readonly number[]
  /** Free slices that the process may take, and the number that it may take. */
  readonly free: readonly number[]
  readonly take: number
}

/**
 * Computes what a process releases and takes. The number of its slices follows from its position among the members:
 * two processes differ by one slice at most, and all processes together have all slices. Processes that see the
 * same members compute the same numbers, so they need not exchange messages.
 *
 * @param members live members, with `me`
 */
export function planShare(
  me: string,
  members: ReadonlySet<string>,
  leases: readonly SliceLease[],
): ShareMove {
  const all = [...new Set([...members, me])].sort()
  const spare = all.indexOf(me) < leases.length % all.length ? 1 : 0
  const share = Math.floor(leases.length / all.length) + spare
  const mine = leases.filter(({ owner }) => owner === me)
  const free = leases.filter(({ owner, isOwnerLive }) => owner === null || !isOwnerLive)
  return {
    giveUp: mine.slice(share).map(({ slice }) => slice),
    free: free.flatMap(({ owner, slice }) => (owner === me ? [] : [slice])),
    take: Math.max(0, share - mine.length),
  }
}
