import type { Clock } from '#src/kernel/clock.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import type { Logger } from '#src/kernel/logger.ts'

/** Name of an endpoint in the log: index and origin, which contain no credentials. */
export type EndpointName = Readonly<{ endpoint: number; origin: string }>

/**
 * Remembers whether an endpoint works, and logs changes: one line when it begins to fail or to limit requests,
 * one line a minute while that lasts, and one line when it is over.
 */
export interface EndpointHealth {
  /** Remaining time for which the other endpoints are asked first, in milliseconds. */
  restMs(): number
  /** Whether no failure was recorded since it last worked. */
  isWell(): boolean
  /** Reason of its last failure; undefined while it is well. */
  failure(): string | undefined
  recordAnswer(): void
  /** @param reason safe to log */
  recordFailure(reason: string): void
  /** @param perMinute requests per minute that are sent from now on */
  recordLimit(perMinute: number): void
}

/** Time for which an endpoint rests after a failure. It ends early for no answer to another request. */
const REST_MS = 30_000
/** Time without a refusal after which an endpoint that limited requests counts as free again. */
const FREE_AFTER_MS = 10 * MINUTE_MS

/** What goes wrong, and how often since the last line of the log. */
interface Trouble {
  loggedAtMs: number
  lastAtMs: number
  times: number
}

/** Creates the health of an endpoint without failures. */
export function createEndpointHealth(
  name: EndpointName,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): EndpointHealth {
  let failing: Trouble | undefined
  let lastReason: string | undefined
  let limiting: Trouble | undefined
  const now = () => clock.now().getTime()

  return {
    restMs: () => (failing === undefined ? 0 : Math.max(failing.lastAtMs + REST_MS - now(), 0)),
    isWell: () => failing === undefined,
    failure: () => (failing === undefined ? undefined : lastReason),
    recordAnswer() {
      if (failing === undefined || now() - failing.lastAtMs < REST_MS) return
      log.info(name, 'rpc endpoint answers again')
      failing = undefined
    },
    recordFailure(reason) {
      const isNew = failing === undefined
      lastReason = reason
      failing = record(failing, now(), (times) => {
        if (isNew) log.warn({ ...name, reason, restSeconds: REST_MS / 1000 }, 'rpc endpoint failed')
        else log.warn({ ...name, reason, times }, 'rpc endpoint still fails')
      })
    },
    recordLimit(perMinute) {
      const isOver = limiting !== undefined && now() - limiting.lastAtMs > FREE_AFTER_MS
      limiting = record(isOver ? undefined : limiting, now(), (times) =>
        log.info({ ...name, times, perMinute }, 'rpc endpoint limits requests'),
      )
    },
  }
}

/** Counts an incident, and logs it if it is the first one or the last line is a minute old. */
function record(
  trouble: Trouble | undefined,
  nowMs: number,
  write: (times: number) => void,
): Trouble {
  const times = (trouble?.times ?? 0) + 1
  if (trouble !== undefined && nowMs - trouble.loggedAtMs < MINUTE_MS) {
    return { ...trouble, times, lastAtMs: nowMs }
  }
  write(times)
  return { loggedAtMs: nowMs, lastAtMs: nowMs, times: 0 }
}
