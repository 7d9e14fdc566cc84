import type { SendingLimits } from '#src/channels/define.ts'

/**
 * Limits how many messages of a channel are sent at once, and to whom. Every channel has a separate limit,
 * so that a slow mail server does not affect webhooks. Within it there are limits for
 *
 * - a recipient: one more after each response within `QUICK_MS`, half after a missing response or one slower than
 * `SLOW_MS`;
 * - a partition (a host, a chat, a mail domain): likewise, but never below its first limit, and a slow response counts
 * only if the recipient's response before was not slow;
 * - recipients whose last response was slow or missing: one place each, in total a quarter of the channel,
 * and a small share of that quarter for each of their groups (a registrable domain, an IP address), so that
 * many unresponsive hosts leave places for the others;
 * - recipients without history: together with slow recipients at most three quarters of the channel, and one
 * place each while half of these are taken, so that none of them waits for the others' further messages.
 *
 * A partition whose recipients responded quickly may have twice as many further messages waiting, so that
 * its places are never empty while the next deliveries are claimed. Waiting messages take no places from
 * other partitions.
 */

const QUICK_MS = 1000
const SLOW_MS = 5000
/** Messages of a quick partition, in progress and waiting, per place. */
const QUICK_MESSAGES_PER_PLACE = 3
/** Share of a channel for suspects: recipients whose last response was slow or missing. */
const SUSPECT_SHARE = 1 / 4
/** Share of a channel for suspects and recipients without history together. */
const UNPROVED_SHARE = 3 / 4
/** Share of the unproved places that is kept for the first message to each recipient. */
const FIRST_SHARE = 1 / 2
/** Share of the suspects' places that one group may take. */
const GROUP_SHARE = 1 / 8
/**
 * Maximum number of recipients whose history is stored; the recipient that was not used for the longest
 * time is dropped first.
 */
const REMEMBERED_RECIPIENTS_MAX = 50_000
/** Number of attempts without a response in a row after which a recipient counts as hanging. */
const HANGS_MIN = 3
/** Interval, in attempts, at which a hanging recipient gets the full timeout. */
const FULL_TIMEOUT_EVERY = 4

/** Pause before the further first attempts of a hanging recipient; doubles with each attempt without a response. */
const PAUSE_MS = { first: 1000, max: 60_000 } as const

/** Recipient of a place. */
export interface LimitedDelivery {
  readonly recipientId: number
  readonly partitionKey: string
  /** Whether the delivery was tried before. */
  readonly wasTried: boolean
}

/** A place, counted from the moment it is taken. */
export interface Permit {
  /** Fulfilled when the place is free. */
  readonly ready: Promise<void>
  /** State of the recipient when the place was taken. */
  readonly state: DestinationState
  /**
   * Releases the place, and records the result.
   *
   * @param result milliseconds until the response; `none` without a response; undefined if the result says
   * nothing about the recipient
   */
  release(result: number | 'none' | undefined): void
}

/** `suspect`: the last response was slow or missing. */
export type DestinationState = 'answers' | 'unknown' | 'suspect'

/** Reserves places one by one, before deliveries are claimed. */
export interface PlaceReservation {
  /** Reserves a place for one more message; false if there is none. */
  reserve(destination: LimitedDelivery): boolean
  /** Free places in all. */
  placesLeft(): number
}

/** Partitions and recipients that have no free place. */
export interface FullDestinations {
  readonly partitions: readonly string[]
  readonly recipients: readonly number[]
}

/** Counts messages in progress of one channel, and stores how recipients respond. */
export interface ConcurrencyLimiter {
  /** Free places in all. */
  free(): number
  startReservation(): PlaceReservation
  acquire(destination: LimitedDelivery): Permit
  /** Partitions and recipients without a free place, except suspects. */
  full(): FullDestinations
  isSuspect(recipientId: number): boolean
  /** Milliseconds for which nothing new is tried, because the last attempts got no response; 0 for most recipients. */
  pauseMsOf(recipientId: number): number
  /** Whether the next attempt uses the shorter timeout, because the last attempts got no response. */
  usesShortTimeout(recipientId: number): boolean
}

interface Partition {
  used: number
  /** Number of places of the channel that the partition takes. */
  counted: number
  limit: number
  readonly waiting: (() => void)[]
}

