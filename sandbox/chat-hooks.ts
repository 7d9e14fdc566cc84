import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { type Clock, systemClock } from '#src/kernel/clock.ts'
import { checkDiscord, readerOfDiscord } from './chat-hooks/discord.ts'
import { checkSlack, readerOfSlack } from './chat-hooks/slack.ts'

/** A message in a channel. */
export interface Posted {
  readonly service: 'discord' | 'slack'
  /** Its webhook. */
  readonly hook: string
  readonly id: string
  readonly body: unknown
  /** Text as a reader sees it, without markup. */
  readonly shown: string
  /** Time of the first version. */
  readonly at: Date
  readonly edits: number
}

/** Fault applied to the next request. */
export type HookFault =
  | 'hang'
  | 'reset'
  | {
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string
    }

/** Incoming webhooks of Discord and Slack, with strict checks of shape and length. */
export interface ChatHooks {
  /** Creates a new webhook. */
  discordUrl(): string
  slackUrl(): string
  /** In their present state, oldest first. */
  readonly messages: readonly Posted[]
  /** Refused bodies, with the reason. */
  readonly refused: readonly string[]
  failNext(fault: HookFault): void
  /** Deletes the webhook. */
  remove(url: string): void
  /** Deletes a message, as a person would. */
  forget(messageId: string): void
  /** Calls the listener on every change until the returned function is called. */
  subscribe(listener: () => void): () => void
  /** Deletes all messages and refusals. */
  clear(): void
  close(): Promise<void>
}

const DISCORD_PATH = /^\/api\/v10\/webhooks\/(\d+)\/([\w-]+)(?:\/messages\/(\d+))?$/
const SLACK_PATH = /^\/services\/(T\w+)\/(B\w+)\/(\w+)$/

/** Starts both on one port of this machine. */
export async function startChatHooks(options: { clock?: Clock } = {}): Promise<ChatHooks> {
  const { clock = systemClock } = options
  const messages: Posted[] = []
  const listeners = new Set<() => void>()
  const refused: string[] = []
  const faults: HookFault[] = []
  const removed = new Set<string>()
  let made = 0
  const next = () => {
    made += 1
    return made
  }

  const announce = () => {
    for (const listener of listeners) listener()
  }

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const fault = faults.shift()
    if (fault === 'hang') return
    if (fault === 'reset') {
      response.socket?.resetAndDestroy()
      return
    }
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    const answer = fault ?? takeUnfaulted(request.method ?? '', url, body)
    response.writeHead(answer.status, answer.headers).end(answer.body)
    announce()
  }

  function takeUnfaulted(method: string, url: URL, body: string): Exclude<HookFault, string> {
    const discord = DISCORD_PATH.exec(url.pathname)
    if (discord !== null) return takeDiscord(method, url, discord, body)
    const slack = SLACK_PATH.exec(url.pathname)
    if (slack !== null && method === 'POST') return takeSlack(slack, body)
    return { status: 404, body: 'no_team' }
  }

  function takeDiscord(
    method: string,
    url: URL,
    [, hook = '', , messageId]: RegExpExecArray,
    body: string,
  ): Exclude<HookFault, string> {
    if (removed.has(hook)) return problem(404, 10_015, 'Unknown Webhook')
    const known = messages.findIndex(({ id }) => id === messageId)
    if (messageId !== undefined && known < 0) return problem(404, 10_008, 'Unknown Message')
    if (method !== (messageId === undefined ? 'POST' : 'PATCH')) return problem(405, 0, 'Method')
    const json = readJson(body)
    const wrong = checkDiscord(json, method)
    if (wrong !== undefined) {
      refused.push(wrong)
      return problem(400, 50_035, wrong)
    }
    const before = messages[known]
    const id = before?.id ?? String(1_200_000_000_000_000_000n + BigInt(next()))
    const posted = {
      service: 'discord',
      hook,
      id,
      body: json,
      shown: readerOfDiscord(json),
    } as const
    if (before === undefined) messages.push({ ...posted, at: clock.now(), edits: 0 })
    else messages[known] = { ...posted, at: before.at, edits: before.edits + 1 }
    if (method === 'POST' && url.searchParams.get('wait') !== 'true') return { status: 204 }
    return { status: 200, body: JSON.stringify({ id, type: 0, channel_id: '1', embeds: [] }) }
  }

  function takeSlack([, team, hook]: RegExpExecArray, body: string): Exclude<HookFault, string> {
    const name = `${team}/${hook}`
    if (removed.has(name)) return { status: 404, body: 'no_service' }
    const json = readJson(body)
    const wrong = checkSlack(json)
    if (wrong !== undefined) {
      refused.push(wrong)
      return { status: 400, body: 'invalid_blocks' }
    }
    const id = String(next())
    messages.push({
      service: 'slack',
      hook: name,
      id,
      body: json,
      shown: readerOfSlack(json),
      at: clock.now(),
      edits: 0,
    })
    return { status: 200, body: 'ok' }
  }

  const server = createServer((request, response) => {
    take(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const origin = `http://127.0.0.1:${address.port}`
  return {
    discordUrl: () => `${origin}/api/webhooks/${12_345_678_900_000 + next()}/${'aB3-_'.repeat(13)}`,
    slackUrl: () =>
      `${origin}/services/T0WATCHDOG/B${String(next()).padStart(8, '0')}/aB3dE5fG7hI9`,
    messages,
    refused,
    failNext: (fault) => faults.push(fault),
    remove: (url) => {
      const [, , , id = ''] = new URL(url).pathname.split('/')
      removed.add(
        url.includes('/services/') ? new URL(url).pathname.split('/').slice(2, 4).join('/') : id,
      )
    },
    forget: (messageId) => {
      messages.splice(
        messages.findIndex(({ id }) => id === messageId),
        1,
      )
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    clear: () => {
      messages.length = 0
      refused.length = 0
      announce()
    },
    close: async () => {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function problem(status: number, code: number, message: string): Exclude<HookFault, string> {
  return { status, body: JSON.stringify({ code, message }) }
}

function readJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
