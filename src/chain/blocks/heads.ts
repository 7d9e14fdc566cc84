import { randomInt } from 'node:crypto'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { backoffMs } from '#src/kernel/backoff.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Meters } from '#src/kernel/meters.ts'
import { connectionCause } from '../endpoints/connection-cause.ts'
import { Quantity } from '../endpoints/schemas.ts'
import {
  type BlockRate,
  blocksPerReading,
  nextTipReadMs,
  UNKNOWN_RATE,
  updateRate,
} from './block-rate.ts'
import { confirmedBlockNumber } from './blocks.ts'

/**
 * Decides when to read the newest block. Endpoints with a WebSocket report new heads (`eth_subscribe`). A
 * head only triggers the usual reading over HTTP; its content is not trusted. Without a head, the newest
 * block is read at the rate at which earlier blocks came.
 */
export interface Heads {
  /**
   * Connects, and calls `onHead` when a new block is likely, until the returned function is called. One
   * follower at a time.
   */
  follow(onHead: () => void): () => void
  /** Records the newest confirmed block of a reading. */
  read(confirmed: number): void
  /** Time until the next reading without a head, in milliseconds. */
  nextMs(): number
  /** Whether this process follows the chain, so that the newest block is read again and again. */
  isFollowed(): boolean
}

/** Settings of the heads. */
export interface HeadsOptions {
  /** The WebSockets of endpoints, each with the position of its endpoint. */
  readonly sockets: readonly {
    readonly endpoint: number
    readonly url: string
    /** HTTP headers of the connection, such as an API key. Never logged. */
    readonly headers: Readonly<Record<string, string>>
  }[]
  /** Maximum time between two readings, in milliseconds. If it has several blocks, heads between do not cause readings. */
  readonly longestMs: number
  /** Confirmations of the blocks that `read` gets. */
  readonly confirmations: number
  readonly log: Logger
  readonly meters?: Meters
  /** Waits before a connection is opened again, doubled with each failure; 1 s to 60 s by default. */
  readonly pausesMs?: { readonly min: number; readonly max: number }
  /** Longest time without a head; 30 s by default. */
  readonly silentMs?: number
}

interface Socket {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Name in the log: index and origin, which contain no credentials. */
  readonly name: { readonly endpoint: number; readonly origin: string }
  connection: WebSocket | undefined
  /** Whether the connection was ever open. */
  isOpen: boolean
  /** Number of further readings that may fail to reach a head before the connection is closed. */
  credit: number
  /** Number of messages since `countedFromMs`, a time of `performance.now()`. */
  messages: number
  countedFromMs: number
  /** Highest head of this connection; 0 before the first. */
  newest: number
  /** Head for which a reading was requested and has not ended; 0 if there is none. */
  asked: number
  /** Number of readings that did not find the head `asked`. */
  misses: number
  /** Consecutive connections without a confirmed head. */
  failures: number
  timer: NodeJS.Timeout | undefined
}

const PAUSES_MS = { min: 1000, max: 60_000 }
const SILENT_MS = 30_000
const HANDSHAKE_MS = 5000
/** Maximum size of a message; the head of a block has 1 to 2 KiB. */
const MESSAGE_BYTES_MAX = 64 * 1024
/** Number of readings for heads that no endpoint has, after which the connection is closed. */
const CREDIT = 5
/** Maximum number of messages of a connection within `silentMs`. A node that is catching up sends more. */
const MESSAGES_MAX = 1000
/** Maximum number of blocks by which a head may be above the newest block that was read. */
const AHEAD_MAX = 1000
/** Pauses before the next reading for a head that the last one did not find. */
const RETRIES_MS = [60, 120, 240]
/** Block periods after a confirmed head in which nothing is read without another head. */
const PERIODS_TRUSTED = 2
const TRUSTED_MS_MAX = 5000

const Subscribed = z.object({ id: z.literal(1), result: z.string() })
const NewHead = z.object({
  method: z.literal('eth_subscription'),
  params: z.object({ result: z.object({ number: Quantity }) }),
})

