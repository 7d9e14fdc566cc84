import { once } from 'node:events'
import { createServer } from 'node:http'
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net'
import { sql as query } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putLive } from '#bot/core/live-store.ts'
import { OVERVIEW_KIND } from '#bot/features/status/overview.ts'
import { connect as openDatabase } from '#src/db/connection.ts'
import { createRecipient } from '#src/operations/rest/recipients.ts'
import { newCaller, provedLedger } from './billing/callers.ts'
import { type BotWorld, botWorld, walletOf } from './support/bot.ts'
import { testClock } from './support/clock.ts'
import { BOT_TOKEN } from './support/harness.ts'
import { startServiceProcess } from './support/service-process.ts'

const DUE_MESSAGES = 3

/** Starts a server that accepts connections and never answers. */
async function startMute() {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined)
    sockets.add(socket)
    socket.on('data', () => undefined)
  })
  const port = await portOf(server)
  return {
    port,
    heard: () => sockets.size,
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

async function portOf(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

let world: BotWorld
let smtp: Awaited<ReturnType<typeof startMute>>
let rpc: Awaited<ReturnType<typeof startMute>>
let failUpstream = () => undefined as unknown
const upstream = createServer((_request, response) => {
  failUpstream = () => response.writeHead(500).end()
})
let upstreamPort: number

beforeAll(async () => {
  smtp = await startMute()
  rpc = await startMute()
  upstreamPort = await portOf(upstream)
  world = await botWorld(mail())
})
afterAll(async () => {
  await world.close()
  smtp.close()
  rpc.close()
  upstream.closeAllConnections()
  upstream.close()
})

const mail = () => ({
  SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
  EMAIL_FROM: 'Watchdog <watchdog@example.org>',
})

/** Adds chats whose pinned overview is due for a change. */
async function addDueMessages(): Promise<void> {
  for (let count = 0; count < DUE_MESSAGES; count += 1) {
    const chat = await world.linked('alice')
    await chat.say('/status')
    await putLive(world.app.db, {
      chatId: chat.id,
      messageId: chat.last().id,
      kind: OVERVIEW_KIND,
      wallet: walletOf('alice'),
      handle: null,
      stage: null,
      shown: 'something older',
      changeCount: 0,
      dueAt: new Date(),
      leasedUntil: null,
      expiresAt: null,
      createdAt: new Date(),
    })
  }
}

test('a service whose Telegram, mail server and RPC endpoint hang stops in order, after it settled its refunds', async () => {
  await addDueMessages()
  await world.addWatch('alice', { label: 'Node' })
  const body = { name: 'Desk', channel: 'email', address: 'desk@example.org' }
  await world.as('alice', createRecipient, { body })
  // Codes and confirmations use the stopped test clock; the process uses the machine's.
  const clock = testClock(new Date())
  const payer = await newCaller(world.app.db, clock, { credits: 100, freeUsed: 50 })
  world.telegram.failNext({ method: 'editMessageText', times: 100 }, 'hang')
  const service = await startServiceProcess({
    ...mail(),
    DATABASE_URL: world.database.url,
    TELEGRAM_BOT_TOKEN: BOT_TOKEN,
    TELEGRAM_API_ROOT: world.telegram.url,
    FLARE_RPC_URLS: `http://127.0.0.1:${rpc.port}`,
    METERED_UPSTREAMS: JSON.stringify({ 'ftso-analytics': `http://127.0.0.1:${upstreamPort}` }),
  })
  const asked = once(upstream, 'request')
  const call = fetch(`${service.url}/data/ftso-analytics/x`, {
    headers: { authorization: `Bearer ${payer.payer.token}` },
  })
  await asked
  // Blocks changes of the balance, so that the refund stays pending.
  const other = openDatabase(world.database.url)
  const isLocked = Promise.withResolvers<void>()
  const mayGo = Promise.withResolvers<void>()
  const holding = other.db.transaction(async (tx) => {
    await tx.execute(query`select 1 from accounts where wallet = ${payer.wallet} for update`)
    isLocked.resolve()
    await mayGo.promise
  })
  await isLocked.promise
  failUpstream()
  expect((await call).status).toBe(503)
  const wait = { timeout: 30_000 }
  await expect
    .poll(() => service.messages, wait)
    .toContain('charge of a failed call was not refunded yet; the next run tries again')
  const slow = connect(Number(new URL(service.url).port), '127.0.0.1')
  slow.on('error', () => undefined)
  slow.write('POST /api/x402/auth/token HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{')
  await expect.poll(() => smtp.heard() * rpc.heard(), wait).toBeGreaterThan(0)
  const edits = () => world.telegram.calls.filter(({ method }) => method === 'editMessageText')
  await expect.poll(() => edits().length, wait).toBeGreaterThan(0)
  const before = edits().length

  const stopped = service.stop()
  await expect.poll(() => service.messages, wait).toContain('stopping')
  mayGo.resolve()
  await holding
  await stopped
  expect(service.messages.at(-1)).toBe('stopped')
  expect(edits()).toHaveLength(before)
  const entries = await provedLedger(world.app.db, clock, payer.wallet)
  expect(entries.map(({ type }) => type)).toEqual(['topup', 'usage', 'refund'])
  slow.destroy()
  await other.close()
}, 90_000)
