import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { startServiceProcess } from '../support/service-process.ts'
import {
  callWith,
  creditedUnits,
  type DirectWorld,
  directOffersOf,
  directWorld,
  newPayer,
  payingFetch,
  paymentFor,
  received,
} from '../support/x402.ts'

/** A process may die at any step of a payment: what was transferred is credited once, and what was not is not. */

const EXAMPLE = join(import.meta.dirname, '../../examples/x402.mjs')
/** Id of the lock on which a charge waits. */
const HELD = 402_402
let world: DirectWorld
const upstream = createServer((_request, response) => response.end('{"rewards":7}'))

beforeAll(async () => {
  world = await directWorld({}, 1500)
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  upstream.close()
  const [ledger, arrived] = [await creditedUnits(world), await received(world)]
  await world.close()
  expect(ledger).toBe(arrived)
  expect(arrived).toBe(6n * 2000n)
})

/** The service in a process of its own on the same database and chain, behind a proxy of its own. */
async function startAnother() {
  const rpc = await startRpcProxy(world.devnet.rpcUrl)
  const { port } = upstream.address() as AddressInfo
  const service = await startServiceProcess({
    ...world.environment,
    FLARE_RPC_URLS: rpc.url,
    FLARE_RPC_PER_MINUTE: '60000',
    DATABASE_URL: world.database.url,
    ROLES: 'api',
    METERED_UPSTREAMS: JSON.stringify({ 'providers-rewards': `http://127.0.0.1:${port}` }),
  })
  return { service, rpc, url: `${service.url}/data/providers-rewards` }
}

const entriesOf = async (wallet: string) =>
  (
    await world.database.sql`
      select type from ledger_entries where wallet = ${wallet} order by position`
  ).map(({ type }) => type)

test.each([
  ['before it sends the transfer', 'eth_estimateGas', []],
  ['after it has sent the transfer', 'eth_sendRawTransaction', ['topup']],
])('a process that is killed %s', async (_when, method, found) => {
  const payer = await newPayer(world)
  const { service, rpc, url } = await startAnother()
  const [offer] = await directOffersOf(world.url)
  const header = await paymentFor(payer, offer)
  const reached = Promise.withResolvers<void>()
  rpc.rewrite(method, (result) => {
    rpc.hang()
    reached.resolve()
    return result
  })
  const call = fetch(url, { headers: { 'payment-signature': header } }).catch(() => undefined)
  await reached.promise
  await service.kill()
  await call
  await rpc.close()
  // As if it had died two minutes ago. The chain's time may not run ahead of the next process's clock.
  await world.database.sql`update topups set created_at = created_at - interval '2 minutes'`
  // The watcher of another process finds the payment without the payer.
  await world.settle()
  expect(await entriesOf(payer.address)).toEqual(found)
  // The same payment pays for the call that got no answer.
  expect(await callWith(world.url, header)).toMatchObject({ status: 200 })
  expect(await entriesOf(payer.address)).toEqual(['topup', 'usage'])
})

test('a process that is killed between the credit and the charge', async () => {
  const payer = await newPayer(world)
  const { service, rpc, url } = await startAnother()
  const [offer] = await directOffersOf(world.url)
  const header = await paymentFor(payer, offer)
  const { sql } = world.database
  await sql.unsafe(`
    create function hold_charge() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock_shared(${HELD}); return new; end $$;
    create trigger hold_charge before insert on ledger_entries
      for each row when (new.type = 'usage') execute function hold_charge()`)
  const holder = await sql.reserve()
  await holder`select pg_advisory_lock(${HELD})`
  const call = fetch(url, { headers: { 'payment-signature': header } }).catch(() => undefined)
  await expect
    .poll(() => sql`select from pg_locks where objid = ${HELD} and not granted`, {
      timeout: 20_000,
    })
    .toHaveLength(1)
  await service.kill()
  await call
  await holder`select pg_advisory_unlock(${HELD})`
  holder.release()
  await sql`drop function hold_charge cascade`
  await rpc.close()
  expect(await entriesOf(payer.address)).toEqual(['topup'])
  await sql`update topups set created_at = created_at - interval '2 minutes'`
  expect(await callWith(world.url, header)).toMatchObject({ status: 200 })
  expect(await entriesOf(payer.address)).toEqual(['topup', 'usage'])
  // It has paid for one call, not for two.
  expect(await callWith(world.url, header)).toMatchObject({ code: 'payment_used' })
})

test('the published example pays, with the key of a wallet that has no coins', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'x402-'))
  const key = generatePrivateKey()
  await world.contracts.mint(
    ...([world.contracts.usdt0, privateKeyToAccount(key).address, 2000n] as const),
  )
  await world.sync()
  writeFileSync(join(folder, 'wallet.key'), key)
  const env = { ...process.env, WATCHDOG_DATA_URL: world.url }
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, [EXAMPLE], { cwd: folder, env })
  rmSync(folder, { recursive: true })
  expect(stdout).toMatch(/^200 {"rewards":7}\n.*"success":true/)
})

test('an answer that is lost: the next call pays again, and both payments are in the ledger', async () => {
  const payer = await newPayer(world)
  let lost = 0
  const losing: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init)
    if (answer.status === 200 && lost === 0) {
      lost += 1
      throw new TypeError('connection lost')
    }
    return answer
  }
  const client = payingFetch(payer, losing)
  await expect(client(world.url)).rejects.toThrow('connection lost')
  expect((await client(world.url)).status).toBe(200)
  expect(await entriesOf(payer.address)).toEqual(['topup', 'usage', 'topup', 'usage'])
})
