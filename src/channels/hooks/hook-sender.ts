import type { DeliveryError, SendContext } from '../define.ts'
import { floodSeconds, rateLimitError, refusalOf } from '../requests/http-answer.ts'
import type { SafeAnswer } from '../requests/http-exchange.ts'
import { createRateLimiter, TURN_WAIT_MS_MAX } from '../requests/rate-limiter.ts'
import type { HookDeps } from './hook-url.ts'

/** What a chat service asks of those who post to its URLs. */
interface HookRules {
  /** Minimum interval between two requests with one key, in milliseconds. */
  readonly keyMs: number
  /** Statuses after which the destination is gone for good. */
  readonly gone: readonly number[]
  /** Wait after a 429 that states none, in seconds. */
  readonly floodSeconds: number
  /** The wait that a 429 states in its body, in seconds; undefined if it states none. */
  readonly statedSeconds?: (answer: SafeAnswer) => number | undefined
  /** The refusal in an answer, if it tells more than its status; undefined otherwise. */
  readonly refusal?: (answer: SafeAnswer) => DeliveryError | undefined
}

/** A request to a chat service. */
interface HookRequest {
  /** What the rate limit of the service counts by, such as the webhook. */
  readonly key: string
  readonly url: string
  /** POST by default. */
  readonly method?: 'POST' | 'PATCH' | 'DELETE'
  readonly body: string
  readonly authorization?: string | undefined
  readonly context: Pick<SendContext, 'now' | 'signal' | 'timeoutMs'>
  /** Whether an answer is as good as a success, although its status is that of a failure. */
  readonly accepts?: (answer: SafeAnswer) => boolean
}

/**
 * Creates what sends JSON to the URLs of one chat service, at the pace that the service allows.
 *
 * The function throws DeliveryError: `flood` if the turn of the key is too far away or the service says that there are too
 * many requests, otherwise what the answer says.
 */
export function createHookSender(
  deps: HookDeps,
  rules: HookRules,
): (request: HookRequest) => Promise<SafeAnswer> {
  const pace = createRateLimiter({ allMs: 0, keyMs: rules.keyMs, now: () => performance.now() })
  return async ({ key, url, method = 'POST', body, authorization, context, accepts }) => {
    const { now, signal, timeoutMs } = context
    const earlyMs = await pace.turn(key, { patienceMs: TURN_WAIT_MS_MAX, signal })
    if (earlyMs !== undefined) throw rateLimitError(earlyMs / 1000)
    const answer = await deps.post(url, {
      method,
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': deps.userAgent,
        ...(authorization !== undefined && { Authorization: authorization }),
      },
      body,
      signal,
      ...(timeoutMs !== undefined && { timeoutMs }),
    })
    if (answer.statusCode === 429) {
      const stated = rules.statedSeconds?.(answer)
      const seconds = floodSeconds(answer, { now, stated, usual: rules.floodSeconds })
      pace.hold(key, seconds * 1000)
      throw rateLimitError(seconds, answer.statusCode)
    }
    const refusal = rules.refusal?.(answer) ?? refusalOf(answer, { gone: rules.gone, now })
    if (refusal !== undefined && accepts?.(answer) !== true) throw refusal
    return answer
  }
}
