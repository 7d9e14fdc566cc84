import type { Channels } from './define.ts'
import { createDiscord } from './discord.ts'
import { createEmail, type MailDeps } from './email.ts'
import { createHostGroups } from './host-groups.ts'
import { createSafePost } from './safe-fetch.ts'
import { createSlack } from './slack.ts'
import { createTelegram, type TelegramDeps } from './telegram.ts'
import { createWebhook } from './webhook.ts'

/** What the channels speak through. */
export interface ChannelDeps extends MailDeps, TelegramDeps {
  /** Hooks may go to http and private addresses: tests and sandbox only. */
  readonly allowPrivateUrls: boolean
}

/** The registry of channels, in the order they are shown. */
export function createChannels(deps: ChannelDeps): Channels {
  const { allowPrivateUrls: allowPrivate, timeoutMs, publicUrl } = deps
  const groups = createHostGroups()
  const post = createSafePost({ allowPrivate, timeoutMs, onResolved: groups.note })
  const hooks = { post, allowPrivate, userAgent: `flare-watchdog (+${publicUrl})` }
  return {
    telegram: createTelegram(deps),
    email: createEmail(deps),
    webhook: createWebhook({ ...hooks, groupsOf: groups.of }),
    discord: createDiscord(hooks),
    slack: createSlack(hooks),
  }
}
