import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { type Clock, systemClock } from '#src/kernel/clock.ts'
import { listen, stopListening } from './loopback.ts'
import { type ErrorToken, errorOf, XrplRefusal } from './xrpl/errors.ts'
import { createHistory, type Deposit } from './xrpl/ledger.ts'
import { METHODS, type ServerView } from './xrpl/methods.ts'

/** How a server of the XRP Ledger is started. */
export interface XrplOptions {
  /** The account that deposits go to; `XRPL_DEPOSIT_ADDRESS` without it. */
  readonly address?: string
  /** What it holds at the start; 10 XRP without it. With 0 it does not exist until it is paid. */
  readonly balanceDrops?: bigint
  readonly clock?: Clock
  /** 0, the default, takes any free port. */
  readonly port?: number
}

/** Where a transaction was put. */
export interface Deposited {
  readonly hash: string
  readonly ledgerIndex: number
}

/** A local server of the XRP Ledger: JSON-RPC with the methods and errors of the real one. */
export interface XrplServer {
  readonly url: string
  readonly address: string
  /** Pays the deposit address, in a ledger that is validated at once. */
  deposit(deposit: Deposit): Deposited
  /** Pays, but in no ledger yet: `closeLedger` puts it into one. Answers the hash. */
  submit(deposit: Deposit): string
  /** Closes and validates ledgers, the first with everything that was submitted; answers the newest. */
  closeLedger(ledgers?: number): number
  /** How often a method was asked for, whatever came of it. */
  count(method: string): number
  /** Gives at most so many transactions on a page. */
  limitPages(transactions: number): void
  /** Has no ledgers before this one any more. */
  forgetBefore(ledgerIndex: number): void
  /** Is so many ledgers behind the others. */
  lag(ledgers: number): void
  /** Has lost, or found again, the network. */
  setSynced(isSynced: boolean): void
  /** Refuses the next calls by an error of the method, or the whole request by a status. */
  failNext(times: number, fault: ErrorToken | { readonly status: number }): void
  /** Takes requests and never answers them. */
  hang(): void
  /** Answers this much later. */
  delay(ms: number): void
  /** Drops every connection and refuses new ones. */
  down(): Promise<void>
  /** Ends every fault and listens again. */
  up(): Promise<void>
  close(): Promise<void>
}

/** The deposit address where no other is named. Nobody has its key. */
export const XRPL_DEPOSIT_ADDRESS = 'rQa5iZoN1aw2U7GuN5CygB31QMyJV7CJ5Z'
const START_DROPS = 10_000_000n
const PAGE_SIZE_MAX = 400
const API_VERSIONS = [1, 2]

const Request = z.object({
  method: z.string().optional(),
  params: z.array(z.record(z.string(), z.unknown())).optional(),
})

interface Faults {
  hanging: boolean
  delayMs: number
  lag: number
  isSynced: boolean
  pageSize: number
  readonly refusals: { readonly fault: ErrorToken | { readonly status: number }; left: number }[]
}

