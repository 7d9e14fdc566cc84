import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startXrpl, XRPL_DEPOSIT_ADDRESS, type XrplServer } from '#sandbox/xrpl.ts'
import { testClock } from '../support/clock.ts'

/** Answers of the real server, according to xrpl.org and rippled's source. */
const AT = new Date('2026-11-20T15:00:00Z')
const CLOSE_TIME = 848_502_000
const OTHER = 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh'
const account = XRPL_DEPOSIT_ADDRESS

let server: XrplServer

beforeEach(async () => {
  server = await startXrpl({ clock: testClock(AT) })
})
afterEach(() => server.close())

describe('account_tx', () => {
  test('of version 2 names ledger, time and what was delivered, and has no Amount', async () => {
    const { hash, ledgerIndex } = server.deposit({
      tag: 7,
      drops: 5n,
      statedDrops: 90n,
      from: OTHER,
    })
    const answer = await call('account_tx', { account, api_version: 2 })
    expect(answer).toMatchObject({
      status: 'success',
      validated: true,
      account,
      ledger_index_min: ledgerIndex - 1,
      ledger_index_max: ledgerIndex,
    })
    expect(answer['transactions']).toEqual([
      {
        hash,
        ledger_index: ledgerIndex,
        ledger_hash: expect.stringMatching(/^[0-9A-F]{64}$/),
        close_time_iso: '2026-11-20T15:00:00Z',
        validated: true,
        meta: expect.objectContaining({
          TransactionResult: 'tesSUCCESS',
          TransactionIndex: 0,
          DeliveredAmount: '5',
          delivered_amount: '5',
        }),
        tx_json: expect.objectContaining({
          TransactionType: 'Payment',
          Account: OTHER,
          Destination: account,
          DestinationTag: 7,
          DeliverMax: '90',
          Flags: 0x8002_0000,
          date: CLOSE_TIME,
          ledger_index: ledgerIndex,
        }),
      },
    ])
    expect(JSON.stringify(answer)).not.toContain('"Amount"')
  })

  test('of version 1 has everything in the transaction, the named Amount too', async () => {
    const { hash, ledgerIndex } = server.deposit({ drops: 5n, statedDrops: 90n })
    const answer = await call('account_tx', { account })
    expect(answer['transactions']).toEqual([
      {
        validated: true,
        meta: expect.objectContaining({ delivered_amount: '5' }),
        tx: expect.objectContaining({
          Amount: '90',
          hash,
          date: CLOSE_TIME,
          inLedger: ledgerIndex,
          ledger_index: ledgerIndex,
        }),
      },
    ])
  })

  test('is newest first by default, in pages with markers', async () => {
    for (let tag = 1; tag <= 3; tag += 1) server.deposit({ tag, drops: 1n })
    const newest = await call('account_tx', { account, limit: 2 })
    expect(tagsOf(newest)).toEqual([3, 2])
    const rest = await call('account_tx', { account, limit: 2, marker: newest['marker'] })
    expect(tagsOf(rest)).toEqual([1])
    expect(rest['marker']).toBeUndefined()
    expect(tagsOf(await call('account_tx', { account, forward: true }))).toEqual([1, 2, 3])
  })

  test('of version 2 refuses ledgers it does not have, version 1 searches what it has', async () => {
    const { ledgerIndex } = server.deposit({ drops: 1n })
    const beyond = { account, ledger_index_max: ledgerIndex + 1 }
    await refused('account_tx', { ...beyond, api_version: 2 }, 'lgrIdxMalformed', 58)
    expect(await call('account_tx', beyond)).toMatchObject({ ledger_index_max: ledgerIndex })
    server.forgetBefore(ledgerIndex)
    const before = { account, ledger_index_min: ledgerIndex - 1 }
    await refused('account_tx', { ...before, api_version: 2 }, 'lgrIdxMalformed', 58)
    expect(await call('account_tx', before)).toMatchObject({ ledger_index_min: ledgerIndex })
    const after = { account, ledger_index_min: ledgerIndex + 1 }
    await refused('account_tx', { ...after, api_version: 2 }, 'invalidLgrRange', 79)
    await refused('account_tx', after, 'lgrIdxsInvalid', 57)
  })

  test('refuses what is no account', async () => {
    await refused('account_tx', {}, 'invalidParams', 31)
    await refused('account_tx', { account: 5 }, 'invalidParams', 31)
    await refused('account_tx', { account: 'rNobody' }, 'actMalformed', 35)
    await refused('account_tx', { account, forward: 'yes', api_version: 2 }, 'invalidParams', 31)
    await refused('account_tx', { account, marker: 'x' }, 'invalidParams', 31)
  })

  test('of another account is empty', async () => {
    server.deposit({ drops: 1n })
    const answer = await call('account_tx', { account: OTHER, api_version: 2 })
    expect(answer).toMatchObject({ status: 'success', transactions: [] })
  })
})

