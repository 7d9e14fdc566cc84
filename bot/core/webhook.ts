import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Api } from 'grammy'
import type { App } from '#src/operations/define.ts'
import { apiSignal } from '#src/telegram/api.ts'
import { parseUpdate, putUpdates } from './inbox.ts'
import { ALLOWED_UPDATES } from './poller.ts'
import { repeatUntilAnswered } from './repeat-until-answered.ts'

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
  app: Pick<App, 'db' | 'clock' | 'log'>,
  secret: string,
): void {
  server.post(WEBHOOK_PATH, { bodyLimit: BODY_BYTES_MAX }, async (request, reply) => {
    const token = request.headers['x-telegram-bot-api-secret-token']
    if (typeof token !== 'string' || !isSame(token, secret)) return reply.code(401).send()
    const update = parseUpdate(request.body)
    if (update === undefined) return reply.code(400).send()
    await putUpdates(app, [update])
    return reply.code(200).send()
  })
}

/** Compares in constant time, for any lengths. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}

/** Registers the webhook's URL with Telegram, and repeats until Telegram accepts it. */
export async function registerWebhook(
  app: Pick<App, 'log' | 'publicUrl'>,
  api: Api,
  secret: string,
  signal: AbortSignal,
): Promise<void> {
  const url = `${app.publicUrl}${WEBHOOK_PATH}`
  const options = { secret_token: secret, allowed_updates: ALLOWED_UPDATES }
  await repeatUntilAnswered(app.log, 'webhook could not be set', signal, () =>
    api.setWebhook(url, options, apiSignal(signal)),
  )
}
