import type { Clock } from '#src/kernel/clock.ts'
import type { ChangeHub } from './change-hub.ts'
import type { Wire } from './model.ts'
import { type BotApiRefusal, conflict } from './refusal.ts'

/** An unconfirmed update. */
export interface PendingUpdate {
  readonly id: number
  /** The whole `Update` object. */
  readonly wire: Wire
  /** Updates of one queue are delivered to a webhook in sequence. */
  readonly queue: string
  readonly expiresAt: Date
}

/** Updates for the bot. */
export interface Updates {
  /** Queues an update; undefined when the bot excluded its type. */
  add(type: string, value: Wire, queue: string): number | undefined
  /** Unconfirmed ones, oldest first. */
  pending(): readonly PendingUpdate[]
  /** Confirms every update below `id`. */
  confirmBelow(id: number): void
  confirm(id: number): void
  clear(): void
  /** Sets the types queued from now on; an empty list means Telegram's default. */
  allow(types: readonly string[]): void
  /** The types the bot requested; undefined for the default. */
  allowed(): readonly string[] | undefined
  /** Calls back when an update is queued. */
  onQueued(listener: () => void): void
}

const FIRST_UPDATE_ID = 501_000_001
const CALLBACK_LIFETIME_MS = 150_000
const LIFETIME_MS = 24 * 60 * 60 * 1000

/** Every type that can occur here. */
const TYPES: readonly string[] = [
  'message',
  'callback_query',
  'inline_query',
  'my_chat_member',
  'chat_member',
]
const NOT_BY_DEFAULT = ['chat_member']

/**
 * Creates an empty queue. An unconfirmed update expires after 24 hours, a callback query after 150 seconds.
 */
export function createUpdates(deps: { clock: Clock; changes: ChangeHub }): Updates {
  const byDefault = TYPES.filter((type) => !NOT_BY_DEFAULT.includes(type))
  let asked: readonly string[] | undefined
  let waiting: PendingUpdate[] = []
  let nextId = FIRST_UPDATE_ID
  const listeners: (() => void)[] = []
  const keep = (isKept: (update: PendingUpdate) => boolean) => {
    const before = waiting.length
    waiting = waiting.filter(isKept)
    if (waiting.length < before) deps.changes.emit({ kind: 'confirmed' })
  }
  return {
    add(type, value, queue) {
      if (!(asked ?? byDefault).includes(type)) return undefined
      const id = nextId++
      const lifetimeMs = type === 'callback_query' ? CALLBACK_LIFETIME_MS : LIFETIME_MS
      const expiresAt = new Date(deps.clock.now().getTime() + lifetimeMs)
      waiting.push({ id, wire: { update_id: id, [type]: value }, queue, expiresAt })
      for (const listener of listeners) listener()
      return id
    },
    pending() {
      const now = deps.clock.now()
      if (waiting.some((update) => update.expiresAt <= now)) {
        keep((update) => update.expiresAt > now)
      }
      return waiting
    },
    confirmBelow: (id) => keep((update) => update.id >= id),
    confirm: (id) => keep((update) => update.id !== id),
    clear: () => keep(() => false),
    allow(types) {
      asked = types.length === 0 ? undefined : types.map((type) => type.toLowerCase())
    },
    allowed: () => asked,
    onQueued(listener) {
      listeners.push(listener)
    },
  }
}

/** One request for updates. */
interface Poll {
  readonly offset: number
  readonly limit: number
  readonly timeoutSeconds: number
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
}

/** The long poll: at most one is waiting at a time. */
export interface Poller {
  /**
   * Updates from `offset` on; all below are confirmed. A negative offset keeps only the newest ones.
   *
   * @throws BotApiRefusal 409 when another poll or a webhook takes over meanwhile
   */
  poll(poll: Poll): Promise<readonly Wire[]>
  /** Ends the waiting poll with a refusal. */
  interrupt(refusal: BotApiRefusal): void
  /** Ends the waiting poll without updates. */
  release(): void
}

/** Creates a poller of a queue. */
export function createPoller(updates: Updates): Poller {
  let waiting: { wake: () => void; fail: (refusal: BotApiRefusal) => void } | undefined
  updates.onQueued(() => waiting?.wake())

  const take = ({ offset, limit }: Poll): readonly Wire[] => {
    if (offset > 0) updates.confirmBelow(offset)
    if (offset < 0) {
      const first = updates.pending().at(offset)
      if (first) updates.confirmBelow(first.id)
    }
    return updates
      .pending()
      .slice(0, limit)
      .map((update) => update.wire)
  }
  const interrupt = (refusal: BotApiRefusal) => waiting?.fail(refusal)

  return {
    interrupt,
    release: () => waiting?.wake(),
    async poll(poll) {
      const ready = take(poll)
      if (ready.length > 0 || poll.timeoutSeconds === 0) return ready
      interrupt(
        conflict(
          'terminated by other getUpdates request; make sure that only one bot instance is running',
        ),
      )
      await new Promise<void>((resolve, reject) => {
        const finish = (settle: () => void) => {
          clearTimeout(timer)
          poll.signal.removeEventListener('abort', wake)
          if (waiting === thisPoll) waiting = undefined
          settle()
        }
        const wake = () => finish(resolve)
        const thisPoll = { wake, fail: (refusal: BotApiRefusal) => finish(() => reject(refusal)) }
        const timer = setTimeout(wake, poll.timeoutSeconds * 1000)
        poll.signal.addEventListener('abort', wake)
        waiting = thisPoll
      })
      return take({ ...poll, offset: 0 })
    },
  }
}
