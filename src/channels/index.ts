import type { Channels } from './define.ts'
import { createEmail, type MailDeps } from './email.ts'
import { createSafePost } from './safe-fetch.ts'
import { createTelegram, type TelegramDeps } from './telegram.ts'
import { createWebhook } from './webhook.ts'

/** What the channels speak through. */
export interface ChannelDeps extends MailDeps, TelegramDeps {
  /** Webhooks may go to http and private addresses: tests and sandbox only. */
  readonly allowPrivateUrls: boolean
}

/** The registry of channels, in the order they are shown. */
export function createChannels(deps: ChannelDeps): Channels {
  const post = createSafePost({
    allowPrivate: deps.allowPrivateUrls,
    timeoutMs: deps.timeoutMs,
  })
  return {
    telegram: createTelegram(deps),
    email: createEmail(deps),
    webhook: createWebhook({ post, userAgent: `flare-watchdog (+${deps.publicUrl})` }),
  }
}
