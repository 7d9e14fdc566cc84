import { type Channel, DeliveryError } from './define.ts'
import { discord } from './hooks/discord.ts'
import { ntfy } from './hooks/ntfy.ts'
import { pagerduty } from './hooks/pagerduty.ts'
import { slack } from './hooks/slack.ts'
import { webhook } from './hooks/webhook.ts'
import { email, type MailDeps } from './mail/email.ts'
import { createHostGroups } from './requests/host-groups.ts'
import { createSafeSend } from './requests/safe-fetch.ts'
import { type TelegramDeps, telegram } from './telegram/telegram.ts'

/** All channels, in display order. Every list of channels uses it. */
export const REGISTRY = { telegram, email, webhook, discord, slack, ntfy, pagerduty } as const

export type ChannelKey = keyof typeof REGISTRY
export const CHANNEL_KEYS = Object.keys(REGISTRY) as [ChannelKey, ...ChannelKey[]]

/** Channels with typed destinations. */
export type TypedChannel = {
  [Key in ChannelKey]: (typeof REGISTRY)[Key]['kind'] extends 'input' ? Key : never
}[ChannelKey]
export const TYPED_CHANNELS = CHANNEL_KEYS.filter(
  (key): key is TypedChannel => REGISTRY[key].kind === 'input',
)

/** A channel of a running service. */
export interface ServiceChannel extends Channel<unknown> {
  readonly key: ChannelKey
}

/** The channels of a running service. Built once, in `app.ts`. */
export type Channels = Readonly<Record<ChannelKey, ServiceChannel>>

/** Dependencies of the channels. */
export interface ChannelDeps extends MailDeps, TelegramDeps {
  /** Whether hooks may use http and private addresses: tests and sandbox only. */
  readonly allowPrivateUrls: boolean
  /** Headers of webhooks to the test receivers of this service. */
  readonly prove?: (url: string, body: string) => Readonly<Record<string, string>>
  /** Whether no channel sends anything: what would be sent waits. */
  readonly sendsNothing?: boolean
}

/** A channel that is off, whatever it could reach. */
function silent(channel: Channel<unknown>): Channel<unknown> {
  const refuse = async () => {
    throw new DeliveryError('unavailable', { isOurFault: true })
  }
  return {
    ...channel,
    available: () => false,
    send: refuse,
    ...(channel.edit !== undefined && { edit: refuse }),
    ...(channel.remove !== undefined && { remove: refuse }),
  }
}

export function createChannels(deps: ChannelDeps): Channels {
  const { allowPrivateUrls: allowPrivate, timeoutMs, publicUrl } = deps
  const groups = createHostGroups()
  const post = createSafeSend({ allowPrivate, timeoutMs, onResolved: groups.note })
  const userAgent = `flare-watchdog (+${publicUrl})`
  const all = { ...deps, post, allowPrivate, userAgent, groupsOf: groups.of }
  const made = CHANNEL_KEYS.map((key) => {
    const channel = REGISTRY[key].create(all)
    return [key, { key, ...(deps.sendsNothing === true ? silent(channel) : channel) }]
  })
  return Object.fromEntries(made)
}
