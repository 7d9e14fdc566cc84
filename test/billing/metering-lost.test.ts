import { once } from 'node:events'
import { connect as connectTo, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Charge } from '#src/billing/metering/model.ts'
import { getPayerFunds, type Metering } from '#src/billing/metering/service.ts'
import { type Connection, connect } from '#src/db/connection.ts'
import { type Logger, silentLogger } from '#src/kernel/logger.ts'
import { testClock } from '../support/clock.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { type Caller, callMany, chargesOf, meteringOn, newCaller, provedLedger } from './callers.ts'

/** Charges and refunds when the connection to the database is lost at the worst moment. */

const clock = testClock()
let database: FreshDatabase
let line: Awaited<ReturnType<typeof startLine>>
let far: Connection
/** Metering whose connection to the database can be cut. */
let metering: Metering
const errors: Readonly<Record<string, unknown>>[] = []
const log: Logger = { ...silentLogger, error: (fields) => errors.push(fields) }

beforeAll(async () => {
  database = await freshDatabase()
  line = await startLine(database.url)
})
beforeEach(async () => {
  errors.length = 0
  far = connect(line.url)
  metering = meteringOn(far.db, clock, log)
  return async () => {
    await metering.stop()
    await far.close()
  }
})
afterAll(async () => {
  await line.close()
  await database.drop()
})

const caller = () => newCaller(database.db, clock, { credits: 100, freeUsed: 50 })
const ledgerOf = ({ wallet }: Caller) => provedLedger(database.db, clock, wallet)
const balanceOf = async ({ wallet }: Caller) =>
  (await getPayerFunds({ db: database.db, clock }, { wallet })).balanceCredits

function referenceOf(charge: Charge | undefined): string {
  if (charge?.kind !== 'paid') throw new Error('the call was not paid')
  return charge.reference
}

async function failToCharge({ payer }: Caller, calls: number): Promise<void> {
  const ended = await Promise.allSettled(
    Array.from({ length: calls }, () => metering.charge({ resource: 'ftso-analytics', payer })),
  )
  for (const result of ended) {
    expect(result).toMatchObject({ reason: { kind: 'upstream', code: 'dependency_unavailable' } })
  }
}

test('calls whose charge was committed and whose answer was lost are refunded once', async () => {
  const alice = await caller()
  await callMany(metering, alice.payer, 1)
  line.loseAnswer(alice.payer.hash)
  await failToCharge(alice, 1)
  expect(await balanceOf(alice)).toBe(98)
  await metering.settleRefunds()
  expect(await balanceOf(alice)).toBe(99)
  await metering.settleRefunds()
  const rows = await ledgerOf(alice)
  expect(rows.map(({ type }) => type)).toEqual(['topup', 'usage', 'usage', 'refund'])
})

test('calls whose charge did not reach the database cost nothing', async () => {
  const alice = await caller()
  await callMany(metering, alice.payer, 1)
  line.loseQuestion(alice.payer.hash)
  await failToCharge(alice, 1)
  await metering.settleRefunds()
  clock.advance(60)
  await metering.settleRefunds()
  expect(await balanceOf(alice)).toBe(99)
  expect(await ledgerOf(alice)).toHaveLength(2)
})

test('a refund that fails is made later', async () => {
  const alice = await caller()
  const charges = chargesOf(await callMany(metering, alice.payer, 3))
  const [first, ...others] = charges
  if (first === undefined) throw new Error('no call was charged')
  expect(await metering.refund(first)).toEqual({ ok: true, balanceCredits: 98 })
  line.loseQuestion(referenceOf(charges.at(-1)))
  const returned = await Promise.all(others.map((charge) => metering.refund(charge)))
  expect(returned).toEqual([{ ok: true, balanceCredits: 99 }, { ok: false }])
  line.loseQuestion(referenceOf(charges.at(-1)))
  await expect(metering.settleRefunds()).rejects.toThrow()
  expect(await balanceOf(alice)).toBe(99)
  await metering.settleRefunds()
  expect(await balanceOf(alice)).toBe(100)
  expect(await ledgerOf(alice)).toHaveLength(7)
  expect(errors).toEqual([])
})

test('refunds still pending when the process stops are logged as an error', async () => {
  const alice = await caller()
  const [charge] = chargesOf(await callMany(metering, alice.payer, 1))
  if (charge === undefined) throw new Error('the call was not charged')
  line.loseQuestion(referenceOf(charge))
  await metering.refund(charge)
  line.loseQuestion(referenceOf(charge))
  await metering.stop()
  expect(errors).toEqual([{ references: [referenceOf(charge)] }])
})

/** A connection to the database that is cut once, by a statement with a given text. */
async function startLine(databaseUrl: string) {
  const target = new URL(databaseUrl)
  let order: { readonly text: string; readonly loses: 'question' | 'answer' } | undefined
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const database = connectTo(Number(target.port), target.hostname)
    for (const socket of [client, database]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.once('close', () => sockets.delete(socket))
    }
    let isAnswerLost = false
    // The database finishes the statements that it has received.
    client.once('close', () => database.end())
    database.once('close', () => client.destroy())
    client.on('data', (data) => {
      const isIt = order !== undefined && data.includes(order.text)
      if (isIt) {
        isAnswerLost = order?.loses === 'answer'
        order = undefined
      }
      if (isIt && !isAnswerLost) client.destroy()
      else database.write(data)
    })
    database.on('data', (data) => (isAnswerLost ? client.destroy() : client.write(data)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String(address.port)
  return {
    url: url.href,
    loseQuestion: (text: string) => {
      order = { text, loses: 'question' }
    },
    loseAnswer: (text: string) => {
      order = { text, loses: 'answer' }
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
