import type { SendingLimits } from '#src/channels/define.ts'

/**
 * How much of one channel is sent at once, and to whom. Every channel has a room of its own, so that a slow
 * mail server leaves webhooks alone. Inside it there are bounds for
 *
 * - a recipient: its places grow while it answers quickly, and shrink while it does not;
 * - a partition (a host, a chat, a mail domain): as many as its recipients together prove to be quick, whatever
 *   a slow one of them does;
 * - recipients that did not answer last time, or slowly: one place each, a quarter of the room in all, and
 *   a small share of that for each group of them (a registrable domain, an address), so that many hanging
 *   hosts leave the others their room;
 * - recipients of which nothing is known yet: together with these three quarters of the room.
 *
 * A partition that has proved quick may have twice as many more waiting, so that none of its places stands empty
 * while the next ones are fetched. These take no room from other partitions.
 */

const QUICK_MS = 1000
const SLOW_MS = 5000
/** What a quick partition may have, on its way and waiting, for each that is on its way at most. */
const QUICK_SHARE = 3
/** The share of the room for recipients that did not answer last time. */
const SUSPECT_SHARE = 1 / 4
/** The share of the room for these and for recipients of which nothing is known. */
const UNPROVED_SHARE = 3 / 4
/** Of the places for suspects, the share of one group of them. */
const GROUP_SHARE = 1 / 8
/** So many recipients are remembered; of more the one longest unused is forgotten. */
const REMEMBERED_MAX = 50_000
/** After so many attempts in a row without an answer a recipient has a record of hanging. */
const HANGS_FOR_RECORD = 3
/** Every so many attempts a recipient with such a record gets the whole time for its answer. */
const WHOLE_TIME_EVERY = 4

/** With such a record its backlog rests after a failure, twice as long each time. */
const REST_MS = { first: 1000, max: 60_000 } as const

/** Who a place is for. */
export interface Destination {
  readonly recipientId: number
  readonly partitionKey: string
  /** It waits in its recipient's backlog. */
  readonly backlog: boolean
}

/** A place that is taken, counted at once. */
export interface Permit {
  /** Fulfilled when it is free. */
  readonly ready: Promise<void>
  /** What was known of the recipient when it was taken. */
  readonly state: DestinationState
  /**
   * Gives it back.
   *
   * @param result milliseconds until the answer; `none` when no answer came; undefined when it says
   *   nothing about the recipient
   */
  release(result: number | 'none' | undefined): void
}

/** `suspect`: did not answer last time, or slowly. */
type DestinationState = 'answers' | 'unknown' | 'suspect'

/** What can still be taken, one after another, before any of it is claimed. */
export interface Choice {
  /** Whether there is a place for one more; counts it as taken in this choice. */
  take(destination: Destination): boolean
  /** Places left in all. */
  left(): number
}

/** Counts what is on its way in one channel, and remembers how recipients answer. */
export interface ConcurrencyLimiter {
  /** Places free in all. */
  free(): number
  choose(): Choice
  acquire(destination: Destination): Permit
  /** Lanes and recipients without a free place, except suspects. */
  full(): { readonly partitions: readonly string[]; readonly recipients: readonly number[] }
  isSuspect(recipientId: number): boolean
  /** Recipients whose backlogs rest: the last attempts got no answer at all. */
  resting(): readonly number[]
  /** Whether the next attempt is to give up early: the last ones got no answer at all. */
  isShort(recipientId: number): boolean
}

interface Host {
  used: number
  limit: number
  readonly waiting: (() => void)[]
}

interface Recipient {
  taken: number
  limit: number
  state: DestinationState
  /** Attempts without an answer, in a row. */
  hangs: number
}

/** Until when recipients rest, on a clock that never goes back. */
type Rests = Map<number, number>

/** What is taken beside what is free, in all and by key. */
interface Counts {
  suspects: number
  unproved: number
  readonly groups: Map<string, number>
}

/**
 * The empty partitions of a channel. Long because acquiring, releasing and adapting share the counts of the
 * partitions and groups.
 *
 * @param groupsOf what partitions have in common with others: registrable domain, addresses
 */