describe('tx', () => {
  test('is validated only in a ledger', async () => {
    const transaction = server.submit({ tag: 1, drops: 5n })
    const waiting = await call('tx', { transaction, api_version: 2 })
    expect(waiting).toMatchObject({ hash: transaction, validated: false, status: 'success' })
    expect(waiting).not.toHaveProperty('ledger_index')
    expect(waiting).not.toHaveProperty('meta')
    const ledgerIndex = server.closeLedger()
    expect(await call('tx', { transaction, api_version: 2 })).toMatchObject({
      validated: true,
      ledger_index: ledgerIndex,
      meta: { delivered_amount: '5' },
    })
    expect(await call('tx', { transaction })).toMatchObject({
      validated: true,
      Amount: '5',
      date: CLOSE_TIME,
      ledger_index: ledgerIndex,
    })
  })

  test('says what it does not find or understand', async () => {
    await refused('tx', { transaction: 'AB'.repeat(32) }, 'txnNotFound', 29)
    await refused('tx', { transaction: 'AB' }, 'notImpl', 74)
    await refused('tx', {}, 'invalidParams', 31)
    const { hash, ledgerIndex } = server.deposit({ drops: 1n })
    server.closeLedger()
    server.forgetBefore(ledgerIndex + 1)
    await refused('tx', { transaction: hash }, 'txnNotFound', 29)
  })

  test('that failed delivered nothing', async () => {
    const { hash } = server.deposit({ drops: 5n, result: 'tecPATH_PARTIAL' })
    const answer = await call('tx', { transaction: hash, api_version: 2 })
    expect(answer).toMatchObject({ meta: { TransactionResult: 'tecPATH_PARTIAL' } })
    expect(answer['meta']).not.toHaveProperty('delivered_amount')
  })
})

describe('the other methods', () => {
  test('account_info has the balance', async () => {
    server.deposit({ drops: 5n })
    expect(await call('account_info', { account, ledger_index: 'validated' })).toMatchObject({
      account_data: { Account: account, Balance: '10000005' },
      validated: true,
    })
    await refused('account_info', { account: OTHER }, 'actNotFound', 19)
    await refused('account_info', { account: 'x' }, 'actMalformed', 35)
  })

  test('server_info has the ledgers, or none while not synced', async () => {
    const newest = server.closeLedger(4)
    expect(await call('server_info', {})).toMatchObject({
      info: {
        complete_ledgers: `${newest - 4}-${newest}`,
        server_state: 'full',
        validated_ledger: { seq: newest },
      },
    })
    server.lag(2)
    expect(await call('server_info', {})).toMatchObject({
      info: { validated_ledger: { seq: newest - 2 } },
    })
    server.setSynced(false)
    const { info } = await call('server_info', {})
    expect(info).toMatchObject({ complete_ledgers: 'empty' })
    expect(info).not.toHaveProperty('validated_ledger')
    await refused('account_tx', { account, api_version: 2 }, 'notSynced', 18)
  })

  test('ledger has hash and close time', async () => {
    const index = server.closeLedger()
    expect(await call('ledger', { ledger_index: index })).toMatchObject({
      ledger: { close_time: CLOSE_TIME, ledger_hash: expect.stringMatching(/^[0-9A-F]{64}$/) },
      ledger_index: index,
      validated: true,
    })
    await refused('ledger', { ledger_index: index + 1 }, 'lgrNotFound', 21)
  })
})

describe('what is no call', () => {
  test.each([
    ['Unable to parse request: ', 'not JSON'],
    ['Null method', '{}'],
    ['method is empty', '{"method":""}'],
    ['params unparsable', '{"method":"tx","params":[{},{}]}'],
    ['params unparsable', '{"method":"tx","params":[1]}'],
    ['invalid_API_version', '{"method":"tx","params":[{"api_version":9}]}'],
  ])('is refused as %j: %s', async (message, body) => {
    const response = await fetch(server.url, { method: 'POST', body })
    expect(response.status).toBe(400)
    expect(await response.text()).toBe(`${message}\r\n`)
  })

  test('is an unknown method', async () => {
    await refused('account_txs', {}, 'unknownCmd', 32)
  })
})

test('faults are used up, or end with up()', async () => {
  server.failNext(1, 'slowDown')
  server.failNext(1, { status: 503 })
  await refused('server_info', {}, 'slowDown', 10)
  expect((await post('server_info', {})).status).toBe(503)
  expect((await post('server_info', {})).status).toBe(200)
  await server.down()
  await expect(post('server_info', {})).rejects.toThrow('fetch failed')
  await server.up()
  expect((await post('server_info', {})).status).toBe(200)
  expect(server.count('server_info')).toBe(4)
})

type Result = Readonly<Record<string, unknown>>

function post(method: string, parameters: Result): Promise<Response> {
  const body = JSON.stringify({ method, params: [parameters] })
  return fetch(server.url, { method: 'POST', body })
}

async function call(method: string, parameters: Result): Promise<Result> {
  const response = await post(method, parameters)
  const { result }: { result: Result } = JSON.parse(await response.text())
  return result
}

async function refused(method: string, parameters: Result, error: string, code: number) {
  expect(await call(method, parameters)).toMatchObject({
    status: 'error',
    error,
    error_code: code,
    error_message: expect.any(String),
    request: { ...parameters, command: method },
  })
}

function tagsOf(answer: Result): readonly unknown[] {
  const { transactions } = answer as { transactions: { tx: { DestinationTag: number } }[] }
  return transactions.map(({ tx }) => tx.DestinationTag)
}
