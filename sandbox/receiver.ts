import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, systemClock } from '#src/kernel/clock.ts'
import { closeServer, listenOnLoopback } from './loopback.ts'
import { createReceivedItems, type ReceivedItems } from './received-items.ts'
import {
  type RequestHeaders,
  type SignatureVerdict,
  verifyStandard,
  verifyWatchdog,
} from './verify.ts'

/** Response to a delivery: a status, a full answer, none, or a broken connection. */
export type HookAnswer = number | 'hang' | 'reset' | FullHookAnswer

export interface FullHookAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Delay before the answer. */
  readonly delayMs?: number
}

/** Results of verifying each signature of a delivery with the secret of its hook, as a customer would. */
export interface SignatureVerdicts {
  readonly watchdog: SignatureVerdict
  /** Signature with the next secret, which is sent during a rotation of the secret only. */
  readonly watchdogNext: SignatureVerdict
  readonly standard: SignatureVerdict
}

/** A request to a hook. */
export interface ReceivedRequest {
  /** Counts from 1 in the order of arrival. */
  readonly id: number
  readonly receivedAt: Date
  /** The last part of `/hook/<name>`. */
  readonly hook: string
  readonly method: string
  readonly headers: RequestHeaders
  readonly rawBody: Buffer
  /** Undefined if the body is not JSON. */
  readonly json: unknown
  /** Undefined while the hook has no secret. */
  readonly verdicts: SignatureVerdicts | undefined
  /** The response that was sent or will be sent. */
  readonly answer: HookAnswer
}

/** A customer's web server that receives webhooks. */
export interface Receiver {
  /** URL of a hook; `main` by default. Each name is a hook of its own. */
  url(hook?: string): string
  /** Received deliveries, oldest first. */
  readonly deliveries: readonly ReceivedRequest[]
  /** Responses for the next deliveries. */
  readonly nextAnswers: readonly HookAnswer[]
  /** Secrets by hook. */
  readonly secrets: ReadonlyMap<string, string>
  /** Sets the responses to the next deliveries, one each; afterwards the default applies again. */
  answerNext(...answers: readonly HookAnswer[]): void
  /** Removes the remaining responses. */
  cancelAnswers(): void
  /**
   * Sets the default response; `undefined` resets it: 200, but 401 if the hook has a secret and no
   * signature matches.
   */
  answerAlways(answer: HookAnswer | undefined): void
  /** Sets the secret with which a hook verifies; `undefined` disables verification. */
  setSecret(hook: string, secret: string | undefined): void
  /** The first matching delivery, received before or later; rejects after the timeout, by default 5 s. */
  waitFor: ReceivedItems<ReceivedRequest>['waitFor']
  /** Calls the listener on every delivery and change until the returned function is called. */
  subscribe: ReceivedItems<ReceivedRequest>['subscribe']
  /** Deletes the deliveries and the remaining responses. */
  clear(): void
  close(): Promise<void>
}

export interface ReceiverOptions {
  /** 0, the default, uses any free port. */
  readonly port?: number
  /** The secret of the hook `main`. */
  readonly secret?: string
  readonly clock?: Clock
}

/** The default hook. */
export const MAIN_HOOK = 'main'

const HOOK_PATH = /^\/hook\/([\w-]{1,64})$/

/**
 * Starts a web server on loopback that receives deliveries at `/hook/<name>`. Long because the server and the
 * functions that control it share the queue of answers and the secrets.
 */
export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const { port = 0, secret, clock = systemClock } = options
  const received = createReceivedItems<ReceivedRequest>('delivery', describe)
  const secrets = new Map<string, string>(secret === undefined ? [] : [[MAIN_HOOK, secret]])
  const nextAnswers: HookAnswer[] = []
  const stopping = new AbortController()
  let usual: HookAnswer | undefined
  let count = 0

  const receive = async (request: IncomingMessage, hook: string): Promise<HookAnswer> => {
    const rawBody = await buffer(request)
    const receivedAt = clock.now()
    const verdicts = check(request.headers, rawBody, secrets.get(hook), receivedAt)
    const answer = nextAnswers.shift() ?? usual ?? (isRefused(verdicts) ? 401 : 200)
    count += 1
    received.add({
      id: count,
      receivedAt,
      hook,
      method: request.method ?? '',
      headers: request.headers,
      rawBody,
      json: readJson(rawBody),
      verdicts,
      answer,
    })
    return answer
  }

  const server = await serveHooks(port, stopping.signal, receive)

  return {
    url: (hook = MAIN_HOOK) => `${server.origin}/hook/${hook}`,
    deliveries: received.all,
    nextAnswers,
    secrets,
    answerNext: (...answers) => {
      nextAnswers.push(...answers)
      received.announce()
    },
    cancelAnswers: () => {
      nextAnswers.length = 0
      received.announce()
    },
    answerAlways: (answer) => {
      usual = answer
    },
    setSecret: (hook, next) => {
      if (next === undefined) secrets.delete(hook)
      else secrets.set(hook, next)
      received.announce()
    },
    waitFor: received.waitFor,
    subscribe: received.subscribe,
    clear: () => {
      nextAnswers.length = 0
      received.clear()
    },
    close: async () => {
      stopping.abort()
      received.close()
      await server.close()
    },
  }
}

interface HookServer {
  readonly origin: string
  close(): Promise<void>
}

async function serveHooks(
  port: number,
  stopping: AbortSignal,
  receive: (request: IncomingMessage, hook: string) => Promise<HookAnswer>,
): Promise<HookServer> {
  const server = createServer(async (request, response) => {
    try {
      const hook = HOOK_PATH.exec(request.url ?? '')?.[1]
      const answer = hook === undefined ? 404 : await receive(request, hook)
      await give(answer, response, stopping)
    } catch {
      // The sender disconnected, or the receiver is stopping.
      response.destroy()
    }
  })
  const boundPort = await listenOnLoopback(server, port)
  return {
    origin: `http://127.0.0.1:${boundPort}`,
    close: () => closeServer(server),
  }
}

function check(
  headers: RequestHeaders,
  body: Buffer,
  secret: string | undefined,
  now: Date,
): SignatureVerdicts | undefined {
  if (secret === undefined) return undefined
  return {
    watchdog: verifyWatchdog(headers, body, secret, now),
    watchdogNext: verifyWatchdog(headers, body, secret, now, 'x-watchdog-signature-next'),
    standard: verifyStandard(headers, body, secret, now),
  }
}

function isRefused(verdicts: SignatureVerdicts | undefined): boolean {
  return verdicts !== undefined && !Object.values(verdicts).some(({ ok }) => ok)
}

async function give(
  answer: HookAnswer,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  if (answer === 'hang') return
  if (answer === 'reset') {
    response.socket?.resetAndDestroy()
    return
  }
  const { status, headers = {}, body = '', delayMs = 0 } = fullAnswer(answer)
  if (delayMs > 0) await sleep(delayMs, undefined, { signal })
  response.writeHead(status, headers).end(body)
}

function fullAnswer(answer: number | FullHookAnswer): FullHookAnswer {
  return typeof answer === 'number' ? { status: answer } : answer
}

function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

function describe({ hook, headers }: ReceivedRequest): string {
  return `${headers['x-watchdog-event'] ?? 'no event'} at ${hook}`
}
