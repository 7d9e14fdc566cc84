import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, systemClock } from '#src/kernel/clock.ts'
import { type Arrivals, createArrivals } from './arrivals.ts'
import {
  type RequestHeaders,
  type SignatureVerdict,
  verifyStandard,
  verifyWatchdog,
} from './verify.ts'

/** How a delivery is answered: a status, in full, never, or by breaking the connection. */
export type Answer = number | 'hang' | 'reset' | FullAnswer

export interface FullAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Waits this long first. */
  readonly delayMs?: number
}

/** The signatures of a delivery, each checked as a customer would with the secret of its hook. */
export interface Verdicts {
  readonly watchdog: SignatureVerdict
  /** Only there while a secret is being changed. */
  readonly watchdogNext: SignatureVerdict
  readonly standard: SignatureVerdict
}

/** A request to a hook, as it came. */
export interface Received {
  /** Counts from 1 in the order of arrival. */
  readonly id: number
  readonly receivedAt: Date
  /** The last part of `/hook/<name>`. */
  readonly hook: string
  readonly method: string
  readonly headers: RequestHeaders
  readonly rawBody: Buffer
  /** Absent where the body is not JSON. */
  readonly json: unknown
  /** Absent while the hook has no secret. */
  readonly verdicts: Verdicts | undefined
  /** What was answered, or is about to be. */
  readonly answer: Answer
}

/** A customer's web server that takes webhooks. */
export interface Receiver {
  /** Where to send for a hook; `main` without a name. Each name is a hook of its own. */
  url(hook?: string): string
  /** Oldest first. */
  readonly deliveries: readonly Received[]
  /** Answers still to be given to the next deliveries. */
  readonly nextAnswers: readonly Answer[]
  /** The hooks that have a secret, and it. */
  readonly secrets: ReadonlyMap<string, string>
  /** Answers the next deliveries like this, one each, before going back to the usual. */
  answerNext(...answers: readonly Answer[]): void
  /** Forgets the answers still to be given. */
  cancelAnswers(): void
  /**
   * The usual answer from now on; `undefined` for the one at the start: 200, but 401 where the hook
   * has a secret and no signature fits it.
   */
  answerAlways(answer: Answer | undefined): void
  /** Sets the secret a hook checks with; `undefined` lets it check nothing. */
  setSecret(hook: string, secret: string | undefined): void
  /** The first delivery that fits, here or still to come; fails after the time, by default 5 s. */
  waitFor: Arrivals<Received>['waitFor']
  /** Tells about every delivery and change until the returned function is called. */
  subscribe: Arrivals<Received>['subscribe']
  /** Forgets the deliveries and the answers still to be given. */
  clear(): void
  close(): Promise<void>
}

export interface ReceiverOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number
  /** The secret of the hook `main`. */
  readonly secret?: string
  readonly clock?: Clock
}

/** The hook used where none is named. */
export const MAIN_HOOK = 'main'

const HOOK_PATH = /^\/hook\/([\w-]{1,64})$/

/** Starts a web server on loopback that takes deliveries at `/hook/<name>`. */
export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const { port = 0, secret, clock = systemClock } = options
  const arrivals = createArrivals<Received>('delivery', describe)
  const secrets = new Map<string, string>(secret === undefined ? [] : [[MAIN_HOOK, secret]])
  const nextAnswers: Answer[] = []
  const stopping = new AbortController()
  let usual: Answer | undefined
  let received = 0

  const receive = async (request: IncomingMessage, hook: string): Promise<Answer> => {
    const rawBody = await buffer(request)
    const receivedAt = clock.now()
    const verdicts = check(request.headers, rawBody, secrets.get(hook), receivedAt)
    const answer = nextAnswers.shift() ?? usual ?? (isRefused(verdicts) ? 401 : 200)
    received += 1
    arrivals.add({
      id: received,
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
    deliveries: arrivals.all,
    nextAnswers,
    secrets,
    answerNext: (...answers) => {
      nextAnswers.push(...answers)
      arrivals.announce()
    },
    cancelAnswers: () => {
      nextAnswers.length = 0
      arrivals.announce()
    },
    answerAlways: (answer) => {
      usual = answer
    },
    setSecret: (hook, next) => {
      if (next === undefined) secrets.delete(hook)
      else secrets.set(hook, next)
      arrivals.announce()
    },
    waitFor: arrivals.waitFor,
    subscribe: arrivals.subscribe,
    clear: () => {
      nextAnswers.length = 0
      arrivals.clear()
    },
    close: async () => {
      stopping.abort()
      arrivals.close()
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
  receive: (request: IncomingMessage, hook: string) => Promise<Answer>,
): Promise<HookServer> {
  const server = createServer(async (request, response) => {
    try {
      const hook = HOOK_PATH.exec(request.url ?? '')?.[1]
      const answer = hook === undefined ? 404 : await receive(request, hook)
      await give(answer, response, stopping)
    } catch {
      // The sender broke off, or we are stopping.
      response.destroy()
    }
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    origin: `http://127.0.0.1:${address.port}`,
    close: async () => {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function check(
  headers: RequestHeaders,
  body: Buffer,
  secret: string | undefined,
  now: Date,
): Verdicts | undefined {
  if (secret === undefined) return undefined
  return {
    watchdog: verifyWatchdog(headers, body, secret, now),
    watchdogNext: verifyWatchdog(headers, body, secret, now, 'x-watchdog-signature-next'),
    standard: verifyStandard(headers, body, secret, now),
  }
}

function isRefused(verdicts: Verdicts | undefined): boolean {
  return verdicts !== undefined && !Object.values(verdicts).some(({ ok }) => ok)
}

async function give(answer: Answer, response: ServerResponse, signal: AbortSignal): Promise<void> {
  if (answer === 'hang') return
  if (answer === 'reset') {
    response.socket?.resetAndDestroy()
    return
  }
  const { status, headers = {}, body = '', delayMs = 0 } = fullAnswer(answer)
  if (delayMs > 0) await sleep(delayMs, undefined, { signal })
  response.writeHead(status, headers).end(body)
}

function fullAnswer(answer: number | FullAnswer): FullAnswer {
  return typeof answer === 'number' ? { status: answer } : answer
}

function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

function describe({ hook, headers }: Received): string {
  return `${headers['x-watchdog-event'] ?? 'no event'} at ${hook}`
}
