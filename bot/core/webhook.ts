import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Api } from 'grammy'
import type { WebhookInfo } from 'grammy/types'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { pause } from '#src/kernel/pause.ts'
import type { App } from '#src/operations/define.ts'
import { apiSignal } from '#src/telegram/api.ts'
import { parseUpdate, putUpdates } from './inbox.ts'
import { ALLOWED_UPDATES } from './poller.ts'
import type { TelegramContact } from './telegram-contact.ts'

/** Path of Telegram's webhook, below `PUBLIC_URL`. */
const WEBHOOK_PATH = '/telegram/webhook'

const BODY_BYTES_MAX = 1_048_576

/** A server that Telegram's webhook can be added to. */
export type WebhookServer = FastifyInstance

/**
 * Receives updates from Telegram, stores them, and then responds with 200. Requests without the secret get
 * 401; Telegram repeats requests without a 2xx.
 */
export function mountWebhook(
  server: WebhookServer,
  app: Pick<App, 'db' | 'clock' | 'log' | 'meters'>,
  secret: string,
): void {
  server.post(WEBHOOK_PATH, { bodyLimit: BODY_BYTES_MAX }, async (request, reply) => {
    const token = request.headers['x-telegram-bot-api-secret-token']
    if (typeof token !== 'string' || !isSame(token, secret)) return reply.code(401).send()
    const update = parseUpdate(request.body)
    if (update === undefined) return reply.code(400).send()
    await putUpdates(app, [update])
    app.meters.countTelegramUpdates(1)
    return reply.code(200).send()
  })
}

/** Compares in constant time, for any lengths. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}

/** Interval between two questions whether Telegram delivers updates. */
const CHECK_MS = 10_000
/** Age of a failed delivery that is still reported while updates wait. */
const ERROR_MS = HOUR_MS

/**
 * Registers the webhook's URL with Telegram until the signal is aborted, again whenever another program has changed it.
 * Asks regularly whether updates are delivered.
 */
export async function keepWebhook(
  app: Pick<App, 'log' | 'clock' | 'publicUrl'>,
  api: Api,
  contact: TelegramContact,
  { secret, signal }: { readonly secret: string; readonly signal: AbortSignal },
): Promise<void> {
  const url = `${app.publicUrl}${WEBHOOK_PATH}`
  const options = { secret_token: secret, allowed_updates: ALLOWED_UPDATES }
  let isSet = false
  contact.setReceiving(true)
  while (!signal.aborted) {
    if (!isSet) {
      await contact.untilAccepted('webhook could not be set', signal, () =>
        api.setWebhook(url, options, apiSignal(signal)),
      )
    }
    const info = await contact.untilAccepted('webhook could not be checked', signal, () =>
      api.getWebhookInfo(apiSignal(signal)),
    )
    if (info === undefined) break
    contact.setAnswered()
    contact.setUndelivered(undeliveredOf(info, app.clock.now()))
    isSet = info.url === url
    if (!isSet) {
      contact.setConflict()
      app.log.warn({}, 'webhook was changed by another program; it is set again')
    }
    await pause(CHECK_MS, signal)
  }
  contact.setReceiving(false)
}

/** Telegram keeps its last error also after later deliveries, so that it counts only while updates wait. */
function undeliveredOf(info: WebhookInfo, now: Date): string | undefined {
  const { last_error_message: words, last_error_date: errorSeconds = 0 } = info
  const isRecent = now.getTime() - errorSeconds * 1000 < ERROR_MS
  return info.pending_update_count > 0 && isRecent ? words : undefined
}
