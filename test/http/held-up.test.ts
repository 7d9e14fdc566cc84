import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { sql as query } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { connect } from '#src/db/connection.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client, request, signIn, withTrial } from '../support/people.ts'
import { runOutsideTransaction } from '../support/transaction-guard.ts'

/** Pending answers of an endpoint that answers its chain id only, and breaks other connections while it does not hold them. */
const held = new Set<ServerResponse>()
let isHolding = true
const rpc = createServer(async (message, response) => {
  const { id, method } = JSON.parse(await text(message))
  const answer = JSON.stringify({ jsonrpc: '2.0', id, result: '0xe' })
  if (method === 'eth_chainId') response.setHeader('content-type', 'application/json').end(answer)
  else if (isHolding) held.add(response.once('close', () => held.delete(response)))
  else response.destroy()
})

function letGo(): void {
  isHolding = false
  for (const response of held) response.destroy()
}

const MORE_THAN_CONNECTIONS = 20
const TOKEN = '0x1111111111111111111111111111111111111111'

let service: Awaited<ReturnType<typeof serviceOnly>>
let alice: Client
let bob: Client
beforeAll(async () => {
  await once(rpc.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(rpc.address() as AddressInfo).port}`
  service = await serviceOnly({
    FLARE_RPC_URLS: url,
    NATIVE_PAY_TO: PEOPLE.carol.account.address,
  })
  alice = await withTrial(await signIn(service, 'alice'))
  bob = await signIn(service, 'bob')
})
afterAll(async () => {
  rpc.closeAllConnections()
  rpc.close()
  await service.close()
})

/**
 * Sends all requests, and checks that another wallet gets answers while each of them waits for the
 * chain. `meanwhile` runs during that time, too.
 */
async function nobodyElseWaits(
  send: (n: number) => Promise<{ status: number }>,
  count: number,
  meanwhile?: () => Promise<void>,
) {
  const statuses: number[] = []
  isHolding = true
  const all = Array.from({ length: count }, async (_, n) => {
    statuses.push((await send(n)).status)
  })
  await expect.poll(() => held.size).toBeGreaterThan(0)
  expect((await bob.request('GET', '/account')).status).toBe(200)
  await meanwhile?.()
  expect(statuses).toEqual([])
  letGo()
  await Promise.all(all)
  return statuses
}

describe('while the chain does not respond, another wallet is served beside', () => {
  test('many requests for credits with a key', async () => {
    const statuses = await nobodyElseWaits(
      (n) => alice.request('POST', '/topup', { asset: 'FLR' }, { 'idempotency-key': `topup ${n}` }),
      MORE_THAN_CONNECTIONS,
    )
    expect(statuses.every((status) => status < 500 || status === 503)).toBe(true)
  })

  test('many changes of one watch', async () => {
    const target = { address: alice.caller.wallet, asset: TOKEN }
    const settings = { threshold: '1' }
    isHolding = true
    const making = alice.request('POST', '/watches', { type: 'wallet-balance', target, settings })
    await expect.poll(() => held.size).toBeGreaterThan(0)
    letGo()
    const { body: watch, status } = await making
    expect(status).toBe(201)
    const statuses = await nobodyElseWaits(
      (n) =>
        alice.request('PATCH', `/watches/${watch.id}`, { settings: { threshold: String(n + 2) } }),
      MORE_THAN_CONNECTIONS,
    )
    expect(statuses).toHaveLength(MORE_THAN_CONNECTIONS)
    expect(statuses.every((status) => status === 200 || status === 503)).toBe(true)
  })

  test('many exchanges of one challenge, at most ten at once per network', async () => {
    const from = '192.0.2.77'
    const { account } = PEOPLE.carol
    const { body } = await request(
      ...([service, 'POST', '/auth/challenge', { wallet: account.address }, {}, from] as const),
    )
    const exchange = { message: body.message, signature: `0x${'11'.repeat(64)}1b` }
    const tooMany: number[] = []
    const send = async () => await request(service, 'POST', '/auth/token', exchange, {}, from)
    const statuses = await nobodyElseWaits(send, 10, async () => {
      tooMany.push((await send()).status)
    })
    expect(statuses).toHaveLength(10)
    expect(tooMany).toEqual([429])
    // The chain did not answer, so the challenge is still unused.
    const signature = await account.signMessage({ message: body.message })
    const good = await request(service, 'POST', '/auth/token', { ...exchange, signature })
    expect(good.status).toBe(200)
  })
})

describe('a database that cannot serve a request', () => {
  const refusal = {
    status: 503,
    body: { code: 'dependency_unavailable' },
    headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
  }

  test('is stopped by a statement timeout of nine seconds', async () => {
    const [set] = await service.app.db.execute(query`show statement_timeout`)
    expect(set).toEqual({ statement_timeout: '9s' })
  })

  test('because its row is locked is a 503 with Retry-After', async () => {
    const { body } = await alice.request('GET', '/watches')
    const [{ id }] = body.data
    await service.database.db.transaction(async (tx) => {
      await tx.execute(query`select from watches where id = ${id} for update`)
      const change = () => alice.request('PATCH', `/watches/${id}`, { label: 'Waits' })
      const answer = await runOutsideTransaction(change)
      expect(answer).toMatchObject(refusal)
      expect(answer.body.detail).toContain(` ${answer.headers['retry-after']}\u00a0s.`)
    })
    expect((await alice.request('PATCH', `/watches/${id}`, { label: 'Done' })).status).toBe(200)
  })

  test('because it accepts no connections is a 503 with Retry-After', async () => {
    const name = new URL(service.database.url).pathname.slice(1)
    const admin = connect(inject('databaseServerUrl'), { max: 1 })
    const { sql } = admin
    await sql`alter database ${sql(name)} allow_connections false`
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = ${name}`
    for (const path of ['/watches', '/account', '/settings']) {
      expect(await bob.request('GET', path)).toMatchObject(refusal)
    }
    await sql`alter database ${sql(name)} allow_connections true`
    await expect.poll(async () => (await bob.request('GET', '/watches')).status).toBe(200)
    await admin.close()
  })
})
