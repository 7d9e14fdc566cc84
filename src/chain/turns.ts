import { AppError } from '#src/kernel/errors.ts'

/** Lets so many do something at once, and others wait for their turn. */
export interface Turns {
  /**
   * Runs `work` when it is its turn.
   *
   * @throws AppError upstream `dependency_unavailable` when too many wait, or the turn does not come in time
   * @throws the signal's reason when the caller gives up waiting
   */
  take<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

const RETRY_AFTER_SECONDS = 5

/** How many may do something, and wait for it: a queue must not outlive its callers. */
export interface TurnLimits {
  readonly atOnce: number
  /** More are refused. */
  readonly waitingMax: number
  /** Whoever waits for longer is refused, in milliseconds; without it they wait as long as it takes. */
  readonly waitMs?: number
}

export function createTurns(limits: TurnLimits): Turns {
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
      if (busy < limits.atOnce) busy += 1
      else {
        if (waiting.length >= limits.waitingMax) throw refusal()
        // Whoever has had a turn hands it on, so `busy` stays as it is.
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

function refusal(): AppError {
  const details = { retryAfterSeconds: RETRY_AFTER_SECONDS }
  return new AppError('upstream', 'dependency_unavailable', details)
}
