import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { Api } from 'grammy'
import { createTransport } from 'nodemailer'
import {
  type ChatHooks,
  type HookFault,
  type PostedMessage,
  startChatHooks,
} from '#sandbox/chat-hooks.ts'
import { type Inbox, startMailServer } from '#sandbox/inbox.ts'
import { type Receiver, startReceiver } from '#sandbox/receiver.ts'
import { startTelegramApi, type TelegramApi } from '#sandbox/telegram-api.ts'
import type { Channel, SendContext } from '#src/channels/define.ts'
import { makeSecret } from '#src/channels/hooks/webhook.ts'
import { type ChannelKey, createChannels } from '#src/channels/index.ts'
import { ownPace } from '../support/pace.ts'

export const NOW = new Date('2026-11-20T12:00:00.000Z')
export const WALLET = '0x3f12b8aC9d2e7F4b6A1c5D8e0F9a7B3c2d1eA91c'
const TOKEN = '4242:test-token-of-the-local-bot-api-00000'
/** Timeout where a test expects one. Other sends have a long timeout, because the machine may be busy. */
const SHORT_TIMEOUT_MS = 300

/** Options of channels that post to addresses of this machine. */
const POSTING = {
  telegram: undefined,
  mailer: undefined,
  from: '',
  publicUrl: 'https://watchdog.example.org',
  allowPrivateUrls: true,
}

/** One channel, with a stand-in for the service that receives its messages. */
export interface World {
  readonly key: ChannelKey
  readonly channel: Channel<unknown>
  /** The same channel with a short timeout. */
  readonly impatient: Channel<unknown>
  /** The same channel without its external service configured; undefined if it needs none. */
  readonly unconfigured: Channel<unknown> | undefined
  /** Creates a destination that accepts messages. */
  destination(): unknown
  /** A value that is not a destination of this channel. */
  readonly malformedDestination: unknown
  /** Number of messages that arrived, and the text of the last one. */
  arrived(): { readonly count: number; readonly text: string }
  /** Does not respond to the next message. */
  hang(): void
  /** Breaks the connection during the next message. */
  reset(): void
  /** Responds to the next message with a server error, such as 500. */
  fault(): void
  /** Removes the destination for good. */
  gone(destination: unknown): void
  /** Refuses the next message as the server is busy, with a time to wait if the channel's service gives one. */
  busy(): void
  readonly busyWaitSeconds: number | undefined
  close(): Promise<void>
}

/** A send context with default values. */
export function contextOf(over: Partial<SendContext> = {}): SendContext {
  const signal = new AbortController().signal
  return { attempt: 1, now: NOW, signal, wallet: WALLET, ...over }
}

export interface TelegramWorld extends World {
  readonly telegram: TelegramApi
}

/** @param over `chatMs`: interval between messages to a chat; a second by default */
export async function telegramWorld(
  over: { readonly chatMs?: number; readonly publicUrl?: string } = {},
): Promise<TelegramWorld> {
  const { publicUrl = 'https://watchdog.example.org', ...pace } = over
  const clock = { now: () => NOW }
  const telegram = await startTelegramApi({ token: TOKEN, username: 'watchdog_bot', clock })
  const api = new Api(TOKEN, { apiRoot: telegram.url })
  const common = { from: '', publicUrl, allowPrivateUrls: false }
  const made = {
    ...common,
    mailer: undefined,
    telegram: { api, pace: ownPace(pace) },
    botUsername: () => 'watchdog_bot',
  }
  const sent = () => telegram.chats().flatMap((chat) => telegram.messages(chat.id))
  return {
    key: 'telegram',
    telegram,
    channel: createChannels(made).telegram,
    impatient: createChannels({ ...made, timeoutMs: SHORT_TIMEOUT_MS }).telegram,
    unconfigured: createChannels({ ...made, telegram: undefined }).telegram,
    destination: () => {
      const { id } = telegram.person({ firstName: 'Ann', languageCode: 'en', started: true })
      return { chatId: id }
    },
    malformedDestination: { chatId: 'ann' },
    arrived: () => ({ count: sent().length, text: sent().at(-1)?.text ?? '' }),
    hang: () => telegram.failNext('sendMessage', 'hang'),
    reset: () => telegram.failNext('sendMessage', 'reset'),
    fault: () => telegram.failNext('sendMessage', 'html'),
    gone: (destination) => telegram.block(chatIdOf(destination)),
    busy: () =>
      telegram.failNext('sendMessage', {
        error_code: 429,
        description: 'Too Many Requests: retry after 35',
        parameters: { retry_after: 35 },
      }),
    busyWaitSeconds: 35,
    close: async () => {
      telegram.release()
      await telegram.close()
    },
  }
}

export interface EmailWorld extends World {
  readonly inbox: Inbox
}

