import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '#src/kernel/clock.ts'
import type { Wire } from './model.ts'
import type { PendingUpdate, Updates } from './updates.ts'
import { unixSeconds } from './wire.ts'

/** Destination of updates. */
interface WebhookTarget {
  readonly url: string
  readonly secretToken: string
  readonly maxConnections: number
}

/** Delivery of updates to the bot's own server. */
export interface Webhook {
  target(): WebhookTarget | undefined
  /** Starts the delivery of updates to a URL, also of queued ones; `undefined` ends the delivery. */
  setTarget(target: WebhookTarget | undefined): void
  /** The last failure since the URL was set. */
  lastError(): { readonly at: Date; readonly message: string } | undefined
  close(): void
}

const ANSWER_TIMEOUT_MS = 60_000
const PAUSE_MAX_MS = 60_000

/**
 * Delivers updates like Telegram: the updates of one queue (a chat, or the presses of one person) in sequence,
 * different queues concurrently. Each is repeated with growing pauses until a 2xx answer.
 *
 * @param firstPauseMs pause after the first failure; doubles up to a minute
 */
export function createWebhook(deps: {
  readonly clock: Clock
  readonly updates: Updates
  readonly firstPauseMs: number
}): Webhook {
  let target: WebhookTarget | undefined
  let stop = new AbortController()
  let error: { at: Date; message: string } | undefined
  let busy = new Map<string, number>()

  const pump = () => {
    const to = target
    if (!to) return
    for (const update of deps.updates.pending()) {
      if (busy.size >= to.maxConnections) return
      if (busy.has(update.queue)) continue
      busy.set(update.queue, update.id)
      void deliver(to, update, stop.signal)
    }
  }
  const deliver = async (to: WebhookTarget, update: PendingUpdate, signal: AbortSignal) => {
    const own = busy
    for (let pauseMs = deps.firstPauseMs; !signal.aborted; pauseMs *= 2) {
      const problem = await post(to, update.wire, signal)
      if (signal.aborted) return
      if (problem === undefined) {
        deps.updates.confirm(update.id)
        break
      }
      error = { at: deps.clock.now(), message: problem }
      await sleep(Math.min(pauseMs, PAUSE_MAX_MS), undefined, { signal }).catch(() => {})
      if (!deps.updates.pending().some((other) => other.id === update.id)) break
    }
    own.delete(update.queue)
    if (!signal.aborted) pump()
  }
  const halt = () => {
    stop.abort()
    stop = new AbortController()
    busy = new Map()
  }
  deps.updates.onQueued(pump)
  return {
    target: () => target,
    lastError: () => error,
    setTarget(next) {
      halt()
      target = next
      error = undefined
      pump()
    },
    close() {
      target = undefined
      halt()
    },
  }
}

/**
 * Posts an update.
 * @returns why the update did not arrive; undefined after a 2xx
 */
async function post(
  to: WebhookTarget,
  update: Wire,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const response = await fetch(to.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(to.secretToken ? { 'x-telegram-bot-api-secret-token': to.secretToken } : {}),
      },
      body: JSON.stringify(update),
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_TIMEOUT_MS)]),
    })
    // Read to its end, so that the connection can be used again.
    await response.arrayBuffer()
    return response.ok
      ? undefined
      : `Wrong response from the webhook: ${response.status} ${response.statusText}`
  } catch (problem) {
    return problem instanceof Error && problem.name === 'TimeoutError'
      ? 'Read timeout expired'
      : 'Connection refused'
  }
}

/** The answer of `getWebhookInfo`. */
export function webhookInfoWire(webhook: Webhook, updates: Updates): Wire {
  const target = webhook.target()
  const error = webhook.lastError()
  const allowed = updates.allowed()
  return {
    url: target?.url ?? '',
    has_custom_certificate: false,
    pending_update_count: updates.pending().length,
    ...(error ? { last_error_date: unixSeconds(error.at), last_error_message: error.message } : {}),
    ...(target ? { max_connections: target.maxConnections, ip_address: '127.0.0.1' } : {}),
    ...(allowed ? { allowed_updates: allowed } : {}),
  }
}
