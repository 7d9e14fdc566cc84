/** How many requests one endpoint is sent at a time: more while it answers, fewer when it refuses. */
export interface Pace {
  /**
   * Waits for a turn.
   *
   * @throws the signal's reason when the caller gives up first
   */
  begin(signal: AbortSignal): Promise<void>
  /** Gives the turn back. */
  end(outcome: 'answered' | 'refused' | 'failed'): void
}

const AT_ONCE_START = 16
const AT_ONCE_MAX = 48
/** Some endpoints refuse whatever one does: then it must go on all the same. */
const AT_ONCE_MIN = 6
/** Answers before one more is sent at a time. */
const ANSWERS_TO_GROW = 8
/** Refusals that come together count once. */
const ANSWERS_TO_SHRINK_AGAIN = 24

/** Nothing sent yet. */
export function createPace(): Pace {
  const waiting = new Set<() => void>()
  let atOnce = AT_ONCE_START
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
        if (answers % ANSWERS_TO_GROW === 0) atOnce = Math.min(atOnce + 1, AT_ONCE_MAX)
      } else if (outcome === 'refused' && sinceRefusal >= ANSWERS_TO_SHRINK_AGAIN) {
        atOnce = Math.max(Math.floor(atOnce / 2), AT_ONCE_MIN)
        sinceRefusal = 0
      }
      wake()
    },
  }
}
