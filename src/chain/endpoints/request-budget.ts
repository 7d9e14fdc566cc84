import { EndpointBusy } from './failures.ts'

/**
 * Paces the requests to one endpoint. Every process has one budget for each endpoint, and all its readers
 * share it.
 *
 * The number of requests per second starts low, and grows while requests wait and none is refused. A refusal
 * pauses all requests, longer with each in a row, or for the time that the endpoint states. When the endpoint
 * answers again, the rate falls to what it has answered, pauses included: that is as much as it allows. If it
 * then refuses as often as before, though it answers fewer, the number of requests was not the reason, and the rate rises
 * again.
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
const RATE_MIN = 1
/** Factor of the rate while no refusal is known, and afterwards. */
const GROWTH = 1.5
const CAREFUL_GROWTH = 1.1
/** Seconds without a refusal after which the rate grows, while no refusal is known, and afterwards. */
const GROWS_AFTER_S = 2
const GROWS_CAREFULLY_AFTER_S = 20
/** Lowest factor of a lower rate; an endpoint that was out of order seems to allow little. */
const CUT_MIN = 0.25
/**
 * Share of what the endpoint answers that is used after several refusals in a row, and after others: those may
 * be chance, which shows only when clearly fewer requests are sent.
 */
const MARGIN = 0.95
const TRIAL_MARGIN = 0.8
/** Number of requests that say how often the endpoint refuses one. */
const SAMPLE = 30
/** Time without a refusal after which refusals have another reason than those before. */
const QUIET_MS = 10_000
/** Refusals in a row that are not chance, and those that are not while refusals are known to be chance. */
const CERTAIN_IN_A_ROW = 3
const CERTAIN_IN_A_ROW_BY_CHANCE = 6
/** Share of the earlier refusals above which a lower rate has not helped. */
const HELPED = 0.5
/** Share of the earlier answers below which clearly fewer requests were sent. */
const FEWER = 0.9
/** Time for which refusals are taken for chance after a lower rate has not helped. */
const CHANCE_MS = 600_000
/** Pause after the first refusal, its factor after each other one in a row, and the longest pause. */
const PAUSE_MS = 100
const PAUSE_GROWTH = 4
const PAUSE_MS_MAX = 8000
/**
 * Longest pause that an endpoint may state: with its first refusal in a row, and with a later one. One answer must not stop
 * the service for longer than an outage lasts before people are told.
 */
const RETRY_AFTER_MS_MAX = [15_000, 60_000] as const
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
  /** Number of the next ends that say nothing new, because these requests were under way at a refusal. */
  let stale = 0
  /** Refusals in a row, without stale ones. */
  let inARow = 0
  /** Time of the last refusal; undefined before the first. */
  let refusedAt: number | undefined
  let grownAt = refilledAt
  /** Requests since one that was refused, while refusals follow one another. */
  let sample = sampleFrom(refilledAt, 0)
  /** Requests answered since the endpoint last refused several in a row, and when that ended. */
  let sinceCertain = { answered: 0, since: refilledAt }
  /** Before the first of several trials of a lower rate: the rate, and what came of the requests. */
  let earlier:
    | { readonly rate: number; readonly share: number; readonly perSecond: number }
    | undefined
  /** Until when refusals are taken for chance. */
  let chanceUntil = 0
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
          // The end of a request wakes the next one.
          if (underWay >= AT_ONCE) return
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

  function pause(now: number, isStale: boolean, retryAfterMs: number | undefined): void {
    if (now - (refusedAt ?? 0) > QUIET_MS) {
      sample = sampleFrom(now, underWay)
      earlier = undefined
    }
    refusedAt = now
    if (!isStale) {
      sample.refused += 1
      inARow += 1
      stale = underWay
    }
    const grownMs = Math.min(PAUSE_MS * PAUSE_GROWTH ** (inARow - 1), PAUSE_MS_MAX)
    const statedMs = Math.min(retryAfterMs ?? 0, RETRY_AFTER_MS_MAX[inARow > 1 ? 1 : 0])
    const wantedMs = Math.max(statedMs, isStale ? 0 : grownMs)
    pausedUntil = Math.max(pausedUntil, now + wantedMs)
    tokens = Math.min(tokens, 1)
    refilledAt = Math.max(refilledAt, pausedUntil)
  }

  /** Lowers the rate, or takes lower rates back, when the endpoint answers after refusals. */
  function learn(now: number): void {
    const isByChance = now < chanceUntil
    const tried = {
      rate,
      share: sample.refused / (sample.fresh + sample.refused),
      perSecond: perSecond(sample, now),
    }
    if (inARow >= (isByChance ? CERTAIN_IN_A_ROW_BY_CHANCE : CERTAIN_IN_A_ROW)) {
      // The one answer that ended the refusals says nothing about the rate.
      if (sinceCertain.answered > 1) lower(MARGIN * perSecond(sinceCertain, now))
      sinceCertain = { answered: 0, since: now }
    } else if (sample.fresh + sample.refused < SAMPLE) return
    else if (earlier !== undefined && isInVain(earlier, tried)) {
      rate = earlier.rate
      chanceUntil = now + CHANCE_MS
    } else if (!isByChance) {
      earlier ??= tried
      lower(TRIAL_MARGIN * perSecond(sample, now))
    }
    sample = sampleFrom(now, underWay)
    stale = underWay
    grownAt = now
    isShort = false
  }

  function lower(to: number): void {
    rate = Math.min(Math.max(Math.min(to, rate), rate * CUT_MIN, RATE_MIN), rateMax)
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
      const isStale = stale > 0
      if (isStale) stale -= 1
      const isEarly = sample.early > 0
      if (isEarly) sample.early -= 1
      if (outcome === 'answered') {
        if (!isEarly) sample.answered += 1
        if (!isStale) sample.fresh += 1
        sinceCertain.answered += 1
        if (inARow > 0 && !isStale) {
          learn(now)
          inARow = 0
        }
        grow(now)
      } else if (outcome === 'limited') pause(now, isStale, retryAfterMs)
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

/** What came of requests at a rate: the share that was refused, and how many were answered. */
interface Tried {
  readonly share: number
  readonly perSecond: number
}

/**
 * Whether a lower rate was in vain: as much is refused as before, of clearly fewer requests. An endpoint that refuses the
 * number answers as many as before, as long as it is asked for more.
 */
function isInVain(before: Tried, now: Tried): boolean {
  return now.share > before.share * HELPED && now.perSecond < before.perSecond * FEWER
}

/**
 * `answered` counts requests that were sent since, except for the first `early` ones to end, which were under way; `fresh` and
 * `refused` those that were sent since an earlier refusal.
 */
function sampleFrom(since: number, early: number) {
  return { answered: 0, fresh: 0, refused: 0, since, early }
}

function perSecond(
  span: { readonly answered: number; readonly since: number },
  now: number,
): number {
  return (span.answered / Math.max(now - span.since, 1)) * 1000
}
