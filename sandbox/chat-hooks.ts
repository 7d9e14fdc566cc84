import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { type Clock, systemClock } from '#src/kernel/clock.ts'
import { checkDiscord, readerOfDiscord } from './chat-hooks/discord.ts'
import { checkNtfy, readerOfNtfy } from './chat-hooks/ntfy.ts'
import { checkPagerDuty, type PagerEvent, readerOfPagerDuty } from './chat-hooks/pagerduty.ts'
import { checkSlack, readerOfSlack } from './chat-hooks/slack.ts'
import { closeServer, listenOnLoopback } from './loopback.ts'

/** A message in a channel. */
export interface PostedMessage {
  readonly service: 'discord' | 'slack' | 'ntfy' | 'pagerduty'
  /** The webhook, topic or integration key to which it was posted. */
  readonly hook: string
  readonly id: string
  readonly body: unknown
  /** Text as a reader sees it, without markup. */
  readonly shown: string
  /** Time of the first version. */
  readonly at: Date
  readonly edits: number
  /** The last action on an alert in PagerDuty. */
  readonly action?: PagerEvent['event_action']
}

/** A request as it arrived, and the status of its answer. */
export interface HookRequest {
  readonly method: string
  readonly path: string
  /** Its body; undefined if that is no JSON. */
  readonly body: unknown
  readonly status: number
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

/**
 * Incoming webhooks of Discord and Slack, topics of ntfy and integrations of PagerDuty, with strict checks
 * of shape and length.
 */
export interface ChatHooks {
  /** Creates a new webhook, topic or integration. */
  discordUrl(): string
  slackUrl(): string
  /** @param of `version`: of the server; before 2.16 it knows no sequence ids */
  ntfyUrl(of?: { readonly version: '2.15' | '2.16' }): string
  pagerDutyUrl(): string
  /** The messages in their present state, oldest first. */
  readonly messages: readonly PostedMessage[]
  /** All requests that were answered, oldest first. */
  readonly requests: readonly HookRequest[]
  /** Refused bodies, with the reason. */
  readonly refused: readonly string[]
  failNext(fault: HookFault): void
  /** Applies a fault to the request after this number of further ones. */
  failAfter(requests: number, fault: HookFault): void
  /** Deletes the webhook. */
  remove(url: string): void
  /** Deletes a message, as a person would. */
  forget(messageId: string): void
  /** Calls the listener on every change until the returned function is called. */
  subscribe(listener: () => void): () => void
  /** Deletes all messages, requests and refusals. */
  clear(): void
  close(): Promise<void>
}

const DISCORD_PATH = /^\/api\/v10\/webhooks\/(\d+)\/([\w-]+)(?:\/messages\/(\d+))?$/
const SLACK_PATH = /^\/services\/(T\w+)\/(B\w+)\/(\w+)$/
const NTFY_PATH = /^\/([-_A-Za-z0-9]{1,64})\/([-_A-Za-z0-9]{1,64})$/
/** Part of topics of a server that knows no sequence ids. */
const OLD = 'old'
const knowsSequences = (topic: string) => !topic.includes(OLD)
const PAGERDUTY_PATH = '/v2/enqueue'
const ACTIONS = ['trigger', 'acknowledge', 'resolve'] as const

/**
 * Starts the four services on one port of this machine. Long because they share the messages, faults and
 * listeners.
 */
export async function startChatHooks(options: { clock?: Clock } = {}): Promise<ChatHooks> {
  const { clock = systemClock } = options
  const messages: PostedMessage[] = []
  const listeners = new Set<() => void>()
  const requests: HookRequest[] = []
  const refused: string[] = []
  const faults: (HookFault | undefined)[] = []
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
    const { method = '' } = request
    requests.push({ method, path: url.pathname, body: readJson(body), status: answer.status })
    response.writeHead(answer.status, answer.headers).end(answer.body)
    announce()
  }

