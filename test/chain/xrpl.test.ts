import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { closeServer, listenOnLoopback } from '#sandbox/loopback.ts'
import { startXrpl, type XrplServer } from '#sandbox/xrpl.ts'
import { createXrpl, type Xrpl } from '#src/chain/xrpl/xrpl.ts'
import { toClassicAddress } from '#src/chain/xrpl/xrpl-address.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { testClock } from '../support/clock.ts'

const AT = new Date('2026-11-20T15:00:00Z')
const PAYER = toClassicAddress(Buffer.alloc(20, 7))
const ISSUED = { currency: 'USD', issuer: PAYER, value: '25' }

let server: XrplServer
let xrpl: Xrpl
let lines: { level: string; message: string; fields: Record<string, unknown> }[]

const clock = testClock(AT)
const record = (level: string) => (fields: Record<string, unknown>, message: string) => {
  lines.push({ level, message, fields })
}
const log: Logger = {
  error: record('error'),
  warn: record('warn'),
  info: record('info'),
  debug: record('debug'),
}
const loggedAt = (level: string) => lines.filter((line) => line.level === level)
const unavailable = { kind: 'upstream', code: 'dependency_unavailable' }

beforeEach(async () => {
  lines = []
  clock.set(AT)
  server = await startXrpl({ clock })
  xrpl = createXrpl({ url: server.url, address: server.address, log, timeoutMs: 300 })
})
afterEach(() => server.close())

