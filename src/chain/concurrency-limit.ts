/**
 * Limits concurrent requests to one endpoint: raises the limit while the endpoint responds, and lowers it
 * when the endpoint refuses.
 */
export interface ConcurrencyLimit {
  /**
   * Waits for a free slot.
   *
   * @throws the signal's reason when the caller aborts first
   */
  begin(signal: AbortSignal): Promise<void>
  /** Frees the slot. */
  end(outcome: 'answered' | 'refused' | 'failed'): void
}

const REQUESTS_START = 16
const REQUESTS_MAX = 48
/** Lowest limit: some endpoints refuse at any rate, and must still be used. */
const REQUESTS_MIN = 6
/** Successful responses before the limit is raised by one. */
const ANSWERS_TO_GROW = 8
/** Successful responses before another refusal counts, because refusals come in groups. */
const ANSWERS_TO_SHRINK_AGAIN = 24

/** Creates a limiter without requests in progress. */
export function createConcurrencyLimit(): ConcurrencyLimit {
  const waiting = new Set<() => void>()
  let atOnce = REQUESTS_START
  let underWay = 0
  let answers = 0
  let sinceRefusal = ANSWERS_TO_SHRINK_AGAIN

  function wake(): void {
    for (const next of waiting) {
      if (underWay >= atOnce) return
      waiting.delete(next)
      underWay += 1
      next()
    }
  }

  return {
    begin(signal) {
      signal.throwIfAborted()
      if (underWay < atOnce) {
        underWay += 1
        return Promise.resolve()
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const giveUp = () => {
        waiting.delete(begin)
        reject(signal.reason)
      }
      const begin = () => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      signal.addEventListener('abort', giveUp, { once: true })
      waiting.add(begin)
      return promise
    },
    end(outcome) {
      underWay -= 1
      sinceRefusal += 1
      if (outcome === 'answered') {
        answers += 1
        if (answers % ANSWERS_TO_GROW === 0) atOnce = Math.min(atOnce + 1, REQUESTS_MAX)
      } else if (outcome === 'refused' && sinceRefusal >= ANSWERS_TO_SHRINK_AGAIN) {
        atOnce = Math.max(Math.floor(atOnce / 2), REQUESTS_MIN)
        sinceRefusal = 0
      }
      wake()
    },
  }
}
