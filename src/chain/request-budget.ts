import { EndpointBusy } from './failures.ts'

/**
 * Paces the requests to one endpoint. Every process has one budget for each endpoint, and all its readers
 * share it.
 *
 * The number of requests per second starts low, and grows while requests wait and none is refused. A refusal
 * pauses all requests, for the time that the endpoint states if it states one, and lowers the rate to what
 * the endpoint answered since the refusal before: between two refusals it has answered as much as it allows.
 */
export interface RequestBudget {
  /**
   * Waits until a request may be sent. More urgent requests go first.
   *
   * @throws EndpointBusy when no request may be sent for a long time
   * @throws the signal's reason when the caller aborts first
   */
  begin(signal: AbortSignal, urgency: Urgency): Promise<void>
  /**
   * Records the end of a request.
   *
   * @param retryAfterMs time after which the endpoint wants the next request, in milliseconds, if it states it
   */
  end(outcome: RequestOutcome, retryAfterMs?: number): void
  /** Time for which no request may be sent because of a refusal, in milliseconds; 0 usually. */
  pausedMs(): number
  /** Present rate in requests per minute. */
  perMinute(): number
}

/** `limited`: refused because of too many requests; `failed`: not answered for another reason. */
export type RequestOutcome = 'answered' | 'limited' | 'failed'

/** 0: the newest blocks; 1: open rounds; 2: the past. */
export type Urgency = 0 | 1 | 2

const RATE_START = 25
const RATE_MAX = 250
/** Lowest rate, which reads the newest block and little else. */
const RATE_MIN = 0.5
/** Factor of the rate while no refusal is known, and afterwards. */
const GROWTH = 1.5
const CAREFUL_GROWTH = 1.05
/** Seconds without a refusal after which the rate grows, while no refusal is known, and afterwards. */
const GROWS_AFTER_S = 2
const GROWS_CAREFULLY_AFTER_S = 30
/** Factor of the rate at the first refusal, when nothing is known of the limit. */
const FIRST_CUT = 0.6
/** Lowest factor at a later refusal; few requests since the last one say little about the limit. */
const CUT_MIN = 0.5
/** Share of what the endpoint answers that is used. */
const MARGIN = 0.95
const PAUSE_MS = 1000
const PAUSE_MS_MAX = 16_000
const RETRY_AFTER_MS_MAX = 120_000
/** Longest wait for a turn. */
const WAIT_MS_MAX = 20_000
/** Maximum number of concurrent requests. */
const AT_ONCE = 24

interface Waiting {
  readonly begin: () => void
}

/**
 * Creates a budget. Long because all parts share the rate and the queues.
 *
 * @param perMinute maximum number of requests per minute; learned if omitted
 */
export function createRequestBudget(perMinute?: number): RequestBudget {
  const rateMax = perMinute === undefined ? RATE_MAX : perMinute / 60
  const queues: readonly Set<Waiting>[] = [new Set(), new Set(), new Set()]
  let rate = perMinute === undefined ? RATE_START : rateMax
  let tokens = Math.max(rate, 1)
  let refilledAt = performance.now()
  let underWay = 0
  let pausedUntil = 0
  let pauseMs = PAUSE_MS
  /** Time of the last refusal; undefined before the first. */
  let refusedAt: number | undefined
  let grownAt = refilledAt
  let answered = 0
  /** Whether a request waited for its turn since the rate was last changed. */
  let isShort = false
  let timer: NodeJS.Timeout | undefined

  function refill(now: number): void {
    // During a pause nothing is refilled.
    if (now <= refilledAt) return
    tokens = Math.min(tokens + ((now - refilledAt) / 1000) * rate, Math.max(rate, 1))
    refilledAt = now
  }

  function isFree(now: number): boolean {
    refill(now)
    return underWay < AT_ONCE && tokens >= 1 && now >= pausedUntil
  }

  function start(): void {
    underWay += 1
    tokens -= 1
  }

  function wakeNext(): void {
    clearTimeout(timer)
    for (const queue of queues) {
      for (const waiting of queue) {
        const now = performance.now()
        if (!isFree(now)) {
          // If all slots are taken, the end of a request wakes the next one.
          const untilTokenMs = ((1 - tokens) / rate) * 1000
          timer = setTimeout(wakeNext, Math.max(untilTokenMs, pausedUntil - now, 1)).unref()
          return
        }
        queue.delete(waiting)
        start()
        waiting.begin()
      }
    }
  }

  function grow(now: number): void {
    const [factor, afterS] =
      refusedAt === undefined ? [GROWTH, GROWS_AFTER_S] : [CAREFUL_GROWTH, GROWS_CAREFULLY_AFTER_S]
    if (!isShort || now - Math.max(grownAt, refusedAt ?? 0) < afterS * 1000) return
    rate = Math.min(rate * factor, rateMax)
    grownAt = now
    isShort = false
  }

  function shrink(now: number, retryAfterMs: number | undefined): void {
    const wantedMs = Math.min(retryAfterMs ?? pauseMs, RETRY_AFTER_MS_MAX)
    // Requests that were under way at a refusal are often refused too, which is no news.
    if (now < pausedUntil) {
      pausedUntil = Math.max(pausedUntil, retryAfterMs === undefined ? 0 : now + wantedMs)
      return
    }
    // An endpoint that has answered nothing since then says nothing about its rate; only the pause grows.
    if (refusedAt === undefined || answered > 0) {
      const seconds = refusedAt === undefined ? 0 : (now - refusedAt) / 1000
      const share = seconds < 1 ? FIRST_CUT : ((answered / seconds) * MARGIN) / rate
      rate = Math.max(rate * Math.min(Math.max(share, CUT_MIN), 1), RATE_MIN)
    }
    refusedAt = now
    grownAt = now
    answered = 0
    isShort = false
    tokens = 0
    pausedUntil = now + wantedMs
    refilledAt = Math.max(refilledAt, pausedUntil)
    pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)
  }

  return {
    begin(signal, urgency) {
      signal.throwIfAborted()
      const queue = queues[urgency]
      if (queue === undefined) throw new Error(`no queue ${urgency}`)
      const isFirst = queues.every((other, at) => at > urgency || other.size === 0)
      if (isFirst && isFree(performance.now())) {
        start()
        return Promise.resolve()
      }
      isShort = true
      return waitIn(queue, signal)
    },
    end(outcome, retryAfterMs) {
      const now = performance.now()
      underWay -= 1
      if (outcome === 'answered') {
        answered += 1
        pauseMs = PAUSE_MS
        grow(now)
      } else if (outcome === 'limited') shrink(now, retryAfterMs)
      wakeNext()
    },
    pausedMs: () => Math.max(pausedUntil - performance.now(), 0),
    perMinute: () => Math.round(rate * 60),
  }

  function waitIn(queue: Set<Waiting>, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = (reason: unknown) => {
      queue.delete(waiting)
      end()
      reject(reason)
    }
    const onAbort = () => leave(signal.reason)
    const limit = setTimeout(() => leave(new EndpointBusy('too many requests')), WAIT_MS_MAX)
    limit.unref()
    const end = () => {
      clearTimeout(limit)
      signal.removeEventListener('abort', onAbort)
    }
    const waiting: Waiting = {
      begin: () => {
        end()
        resolve()
      },
    }
    signal.addEventListener('abort', onAbort, { once: true })
    queue.add(waiting)
    wakeNext()
    return promise
  }
}