describe('deposits', () => {
  test('are payments to the address, with transaction, tag, payer and amount', async () => {
    const { hash, ledgerIndex } = server.deposit({ tag: 4_294_967_295, drops: 7n, from: PAYER })
    const { payments, upTo } = await xrpl.deposits(undefined)
    expect(upTo).toBe(ledgerIndex)
    expect(payments).toEqual([
      {
        way: 'xrpl',
        txHash: hash,
        logIndex: 0,
        handle: null,
        tag: 4_294_967_295,
        payer: PAYER,
        asset: 'XRP',
        amountUnits: 7n,
        block: { number: ledgerIndex, hash: expect.stringMatching(/^0x[0-9a-f]{64}$/), at: AT },
      },
    ])
    expect(hash).toMatch(/^[0-9A-F]{64}$/)
  })

  test('are returned in order, each once, after the given ledger', async () => {
    server.submit({ tag: 1, drops: 1n })
    server.submit({ tag: 2, drops: 2n })
    server.closeLedger()
    const first = await xrpl.deposits(undefined)
    expect(first.payments.map(({ tag }) => tag)).toEqual([1, 2])
    server.closeLedger(3)
    server.deposit({ tag: 3, drops: 3n })
    const second = await xrpl.deposits(first.upTo)
    expect(second.payments.map(({ tag }) => tag)).toEqual([3])
    expect(second.upTo).toBe(first.upTo + 4)
    expect(await xrpl.deposits(second.upTo)).toEqual({ payments: [], upTo: second.upTo })
  })

  test('are read on when ledgers close without any deposit', async () => {
    const { upTo } = await xrpl.deposits(undefined)
    const newest = server.closeLedger(5)
    expect(await xrpl.deposits(upTo)).toEqual({ payments: [], upTo: newest })
  })

  test('of a partial payment have the delivered amount', async () => {
    server.deposit({ tag: 1, drops: 5n, statedDrops: 1_000_000_000n })
    const { payments } = await xrpl.deposits(undefined)
    expect(payments.map(({ amountUnits }) => amountUnits)).toEqual([5n])
  })

  test('have no tag when the payer gave none, and zero is a tag', async () => {
    server.deposit({ drops: 1n })
    server.deposit({ tag: 0, drops: 1n })
    const { payments } = await xrpl.deposits(undefined)
    expect(payments.map(({ tag }) => tag)).toEqual([null, 0])
  })

  test('can be all XRP that exist', async () => {
    server.deposit({ tag: 1, drops: 10n ** 17n })
    const { payments } = await xrpl.deposits(undefined)
    expect(payments[0]?.amountUnits).toBe(10n ** 17n)
  })

  test('include payments in another currency, with its code', async () => {
    const { hash } = server.deposit({ tag: 1, drops: 0n, issued: ISSUED })
    expect((await xrpl.deposits(undefined)).payments).toMatchObject([
      {
        way: 'xrpl',
        txHash: hash,
        logIndex: 0,
        tag: 1,
        asset: `${ISSUED.currency}.${ISSUED.issuer}`,
        amountUnits: BigInt(ISSUED.value) * 10n ** 15n,
      },
    ])
  })

  test.each([
    'EscrowFinish',
    'PaymentChannelClaim',
  ] as const)('are what %s brings too, apart from payments', async (by) => {
    const { hash } = server.deposit({ transactionType: by, tag: 7, drops: 25_000_000n })
    expect((await xrpl.deposits(undefined)).payments).toMatchObject([
      { txHash: hash, logIndex: -1, tag: 7, asset: 'XRP', amountUnits: 25_000_000n },
    ])
  })

  test('leave out payments that failed', async () => {
    server.deposit({ tag: 1, drops: 5n, result: 'tecPATH_PARTIAL' })
    expect((await xrpl.deposits(undefined)).payments).toEqual([])
    expect(lines).toEqual([])
  })

  test('leave out payments that no validated ledger has', async () => {
    server.submit({ tag: 1, drops: 5n })
    const before = await xrpl.deposits(undefined)
    expect(before.payments).toEqual([])
    server.closeLedger()
    expect((await xrpl.deposits(before.upTo)).payments).toHaveLength(1)
  })

  test('are read page by page', async () => {
    server.limitPages(3)
    for (let tag = 1; tag <= 10; tag += 1) server.submit({ tag, drops: BigInt(tag) })
    server.closeLedger()
    const { payments } = await xrpl.deposits(undefined)
    expect(payments.map(({ tag }) => tag)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(server.count('account_tx')).toBe(4)
  })

  test('of a long history are read in several runs, each deposit once', async () => {
    server.limitPages(2)
    for (let tag = 1; tag <= 60; tag += 1) {
      server.submit({ tag, drops: 1n })
      if (tag % 3 === 0) server.closeLedger()
    }
    const tags: (number | null)[] = []
    let since: number | undefined
    let times = 0
    for (let last = -1; since !== last; times += 1) {
      last = since ?? -1
      const { payments, upTo } = await xrpl.deposits(since)
      tags.push(...payments.map(({ tag }) => tag))
      since = upTo
    }
    expect(tags).toEqual(Array.from({ length: 60 }, (_, place) => place + 1))
    expect(times).toBeGreaterThan(2)
  })

  test('of a server that is behind are empty, and the known ledger stays', async () => {
    server.deposit({ tag: 1, drops: 1n })
    const { upTo } = await xrpl.deposits(undefined)
    server.lag(1)
    expect(await xrpl.deposits(upTo)).toEqual({ payments: [], upTo })
  })

  test('are not skipped if the server lacks ledgers', async () => {
    const { upTo } = await xrpl.deposits(undefined)
    server.deposit({ tag: 1, drops: 1n })
    server.forgetBefore(server.closeLedger(4))
    await expect(xrpl.deposits(upTo)).rejects.toMatchObject(unavailable)
    expect(loggedAt('error')).toHaveLength(1)
    expect((await xrpl.deposits(undefined)).payments).toEqual([])
  })

  test('of an account that does not exist yet are an empty list', async () => {
    await server.close()
    server = await startXrpl({ clock, balanceDrops: 0n })
    const fresh = createXrpl({ url: server.url, address: server.address, log })
    const newest = server.closeLedger()
    expect(await fresh.deposits(undefined)).toEqual({ payments: [], upTo: newest })
    expect(await fresh.balanceUnits()).toBe(0n)
  })
})

describe('a transaction', () => {
  test('has its payments', async () => {
    const { hash, ledgerIndex } = server.deposit({ tag: 9, drops: 4n, statedDrops: 50n })
    const facts = await xrpl.transaction(hash.toLowerCase())
    expect(facts).toMatchObject({
      status: 'mined',
      block: { number: ledgerIndex, at: AT },
      payments: [{ way: 'xrpl', txHash: hash, tag: 9, amountUnits: 4n }],
    })
    const { payments } = await xrpl.deposits(undefined)
    expect(facts).toMatchObject({ payments })
  })

  test('is pending until a validated ledger has it', async () => {
    const hash = server.submit({ tag: 9, drops: 4n })
    expect(await xrpl.transaction(hash)).toEqual({ status: 'pending' })
    server.closeLedger()
    expect(await xrpl.transaction(hash)).toMatchObject({ status: 'mined' })
  })

  test('that failed has the reason', async () => {
    const { hash, ledgerIndex } = server.deposit({ drops: 1n, result: 'tecUNFUNDED_PAYMENT' })
    expect(await xrpl.transaction(hash)).toMatchObject({
      status: 'reverted',
      block: { number: ledgerIndex },
      reason: 'tecUNFUNDED_PAYMENT',
      handle: null,
    })
  })

  test('that delivered another currency has its code', async () => {
    const { hash } = server.deposit({ tag: 1, drops: 0n, issued: ISSUED })
    const asset = `${ISSUED.currency}.${ISSUED.issuer}`
    expect(await xrpl.transaction(hash)).toMatchObject({ status: 'mined', payments: [{ asset }] })
  })

  test('that does not exist is unknown', async () => {
    expect(await xrpl.transaction('AB'.repeat(32))).toEqual({ status: 'unknown' })
  })

  test.each([
    '',
    'AB',
    `0x${'ab'.repeat(32)}`,
    '../../etc',
    'Z'.repeat(64),
  ])('with the malformed hash %j is unknown without a request', async (hash) => {
    expect(await xrpl.transaction(hash)).toEqual({ status: 'unknown' })
    expect(server.count('tx')).toBe(0)
  })
})

test('the balance is that of the newest validated ledger', async () => {
  expect(await xrpl.balanceUnits()).toBe(10_000_000n)
  server.submit({ drops: 5n })
  server.deposit({ drops: 6n, statedDrops: 100n })
  server.deposit({ drops: 100n, result: 'tecPATH_PARTIAL' })
  server.deposit({ drops: 100n, issued: ISSUED })
  expect(await xrpl.balanceUnits()).toBe(10_000_011n)
})

describe('a server of the first version of the interface', () => {
  test('can be read, although it identifies ledgers by number only', async () => {
    server.deposit({ tag: 3, drops: 8n, statedDrops: 90n })
    const old = await startVersionOne(server.url)
    const reader = createXrpl({ url: old.url, address: server.address, log })
    const { payments, upTo } = await xrpl.deposits(undefined)
    expect(await reader.deposits(undefined)).toEqual({ payments, upTo })
    const [payment] = payments
    expect(await reader.transaction(payment?.txHash ?? '')).toEqual({
      status: 'mined',
      block: payment?.block,
      payments,
    })
    await old.close()
  })
})

describe('a server that fails', () => {
  test.each([
    ['does not take connections', () => server.down()],
    ['never responds', () => server.hang()],
    ['responds too late', () => server.delay(600)],
    ['responds with 503', () => server.failNext(9, { status: 503 })],
    ['asks for fewer requests', () => server.failNext(9, 'slowDown')],
    ['is not in the network', () => server.failNext(9, 'noNetwork')],
  ])('causes the error that the service is unavailable: it %s', async (_, fail) => {
    const { hash } = server.deposit({ tag: 1, drops: 1n })
    await fail()
    await expect(xrpl.deposits(undefined)).rejects.toMatchObject(unavailable)
    await expect(xrpl.transaction(hash)).rejects.toMatchObject(unavailable)
    await expect(xrpl.balanceUnits()).rejects.toMatchObject(unavailable)
    await server.up()
  })

  test('causes the same error while it is not synced', async () => {
    server.setSynced(false)
    await expect(xrpl.deposits(undefined)).rejects.toMatchObject(unavailable)
  })

  test('is logged once, and once again when it works', async () => {
    server.failNext(3, 'tooBusy')
    for (const _ of [1, 2, 3]) await expect(xrpl.balanceUnits()).rejects.toThrow()
    await xrpl.balanceUnits()
    await xrpl.balanceUnits()
    expect(lines.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'xrp ledger server failed'],
      ['info', 'xrp ledger server answers again'],
    ])
  })

  test('never has its credentials in errors or log', async () => {
    const url = `${server.url.replace('http://', 'http://user:password-1@')}/key-0123456789`
    await server.down()
    const reader = createXrpl({ url, address: server.address, log })
    const error = await reader.balanceUnits().catch((e: unknown) => e)
    const everything = JSON.stringify(lines) + inspect(error, { depth: 20, showHidden: true })
    expect(everything).toContain('connection failed')
    expect(everything).not.toMatch(/password-1|key-0123456789/)
  })

  test('does not count as failed if the caller aborts', async () => {
    server.hang()
    const controller = new AbortController()
    const reason = new Error('stopping')
    const asked = xrpl.balanceUnits(controller.signal)
    controller.abort(reason)
    await expect(asked).rejects.toBe(reason)
    await expect(xrpl.balanceUnits(AbortSignal.abort(reason))).rejects.toBe(reason)
    expect(lines).toEqual([])
  })
})

