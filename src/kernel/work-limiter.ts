import { AppError } from './errors.ts'

/** Limits concurrent work, with a queue. */
export interface WorkLimiter {
  /**
   * Runs `work` when a slot is free.
   *
   * @throws the refusal of the limits when too many callers are waiting, or no slot is free in time
   * @throws the signal's reason when the caller aborts while waiting
   */
  take<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

const RETRY_AFTER_SECONDS = 5

/** Limits of running and of waiting work. */
export interface WorkLimits {
  /** Maximum number of calls of `take` whose work runs at the same time. */
  readonly runningMax: number
  /** Maximum number of waiting callers; further ones are refused. */
  readonly waitingMax: number
  /** Longest wait in milliseconds, after which the work is refused; unlimited by default. */
  readonly waitMs?: number
  /** The error of refused work; upstream `dependency_unavailable` by default. */
  readonly refusal?: () => Error
}

export function createWorkLimiter(limits: WorkLimits): WorkLimiter {
  const { refusal = unavailable } = limits
  const waiting: PromiseWithResolvers<void>[] = []
  let busy = 0

  async function untilOurs(signal: AbortSignal | undefined): Promise<void> {
    const turn = Promise.withResolvers<void>()
    waiting.push(turn)
    const leave = (reason: unknown) => {
      const at = waiting.indexOf(turn)
      if (at < 0) return
      waiting.splice(at, 1)
      turn.reject(reason)
    }
    const giveUp = () => leave(signal?.reason)
    signal?.addEventListener('abort', giveUp, { once: true })
    const { waitMs } = limits
    const timer = waitMs === undefined ? undefined : setTimeout(() => leave(refusal()), waitMs)
    try {
      await turn.promise
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', giveUp)
    }
  }

  return {
    async take(work, signal) {
      signal?.throwIfAborted()
      if (busy < limits.runningMax) busy += 1
      else {
        if (waiting.length >= limits.waitingMax) throw refusal()
        // The finishing work passes its slot on, so `busy` stays unchanged.
        await untilOurs(signal)
      }
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        if (next === undefined) busy -= 1
        else next.resolve()
      }
    },
  }
}

function unavailable(): AppError {
  const details = { retryAfterSeconds: RETRY_AFTER_SECONDS }
  return new AppError('upstream', 'dependency_unavailable', details)
}