  function takeUnfaulted(method: string, url: URL, body: string): Exclude<HookFault, string> {
    const discord = DISCORD_PATH.exec(url.pathname)
    if (discord !== null) return takeDiscord(method, url, discord, body)
    const slack = SLACK_PATH.exec(url.pathname)
    if (slack !== null && method === 'POST') return takeSlack(slack, body)
    if (url.pathname === '/' && method === 'POST') return takeNtfy(body)
    const deleted = NTFY_PATH.exec(url.pathname)
    if (deleted !== null && method === 'DELETE') return deleteNtfy(deleted)
    if (url.pathname === PAGERDUTY_PATH && method === 'POST') return takePagerDuty(body)
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
    if (method === 'DELETE' && messageId !== undefined) {
      messages.splice(known, 1)
      return { status: 204 }
    }
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

  function takeNtfy(body: string): Exclude<HookFault, string> {
    const json = readJson(body)
    const checked = checkNtfy(json)
    if (typeof checked === 'string') {
      refused.push(checked)
      return { status: 400, body: JSON.stringify({ code: 40_024, http: 400, error: checked }) }
    }
    const { topic, sequenceId } = checked
    if (removed.has(topic)) {
      return { status: 403, body: JSON.stringify({ code: 40_301, http: 403, error: 'forbidden' }) }
    }
    const known = knowsSequences(topic) ? sequenceId : undefined
    const id = known ?? String(next())
    const posted = {
      service: 'ntfy',
      hook: topic,
      id,
      body: json,
      shown: readerOfNtfy(json),
    } as const
    const index = messages.findIndex((message) => message.hook === topic && message.id === id)
    const before = messages[index]
    if (before === undefined) messages.push({ ...posted, at: clock.now(), edits: 0 })
    else messages[index] = { ...posted, at: before.at, edits: before.edits + 1 }
    const answer = { id: String(next()), event: 'message', topic }
    return {
      status: 200,
      body: JSON.stringify({ ...answer, ...(known !== undefined && { sequence_id: known }) }),
    }
  }

  /** Tells the apps to delete a notification, whether there is one or not. */
  function deleteNtfy([, topic = '', sequenceId = '']: RegExpExecArray): Exclude<
    HookFault,
    string
  > {
    if (!knowsSequences(topic)) return { status: 404, body: '404 page not found' }
    const index = messages.findIndex(({ hook, id }) => hook === topic && id === sequenceId)
    if (index >= 0) messages.splice(index, 1)
    return { status: 200, body: JSON.stringify({ event: 'message_delete', topic }) }
  }

  /** For a resolved alert, `trigger` opens a new alert; any other action changes nothing. */
  function takePagerDuty(body: string): Exclude<HookFault, string> {
    const json = readJson(body)
    const event = checkPagerDuty(json)
    if (typeof event === 'string') {
      refused.push(event)
      return invalidEvent(event)
    }
    if (removed.has(event.routing_key)) return invalidEvent("'routing_key' is invalid")
    const { event_action: action, dedup_key: key, routing_key: hook } = event
    const known = messages.findIndex(
      (message) => message.hook === hook && message.id === key && message.action !== 'resolve',
    )
    const before = messages[known]
    if (before !== undefined) {
      const latest = ACTIONS.indexOf(action) > ACTIONS.indexOf(before.action ?? 'trigger')
      messages[known] = {
        ...before,
        edits: before.edits + 1,
        action: latest ? action : (before.action ?? action),
      }
    } else if (action === 'trigger') {
      const shown = readerOfPagerDuty(event)
      const at = clock.now()
      messages.push({
        service: 'pagerduty',
        hook,
        id: key,
        body: json,
        shown,
        at,
        edits: 0,
        action,
      })
    }
    const answer = { status: 'success', message: 'Event processed', dedup_key: key }
    return { status: 202, body: JSON.stringify(answer) }
  }

  const server = createServer((request, response) => {
    take(request, response).catch(() => response.destroy())
  })
  const origin = `http://127.0.0.1:${await listenOnLoopback(server, 0)}`
  return {
    discordUrl: () => `${origin}/api/webhooks/${12_345_678_900_000 + next()}/${'aB3-_'.repeat(13)}`,
    slackUrl: () =>
      `${origin}/services/T0WATCHDOG/B${String(next()).padStart(8, '0')}/aB3dE5fG7hI9`,
    ntfyUrl: ({ version } = { version: '2.16' }) =>
      `${origin}/watchdog-${version === '2.16' ? 'alerts' : OLD}-${String(next()).padStart(8, '0')}`,
    pagerDutyUrl: () => `${origin}/integration/${String(next()).padStart(32, 'aB3dE5fG')}/enqueue`,
    messages,
    requests,
    refused,
    failNext: (fault) => faults.push(fault),
    failAfter: (requests, fault) => {
      while (faults.length < requests) faults.push(undefined)
      faults[requests] = fault
    },
    remove: (url) => removed.add(hookIn(url)),
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
      requests.length = 0
      refused.length = 0
      announce()
    },
    close: () => closeServer(server),
  }
}

function invalidEvent(error: string): Exclude<HookFault, string> {
  const answer = { status: 'invalid event', message: 'Event object is invalid', errors: [error] }
  return { status: 400, body: JSON.stringify(answer) }
}

/** Key of the webhook, topic or integration in a request's URL. */
function hookIn(url: string): string {
  const [, first = '', second = '', third = '', fourth = ''] = new URL(url).pathname.split('/')
  if (first === 'services') return `${second}/${third}`
  if (first === 'integration') return second
  if (first === 'api') return third === 'webhooks' ? fourth : third
  return first
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