describe('a server that says what is not so', () => {
  const later = new Date(AT.getTime() + 3_600_000).toISOString()
  const LIES: readonly (readonly [string, string, (result: string) => string])[] = [
    [
      'leaves out the transactions of an account',
      'account_tx',
      (text) => text.replace(/"transactions":\[.*\](?=,"validated")/, '"transactions":[]'),
    ],
    [
      'does not find the account',
      'account_tx',
      () => '{"result":{"error":"actNotFound","status":"error","validated":true}}',
    ],
    [
      'claims ledgers far ahead',
      'server_info',
      (text) =>
        text
          .replace(/"complete_ledgers":"(\d+)-\d+"/, '"complete_ledgers":"$1-900000000"')
          .replace(/"seq":\d+/, '"seq":900000000'),
    ],
    [
      'gives ledgers a time ahead of the clock',
      'account_tx',
      (text) => text.replace(/"close_time_iso":"[^"]*"/g, `"close_time_iso":"${later}"`),
    ],
  ]

  test.each(LIES)('moves no position: it %s', async (_, method, change) => {
    const { upTo } = await xrpl.deposits(undefined)
    const { hash } = server.deposit({ tag: 1, drops: 1n })
    const lying = await startLying(server.url, method, change)
    const reader = createXrpl({ url: lying.url, address: server.address, log, clock })
    await expect(reader.deposits(upTo)).rejects.toMatchObject(unavailable)
    lying.stop()
    expect((await reader.deposits(upTo)).payments).toMatchObject([{ txHash: hash }])
    await lying.close()
  })
})

/** A server that changes the other's responses of a method until it is told to stop. */
async function startLying(url: string, method: string, change: (text: string) => string) {
  let isLying = true
  const lying = createServer(async (request, response) => {
    const body = await text(request)
    const answer = await (await fetch(url, { method: 'POST', body })).text()
    const isMeant = isLying && body.includes(`"method":"${method}"`)
    response.writeHead(200).end(isMeant ? change(answer) : answer)
  })
  const port = await listenOnLoopback(lying, 0)
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => {
      isLying = false
    },
    close: () => closeServer(lying),
  }
}

/** The same server with version 1 of the API only. */
async function startVersionOne(url: string): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const body = (await text(request)).replace('"api_version":2', '"api_version":1')
    const answer = await fetch(url, { method: 'POST', body })
    response.end(await answer.text())
  })
  const port = await listenOnLoopback(server, 0)
  return { url: `http://127.0.0.1:${port}`, close: () => closeServer(server) }
}