export async function emailWorld(): Promise<EmailWorld> {
  const inbox = await startMailServer()
  const silent = await startSilentServer()
  const rude = await startSilentServer({ isRude: true })
  // Kept connections, as the service has them: a new one waits 40 ms for a delayed acknowledgement.
  const open = createTransport({ url: inbox.url, pool: true })
  const hanging = createTransport({ url: silent.url })
  const breaking = createTransport({ url: rude.url })
  const made = {
    telegram: undefined,
    from: 'Watchdog <watchdog@example.org>',
    publicUrl: 'https://watchdog.example.org',
    allowPrivateUrls: false,
  }
  let mailer: Pick<typeof open, 'sendMail'> = open
  let mailbox = 0
  const switching = { sendMail: ((mail) => mailer.sendMail(mail)) as typeof open.sendMail }
  return {
    key: 'email',
    inbox,
    channel: createChannels({ ...made, mailer: switching }).email,
    impatient: createChannels({ ...made, mailer: switching, timeoutMs: SHORT_TIMEOUT_MS }).email,
    unconfigured: createChannels({ ...made, mailer: undefined }).email,
    destination: () => {
      mailbox += 1
      return { address: `ops${mailbox}@example.org` }
    },
    malformedDestination: { address: 'ops@example.org\r\nBcc: all@example.org' },
    arrived: () => ({ count: inbox.mails.length, text: inbox.mails.at(-1)?.text ?? '' }),
    hang: () => {
      mailer = hanging
    },
    reset: () => {
      mailer = breaking
    },
    fault: () => inbox.setMailbox(`ops${mailbox}@example.org`, 'temporary'),
    gone: (destination) => inbox.setMailbox(addressOf(destination), 'permanent'),
    busy: () => inbox.setMailbox(`ops${mailbox}@example.org`, 'temporary'),
    busyWaitSeconds: undefined,
    close: async () => {
      open.close()
      hanging.close()
      breaking.close()
      await silent.close()
      await rude.close()
      await inbox.close()
    },
  }
}

export interface WebhookWorld extends World {
  readonly receiver: Receiver
  readonly secret: string
}

export async function webhookWorld(): Promise<WebhookWorld> {
  const secret = makeSecret()
  const receiver = await startReceiver({ secret, clock: { now: () => NOW } })
  return {
    key: 'webhook',
    receiver,
    secret,
    channel: createChannels(POSTING).webhook,
    impatient: createChannels({ ...POSTING, timeoutMs: SHORT_TIMEOUT_MS }).webhook,
    unconfigured: undefined,
    destination: () => ({ url: receiver.url(), secret }),
    malformedDestination: { url: receiver.url(), secret: 'short' },
    arrived: () => ({
      count: receiver.deliveries.length,
      text: receiver.deliveries.at(-1)?.rawBody.toString('utf8') ?? '',
    }),
    hang: () => receiver.answerNext('hang'),
    reset: () => receiver.answerNext('reset'),
    fault: () => receiver.answerNext(500),
    gone: () => receiver.answerAlways(410),
    busy: () => receiver.answerNext({ status: 503, headers: { 'Retry-After': '120' } }),
    busyWaitSeconds: 120,
    close: () => receiver.close(),
  }
}

export interface HookWorld extends World {
  readonly hooks: ChatHooks
}

export const discordWorld = () => hookWorld('discord')
export const slackWorld = () => hookWorld('slack')
export const ntfyWorld = () => hookWorld('ntfy')
export const pagerDutyWorld = () => hookWorld('pagerduty')

/** How to start the stand-in of each channel. */
export const WORLDS: Readonly<Record<ChannelKey, () => Promise<World>>> = {
  telegram: telegramWorld,
  email: emailWorld,
  webhook: webhookWorld,
  discord: discordWorld,
  slack: slackWorld,
  ntfy: ntfyWorld,
  pagerduty: pagerDutyWorld,
}

async function hookWorld(key: PostedMessage['service']): Promise<HookWorld> {
  const hooks = await startChatHooks()
  const busy: HookFault =
    key === 'discord'
      ? { status: 429, body: JSON.stringify({ message: 'slow', retry_after: 34.2, global: false }) }
      : { status: 429, headers: { 'Retry-After': '35' }, body: 'rate_limited' }
  const urls = {
    discord: hooks.discordUrl,
    slack: hooks.slackUrl,
    ntfy: hooks.ntfyUrl,
    pagerduty: hooks.pagerDutyUrl,
  }
  return {
    key,
    hooks,
    channel: createChannels(POSTING)[key],
    impatient: createChannels({ ...POSTING, timeoutMs: SHORT_TIMEOUT_MS })[key],
    unconfigured: undefined,
    destination: () => ({ url: urls[key]() }),
    malformedDestination: { url: 'https://example.org/api/webhooks/x?key=1' },
    arrived: () => ({ count: hooks.messages.length, text: hooks.messages.at(-1)?.shown ?? '' }),
    hang: () => hooks.failNext('hang'),
    reset: () => hooks.failNext('reset'),
    fault: () => hooks.failNext({ status: 500, body: 'rollup_error' }),
    gone: (destination) => hooks.remove(urlOf(destination)),
    busy: () => hooks.failNext(busy),
    busyWaitSeconds: 35,
    close: () => hooks.close(),
  }
}

/** A server that accepts connections and never responds, or breaks them if asked. */
async function startSilentServer(
  options: { isRude?: boolean } = {},
): Promise<{ url: string; close(): Promise<void> }> {
  const server: Server = createServer()
  const sockets = new Set<{ destroy(): void }>()
  server.on('connection', (socket) => {
    if (options.isRude) socket.resetAndDestroy()
    else sockets.add(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `smtp://127.0.0.1:${address.port}`,
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

function chatIdOf(destination: unknown): number {
  return (destination as { chatId: number }).chatId
}

function urlOf(destination: unknown): string {
  return (destination as { url: string }).url
}

function addressOf(destination: unknown): string {
  return (destination as { address: string }).address
}