/** Creates the heads; connects when they are followed. Long because all parts share the sockets' state. */
export function createHeads({
  sockets: givenSockets,
  longestMs,
  confirmations,
  log,
  meters,
  pausesMs = PAUSES_MS,
  silentMs = SILENT_MS,
}: HeadsOptions): Heads {
  const sockets = givenSockets.map(
    ({ endpoint, url, headers }): Socket => ({
      ...{ url, headers, name: { endpoint, origin: new URL(url).origin } },
      ...{ connection: undefined, isOpen: false },
      ...{ credit: CREDIT, messages: 0, countedFromMs: 0 },
      ...{ newest: 0, asked: 0, misses: 0, failures: 0, timer: undefined },
    }),
  )
  let rate: BlockRate = UNKNOWN_RATE
  /** When a head was last confirmed, in milliseconds of `performance.now()`. */
  let confirmedAtMs = Number.NEGATIVE_INFINITY
  let wake: (() => void) | undefined
  const retries = new Set<NodeJS.Timeout>()

  function open(socket: Socket): void {
    const { url, headers } = socket
    const connection = new WebSocket(url, {
      headers,
      handshakeTimeout: HANDSHAKE_MS,
      maxPayload: MESSAGE_BYTES_MAX,
      perMessageDeflate: false,
    })
    const start = { isOpen: false, credit: CREDIT, messages: 0, newest: 0, asked: 0 }
    Object.assign(socket, { connection, ...start })
    let cause: string | undefined
    connection.on('open', () => {
      socket.isOpen = true
      connection.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}')
    })
    connection.on('message', (data) => receive(socket, connection, String(data)))
    // Every error is followed by a close.
    connection.on('error', (error) => {
      cause = socket.isOpen ? undefined : refusalOf(error)
    })
    connection.on('close', () => drop(socket, connection, cause ?? 'closed'))
    expectHead(socket, connection)
  }

  function expectHead(socket: Socket, connection: WebSocket): void {
    clearTimeout(socket.timer)
    socket.timer = setTimeout(() => drop(socket, connection, 'silent'), silentMs).unref()
  }

  function receive(socket: Socket, connection: WebSocket, text: string): void {
    if (socket.connection !== connection) return
    if (isTooMany(socket)) {
      drop(socket, connection, 'too many messages')
      return
    }
    const message = parse(text)
    if (Subscribed.safeParse(message).success) return
    const head = NewHead.safeParse(message)
    const number = head.success ? Number(head.data.params.result.number) : undefined
    const fault = number === undefined ? 'malformed' : faultOf(socket, number)
    if (fault !== undefined) drop(socket, connection, fault)
    if (number === undefined || fault !== undefined || number <= socket.newest) return
    meters?.countHead(new URL(socket.url).host, 'heard')
    expectHead(socket, connection)
    const unread = confirmedBlockNumber(number, confirmations) - rate.newest
    const isDue = rate.newest === 0 || unread >= blocksPerReading(rate, longestMs)
    socket.newest = number
    // An endpoint that is behind reports what was read already. Blocks that come faster than readings share one.
    if (isDue && socket.asked === 0) ask(socket)
  }

  /** Counts a message; returns whether there were too many. */
  function isTooMany(socket: Socket): boolean {
    const nowMs = performance.now()
    const isOver = nowMs - socket.countedFromMs >= silentMs
    if (isOver) Object.assign(socket, { messages: 0, countedFromMs: nowMs })
    socket.messages += 1
    return socket.messages > MESSAGES_MAX
  }

  /** Reason why a head ends the connection; undefined for a head that may be right. */
  function faultOf({ newest, credit }: Socket, number: number): string | undefined {
    const isFar = rate.newest > 0 && number > rate.newest + confirmations + AHEAD_MAX
    if (isFar) return 'too far ahead'
    return number > newest && credit === 0 ? 'heads that no endpoint has' : undefined
  }

  function drop(socket: Socket, connection: WebSocket, reason: string): void {
    if (socket.connection !== connection) return
    clearTimeout(socket.timer)
    socket.connection = undefined
    connection.terminate()
    if (wake === undefined) return
    const what = socket.isOpen
      ? 'new heads of an endpoint ended'
      : 'endpoint cannot be connected for new heads'
    if (socket.failures === 0) log.warn({ ...socket.name, reason }, what)
    socket.failures += 1
    const pauseMs = backoffMs(socket.failures, pausesMs)
    // The pause is random, so that many processes do not reconnect at the same time.
    const waitMs = randomInt(Math.ceil(pauseMs / 2), pauseMs + 1)
    socket.timer = setTimeout(() => open(socket), waitMs).unref()
  }

  /** Asks for a reading that reaches the socket's newest head. */
  function ask(socket: Socket): void {
    Object.assign(socket, { asked: socket.newest, misses: 0, credit: socket.credit - 1 })
    wake?.()
  }

  /** Confirms the requested head if the reading reached it; otherwise schedules a few more readings. */
  function confirm(socket: Socket, confirmed: number): void {
    if (socket.asked === 0) return
    if (confirmed >= confirmedBlockNumber(socket.asked, confirmations)) {
      if (socket.failures > 0) log.info(socket.name, 'endpoint reports new heads again')
      Object.assign(socket, { credit: CREDIT, asked: 0, failures: 0 })
      confirmedAtMs = performance.now()
      meters?.countHead(new URL(socket.url).host, 'confirmed')
      if (confirmed < confirmedBlockNumber(socket.newest, confirmations)) ask(socket)
      return
    }
    const pauseMs = RETRIES_MS[socket.misses]
    if (pauseMs === undefined) {
      socket.asked = 0
      return
    }
    socket.misses += 1
    const retry = setTimeout(() => {
      retries.delete(retry)
      wake?.()
    }, pauseMs).unref()
    retries.add(retry)
  }

  return {
    follow(onHead) {
      wake = onHead
      for (const socket of sockets) open(socket)
      return () => {
        wake = undefined
        for (const retry of retries) clearTimeout(retry)
        retries.clear()
        for (const socket of sockets) {
          clearTimeout(socket.timer)
          socket.connection?.terminate()
          socket.connection = undefined
        }
      }
    },
    isFollowed: () => wake !== undefined,
    read(confirmed) {
      rate = updateRate(rate, confirmed, performance.now())
      for (const socket of sockets) confirm(socket, confirmed)
    },
    nextMs() {
      const nowMs = performance.now()
      const { periodMs = TRUSTED_MS_MAX } = rate
      const trustedMs = Math.min(periodMs * PERIODS_TRUSTED, TRUSTED_MS_MAX)
      return nowMs - confirmedAtMs < trustedMs ? longestMs : nextTipReadMs(rate, nowMs, longestMs)
    },
  }
}

/** Why a WebSocket was not opened, without its address. */
function refusalOf(error: Error): string {
  const [, status] = /^Unexpected server response: (\d{3})$/.exec(error.message) ?? []
  if (status !== undefined) return `http ${status}`
  if (error.message === 'Opening handshake has timed out') return 'timeout'
  return connectionCause(error) ?? 'connection failed'
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The message is not JSON, so it is not a head.
    return undefined
  }
}