/** Starts a server of the XRP Ledger on loopback, with a history of one ledger. */
export async function startXrpl({
  address = XRPL_DEPOSIT_ADDRESS,
  balanceDrops = START_DROPS,
  clock = systemClock,
  port = 0,
}: XrplOptions = {}): Promise<XrplServer> {
  const history = createHistory(address, balanceDrops, clock)
  let oldest = history.newest().index
  const counts = new Map<string, number>()
  const faults = noFaults()
  const view: ServerView = {
    history,
    range: () => ({ min: oldest, max: Math.max(oldest, history.newest().index - faults.lag) }),
    pageSize: () => faults.pageSize,
    isSynced: () => faults.isSynced,
  }
  const stopping = new AbortController()
  const server = createServer(async (request, response) => {
    try {
      const body = await text(request)
      const { method } = Request.safeParse(jsonOf(body)).data ?? {}
      if (method !== undefined) counts.set(method, (counts.get(method) ?? 0) + 1)
      if (faults.hanging) return
      if (faults.delayMs > 0) {
        await sleep(faults.delayMs, undefined, { signal: stopping.signal })
      }
      const answer = answerTo(view, faults, body)
      response.writeHead(answer.status, { 'content-type': 'application/json; charset=UTF-8' })
      response.end(answer.body)
    } catch {
      // We are stopping; to the caller it looks like a broken line.
      response.destroy()
    }
  })
  const ownPort = await listen(server, port)
  return {
    url: `http://127.0.0.1:${ownPort}`,
    address,
    deposit: (deposit) => {
      const { hash } = history.submit(deposit)
      return { hash, ledgerIndex: history.close().index }
    },
    submit: (deposit) => history.submit(deposit).hash,
    closeLedger: (ledgers = 1) => {
      for (let n = 0; n < ledgers; n += 1) history.close()
      return history.newest().index
    },
    count: (method) => counts.get(method) ?? 0,
    forgetBefore: (ledgerIndex) => {
      oldest = ledgerIndex
    },
    ...controls(faults),
    down: () => stopListening(server),
    up: async () => {
      Object.assign(faults, noFaults())
      if (!server.listening) await listen(server, ownPort)
    },
    close: async () => {
      stopping.abort()
      await stopListening(server)
    },
  }
}

function noFaults(): Faults {
  return {
    hanging: false,
    delayMs: 0,
    lag: 0,
    isSynced: true,
    pageSize: PAGE_SIZE_MAX,
    refusals: [],
  }
}

type Controls = Pick<XrplServer, 'limitPages' | 'lag' | 'setSynced' | 'failNext' | 'hang' | 'delay'>

function controls(faults: Faults): Controls {
  return {
    limitPages: (transactions) => {
      faults.pageSize = transactions
    },
    lag: (ledgers) => {
      faults.lag = ledgers
    },
    setSynced: (isSynced) => {
      faults.isSynced = isSynced
    },
    failNext: (times, fault) => {
      faults.refusals.push({ fault, left: times })
    },
    hang: () => {
      faults.hanging = true
    },
    delay: (ms) => {
      faults.delayMs = ms
    },
  }
}

interface Answer {
  readonly status: number
  readonly body: string
}

function answerTo(view: ServerView, { refusals }: Faults, body: string): Answer {
  const refusal = refusals.find(({ left }) => left > 0)
  if (refusal !== undefined) refusal.left -= 1
  const fault = refusal?.fault
  if (typeof fault === 'object') return { status: fault.status, body: 'Server is overloaded\r\n' }

  const json = jsonOf(body)
  if (json === undefined) return unreadable('Unable to parse request: ')
  const request = Request.safeParse(json)
  if (!request.success) return unreadable('params unparsable')
  const { method, params = [{}] } = request.data
  const [parameters] = params
  if (parameters === undefined || params.length > 1) return unreadable('params unparsable')
  if (method === undefined) return unreadable('Null method')
  if (method === '') return unreadable('method is empty')
  const apiVersion = parameters['api_version'] ?? 1
  if (typeof apiVersion !== 'number' || !API_VERSIONS.includes(apiVersion)) {
    return unreadable('invalid_API_version')
  }
  const sent = { ...parameters, command: method }
  try {
    if (fault !== undefined) throw new XrplRefusal(fault)
    const run = METHODS[method]
    if (run === undefined) throw new XrplRefusal('unknownCmd')
    return { status: 200, body: resultOf(run(view, parameters, apiVersion), 'success') }
  } catch (error) {
    const refused = error instanceof XrplRefusal ? error.body : errorOf('internal')
    return { status: 200, body: resultOf({ ...refused, request: sent }, 'error') }
  }
}

function resultOf(result: Readonly<Record<string, unknown>>, status: string): string {
  return JSON.stringify({ result: { ...result, status } })
}

/** What is not a call at all is refused as plain text. */
function unreadable(message: string): Answer {
  return { status: 400, body: `${message}\r\n` }
}

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