interface Recipient {
  taken: number
  limit: number
  state: DestinationState
  /** Number of attempts without a response in a row. */
  hangs: number
}

/** End of each recipient's pause, by a monotonic clock. */
type PauseEnds = Map<number, number>

/** Number of places that are taken, in total and by key. */
interface Counts {
  inAll: number
  suspects: number
  unproved: number
  readonly groups: Map<string, number>
}

/**
 * Creates the limiter of a channel. Long because acquiring, releasing and adapting share the counts of the
 * partitions and groups.
 *
 * @param groupsOf groups of a partition: its registrable domain and IP addresses
 */
export function createConcurrencyLimiter(
  { capacity, initialLimit, limitMax }: SendingLimits,
  groupsOf: (partitionKey: string) => readonly string[] = () => [],
): ConcurrencyLimiter {
  const partitions = new Map<string, Partition>()
  const recipients = new Map<number, Recipient>()
  const pauseEnds: PauseEnds = new Map()
  /** Recipients with places taken. */
  const inUse = new Map<number, Recipient>()
  const counts: Counts = { inAll: 0, suspects: 0, unproved: 0, groups: new Map() }
  const suspectsMax = Math.max(1, Math.floor(capacity * SUSPECT_SHARE))
  const unprovedMax = Math.max(1, Math.floor(capacity * UNPROVED_SHARE))
  const furtherMax = Math.floor(unprovedMax * (1 - FIRST_SHARE))
  const groupMax = Math.max(1, Math.floor(suspectsMax * GROUP_SHARE))

  /** A delivery that was tried has failed: without better history, the recipient is a suspect. */
  function stateOf({ recipientId, wasTried }: LimitedDelivery): DestinationState {
    const known = recipients.get(recipientId)?.state ?? 'unknown'
    return known === 'unknown' && wasTried ? 'suspect' : known
  }

  function recipientOf(id: number): Recipient {
    const known = recipients.get(id)
    const recipient = known ?? { taken: 0, limit: initialLimit, state: 'unknown', hangs: 0 }
    recipients.delete(id)
    recipients.set(id, recipient)
    if (recipients.size > REMEMBERED_RECIPIENTS_MAX) forgetOne()
    return recipient
  }

  function forgetOne(): void {
    for (const [id, { taken }] of recipients) {
      if (taken > 0) continue
      recipients.delete(id)
      return
    }
  }

  const free = () => Math.max(0, capacity - counts.inAll)

  /** Counts the places of a partition again. Messages that wait beyond its limit take no place. */
  function countAgain(partition: Partition): void {
    const places = Math.max(partition.used, Math.min(messagesIn(partition), partition.limit))
    counts.inAll += places - partition.counted
    partition.counted = places
  }

  function placesOf(id: number, state: DestinationState, unproved = counts.unproved): number {
    if (state === 'suspect' || (state === 'unknown' && unproved >= furtherMax)) return 1
    return placesIn(recipients.get(id)?.limit ?? initialLimit, initialLimit)
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
    startReservation() {
      let left = free()
      const taken = { suspects: 0, unproved: 0 }
      const reserved = new Map<string, number>()
      const inChoice = (key: string) => reserved.get(key) ?? 0
      return {
        placesLeft: () => left,
        reserve(destination) {
          const { recipientId, partitionKey } = destination
          const state = stateOf(destination)
          const groups = state === 'suspect' ? groupsOf(partitionKey) : []
          const partition = partitions.get(partitionKey)
          const partitionId = `partition ${partitionKey}`
          const ownKey = `recipient ${recipientId}`
          const partitionPlaces = placesIn(partition?.limit ?? initialLimit, initialLimit)
          const takenByRecipient = recipients.get(recipientId)?.taken ?? 0
          const unproved = counts.unproved + taken.unproved
          const hasPlace =
            left > 0 &&
            (partition === undefined ? 0 : messagesIn(partition)) + inChoice(partitionId) <
              partitionPlaces &&
            takenByRecipient + inChoice(ownKey) < placesOf(recipientId, state, unproved) &&
            (state === 'answers' || unproved < unprovedMax) &&
            (state !== 'suspect' || counts.suspects + taken.suspects < suspectsMax) &&
            groups.every(
              (group) => (counts.groups.get(group) ?? 0) + inChoice(`group ${group}`) < groupMax,
            )
          if (!hasPlace) return false
          left -= 1
          if (state !== 'answers') taken.unproved += 1
          if (state === 'suspect') taken.suspects += 1
          for (const key of [partitionId, ownKey, ...groups.map((group) => `group ${group}`)]) {
            reserved.set(key, inChoice(key) + 1)
          }
          return true
        },
      }
    },
    acquire(destination) {
      const { recipientId, partitionKey } = destination
      const state = stateOf(destination)
      const groups = state === 'suspect' ? groupsOf(partitionKey) : []
      const partition = partitions.get(partitionKey) ?? newPartition(initialLimit)
      partitions.set(partitionKey, partition)
      const recipient = recipientOf(recipientId)
      recipient.taken += 1
      inUse.set(recipientId, recipient)
      count(state, groups, 1)
      let ready = Promise.resolve()
      if (partition.used < partition.limit) partition.used += 1
      else ready = new Promise<void>((resolve) => partition.waiting.push(resolve))
      countAgain(partition)
      return {
        ready,
        state,
        release(result) {
          partition.used -= 1
          recipient.taken -= 1
          if (recipient.taken === 0) inUse.delete(recipientId)
          count(state, groups, -1)
          countAgain(partition)
          // The limit does not grow while the channel is full, because more waiting messages would not
          // help.
          const isRoom = free() > 0
          if (result !== undefined)
            recordResponse(recipient, result, isRoom ? limitMax : recipient.limit)
          if (recipient.hangs >= HANGS_MIN) pauseEnds.set(recipientId, pauseEndOf(recipient.hangs))
          else pauseEnds.delete(recipientId)
          const isQuick = result !== undefined && result !== 'none' && result <= QUICK_MS
          if (result !== undefined && (isQuick || state === 'answers')) {
            // The slow response of a recipient that was slow before lowers only its own limit, not that of its
            // partition.
            const next = nextLimit(partition.limit, result, isRoom ? limitMax : partition.limit)
            partition.limit = Math.max(next, Math.min(initialLimit, partition.limit))
          }
          while (partition.used < partition.limit && partition.waiting.length > 0) {
            partition.used += 1
            partition.waiting.shift()?.()
          }
          countAgain(partition)
          if (messagesIn(partition) === 0 && partition.limit === initialLimit)
            partitions.delete(partitionKey)
        },
      }
    },
    full: () => ({
      partitions: [...partitions].flatMap(([partitionKey, partition]) =>
        messagesIn(partition) >= placesIn(partition.limit, initialLimit) ? [partitionKey] : [],
      ),
      recipients: [...inUse].flatMap(([id, { taken, state }]) =>
        state !== 'suspect' && taken >= placesOf(id, state) ? [id] : [],
      ),
    }),
    pauseMsOf(recipientId) {
      const leftMs = (pauseEnds.get(recipientId) ?? 0) - performance.now()
      if (leftMs <= 0) pauseEnds.delete(recipientId)
      return Math.max(0, leftMs)
    },
    isSuspect: (recipientId) => recipients.get(recipientId)?.state === 'suspect',
    usesShortTimeout(recipientId) {
      const hangs = recipients.get(recipientId)?.hangs ?? 0
      return hangs >= HANGS_MIN && hangs % FULL_TIMEOUT_EVERY !== 0
    },
  }
}

function recordResponse(recipient: Recipient, result: number | 'none', max: number): void {
  recipient.limit = nextLimit(recipient.limit, result, max)
  recipient.hangs = result === 'none' ? recipient.hangs + 1 : 0
  recipient.state = result === 'none' || result > SLOW_MS ? 'suspect' : 'answers'
}

function pauseEndOf(hangs: number): number {
  return performance.now() + Math.min(PAUSE_MS.max, PAUSE_MS.first * 2 ** (hangs - HANGS_MIN))
}

function newPartition(limit: number): Partition {
  return { used: 0, counted: 0, limit, waiting: [] }
}

function messagesIn(partition: Partition): number {
  return partition.used + partition.waiting.length
}

function placesIn(limit: number, initialLimit: number): number {
  return limit > initialLimit ? QUICK_MESSAGES_PER_PLACE * limit : limit
}

function nextLimit(limit: number, result: number | 'none', max: number): number {
  if (result === 'none' || result > SLOW_MS) return Math.max(1, Math.floor(limit / 2))
  return result <= QUICK_MS ? Math.min(Math.max(max, limit), limit + 1) : limit
}