export function createConcurrencyLimiter(
  { room, initialLimit, limitMax }: SendingLimits,
  groupsOf: (partitionKey: string) => readonly string[] = () => [],
): ConcurrencyLimiter {
  const hosts = new Map<string, Host>()
  const recipients = new Map<number, Recipient>()
  const rests: Rests = new Map()
  const counts: Counts = { suspects: 0, unproved: 0, groups: new Map() }
  const suspectsMax = Math.max(1, Math.floor(room * SUSPECT_SHARE))
  const unprovedMax = Math.max(1, Math.floor(room * UNPROVED_SHARE))
  const groupMax = Math.max(1, Math.floor(suspectsMax * GROUP_SHARE))

  /** What waits in a backlog has failed before: as long as nothing better is known, that counts. */
  function stateOf({ recipientId, backlog }: Destination): DestinationState {
    const known = recipients.get(recipientId)?.state ?? 'unknown'
    return known === 'unknown' && backlog ? 'suspect' : known
  }

  function recipientOf(id: number): Recipient {
    const known = recipients.get(id)
    const recipient = known ?? { taken: 0, limit: initialLimit, state: 'unknown', hangs: 0 }
    recipients.delete(id)
    recipients.set(id, recipient)
    if (recipients.size > REMEMBERED_MAX) forgetOne()
    return recipient
  }

  function forgetOne(): void {
    for (const [id, { taken }] of recipients) {
      if (taken > 0) continue
      recipients.delete(id)
      return
    }
  }

  function free(): number {
    let taken = 0
    for (const host of hosts.values())
      taken += Math.max(host.used, Math.min(inHost(host), host.limit))
    return Math.max(0, room - taken)
  }

  function placesOf({ recipientId }: Destination, state: DestinationState): number {
    if (state === 'suspect') return 1
    const limit = recipients.get(recipientId)?.limit ?? initialLimit
    return placesIn(limit, initialLimit)
  }

  function count(state: DestinationState, groups: readonly string[], change: 1 | -1): void {
    if (state !== 'answers') counts.unproved += change
    if (state !== 'suspect') return
    counts.suspects += change
    for (const group of groups) {
      const left = (counts.groups.get(group) ?? 0) + change
      if (left === 0) counts.groups.delete(group)
      else counts.groups.set(group, left)
    }
  }

  return {
    free,
    choose() {
      let left = free()
      const taken = { suspects: 0, unproved: 0 }
      const more = new Map<string, number>()
      const inChoice = (key: string) => more.get(key) ?? 0
      return {
        left: () => left,
        take(destination) {
          const { recipientId, partitionKey } = destination
          const state = stateOf(destination)
          const groups = state === 'suspect' ? groupsOf(partitionKey) : []
          const host = hosts.get(partitionKey)
          const hostKey = `partition ${partitionKey}`
          const ownKey = `recipient ${recipientId}`
          const hostPlaces = placesIn(host?.limit ?? initialLimit, initialLimit)
          const own = recipients.get(recipientId)?.taken ?? 0
          const hasPlace =
            left > 0 &&
            (host === undefined ? 0 : inHost(host)) + inChoice(hostKey) < hostPlaces &&
            own + inChoice(ownKey) < placesOf(destination, state) &&
            (state === 'answers' || counts.unproved + taken.unproved < unprovedMax) &&
            (state !== 'suspect' || counts.suspects + taken.suspects < suspectsMax) &&
            groups.every(
              (group) => (counts.groups.get(group) ?? 0) + inChoice(`group ${group}`) < groupMax,
            )
          if (!hasPlace) return false
          left -= 1
          if (state !== 'answers') taken.unproved += 1
          if (state === 'suspect') taken.suspects += 1
          for (const key of [hostKey, ownKey, ...groups.map((group) => `group ${group}`)]) {
            more.set(key, inChoice(key) + 1)
          }
          return true
        },
      }
    },
    acquire(destination) {
      const { recipientId, partitionKey } = destination
      const state = stateOf(destination)
      const groups = state === 'suspect' ? groupsOf(partitionKey) : []
      const host = hosts.get(partitionKey) ?? { used: 0, limit: initialLimit, waiting: [] }
      hosts.set(partitionKey, host)
      const recipient = recipientOf(recipientId)
      recipient.taken += 1
      count(state, groups, 1)
      let ready = Promise.resolve()
      if (host.used < host.limit) host.used += 1
      else ready = new Promise<void>((resolve) => host.waiting.push(resolve))
      return {
        ready,
        state: state,
        release(result) {
          host.used -= 1
          recipient.taken -= 1
          count(state, groups, -1)
          // No wider while the channel is full: what waits in it would come on top.
          const isRoom = free() > 0
          if (result !== undefined) judge(recipient, result, isRoom ? limitMax : recipient.limit)
          if (recipient.hangs >= HANGS_FOR_RECORD)
            rests.set(recipientId, restUntil(recipient.hangs))
          else rests.delete(recipientId)
          const isQuick = result !== undefined && result !== 'none' && result <= QUICK_MS
          if (result !== undefined && (isQuick || state === 'answers')) {
            // Its own places keep a slow recipient from the others of its host.
            const next = nextLimit(host.limit, result, isRoom ? limitMax : host.limit)
            host.limit = Math.max(next, Math.min(initialLimit, host.limit))
          }
          while (host.used < host.limit && host.waiting.length > 0) {
            host.used += 1
            host.waiting.shift()?.()
          }
          if (inHost(host) === 0 && host.limit === initialLimit) hosts.delete(partitionKey)
        },
      }
    },
    full() {
      return {
        partitions: [...hosts].flatMap(([partitionKey, host]) =>
          inHost(host) >= placesIn(host.limit, initialLimit) ? [partitionKey] : [],
        ),
        recipients: [...recipients].flatMap(([id, { taken, limit, state }]) =>
          state !== 'suspect' && taken >= placesIn(limit, initialLimit) ? [id] : [],
        ),
      }
    },
    resting() {
      const now = performance.now()
      for (const [id, until] of rests) if (until <= now) rests.delete(id)
      return [...rests.keys()]
    },
    isSuspect: (recipientId) => recipients.get(recipientId)?.state === 'suspect',
    isShort(recipientId) {
      const hangs = recipients.get(recipientId)?.hangs ?? 0
      return hangs >= HANGS_FOR_RECORD && hangs % WHOLE_TIME_EVERY !== 0
    },
  }
}

function judge(recipient: Recipient, result: number | 'none', max: number): void {
  recipient.limit = nextLimit(recipient.limit, result, max)
  recipient.hangs = result === 'none' ? recipient.hangs + 1 : 0
  recipient.state = result === 'none' || result > SLOW_MS ? 'suspect' : 'answers'
}

function restUntil(hangs: number): number {
  return performance.now() + Math.min(REST_MS.max, REST_MS.first * 2 ** (hangs - HANGS_FOR_RECORD))
}

function inHost(host: Host): number {
  return host.used + host.waiting.length
}

function placesIn(limit: number, initialLimit: number): number {
  return limit > initialLimit ? QUICK_SHARE * limit : limit
}

function nextLimit(limit: number, result: number | 'none', max: number): number {
  if (result === 'none' || result > SLOW_MS) return Math.max(1, Math.floor(limit / 2))
  return result <= QUICK_MS ? Math.min(Math.max(max, limit), limit + 1) : limit
}
