import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { TopupDraft } from '../generated/api.ts'
import { builtProgram } from '../support/built-program.ts'
import { testClock } from '../support/clock.ts'
import {
  buyer,
  draftOf,
  ledgerOf,
  type PayWorld,
  payWorld,
  TOKEN_USD_MICROS,
  topupOf,
} from '../support/pay-world.ts'
import type { Client } from '../support/people.ts'
import { someOfEachKind } from '../support/runs.ts'
import { startSeveringProxy } from '../support/severing-proxy.ts'

/** A block that no endpoint returns with the transactions of its header. */

const GAP = 'block cannot be read for payments; later blocks are read, and this block is retried'
const TRIES = 10

let world: PayWorld
let alice: Client

/** Quarantined blocks before the test. */
let countedBefore = 0

beforeAll(async () => {
  world = await payWorld({}, testClock(new Date()))
})
beforeEach(async () => {
  await world.rpc.up()
  // A token lives shorter than all tests take on their clock.
  alice = await buyer(world, 'alice')
  await draftOf(alice, { asset: 'FLR' })
  await world.confirmAll()
  expect(await gaps()).toEqual([])
  world.errors.length = 0
  countedBefore = quarantined()
})
afterAll(() => world.close())

/** Pays a draft. @returns the block of the payment */
async function payIn(draft: TopupDraft): Promise<number> {
  await world.pay(draft)
  const block = await world.devnet.client.getBlockNumber({ cacheTime: 0 })
  await world.devnet.mine(5)
  return Number(block)
}

/** Makes the endpoints return these blocks without their transactions. */
function spoil(...blocks: readonly number[]): void {
  world.rpc.rewrite('eth_getBlockByNumber', (block, params) => {
    if (!Array.isArray(params) || !blocks.includes(Number(params[0]))) return block
    if (params[1] !== true || typeof block !== 'object' || block === null) return block
    return { ...block, transactions: [] }
  })
}

async function look(times = 1): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await world.settle().catch(({ code }) => expect(code).toBe('dependency_unavailable'))
  }
}

/** Lets the pause of every gap pass. */
async function lookLater(seconds = 3600): Promise<void> {
  await world.pass(seconds)
  await look()
}

const statuses = (...drafts: readonly TopupDraft[]) =>
  Promise.all(drafts.map(async (draft) => (await topupOf(alice, draft)).status))
const gaps = async () => [
  ...(await world.sql`
    select block_number::integer as block, tries, recorded_at is not null as recorded
    from payment_gaps order by block_number`),
]
const logged = () =>
  world.errors.filter(({ message }) => message === GAP).map(({ fields }) => fields['block'])
const quarantined = () =>
  world.app.quarantine.read().find(({ kind }) => kind === 'payment-gap')?.rows ?? 0

test('an unreadable block delays no later payment, and its own payment is credited when it can be read', async () => {
  const [lost, later] = [await draftOf(alice, { asset: 'FLR' }), await draftOf(alice)]
  const block = await payIn(lost)
  await payIn(later)
  spoil(block)
  await look(TRIES - 1)
  expect(await gaps()).toEqual([{ block, tries: TRIES - 1, recorded: false }])
  expect([logged(), await statuses(lost, later)]).toEqual([[], ['draft', 'draft']])
  await look()
  expect(await gaps()).toEqual([{ block, tries: TRIES, recorded: true }])
  expect([logged(), quarantined() - countedBefore]).toEqual([[block], 1])
  await look()
  expect(await statuses(lost, later)).toEqual(['draft', 'credited'])
  await lookLater()
  expect((await gaps()).map((gap) => gap['tries'])).toEqual([TRIES + 1])
  await world.rpc.up()
  for (let time = 0; time < 3; time += 1) await lookLater()
  expect(await gaps()).toEqual([])
  const references = (await ledgerOf(alice)).entries.map(({ reference }) => reference)
  expect(
    references.filter((reference) => reference.startsWith(`topup:${lost.handle}`)),
  ).toHaveLength(1)
  expect((await topupOf(alice, lost)).status).toBe('credited')
}, 120_000)

test('the payments of two gaps are credited each when its block can be read', async () => {
  const drafts = [
    await draftOf(alice, { asset: 'FLR' }),
    await draftOf(alice, { asset: 'FLR' }),
    await draftOf(alice, { asset: 'FLR' }),
  ] as const
  const first = await payIn(drafts[0])
  const second = await payIn(drafts[1])
  await payIn(drafts[2])
  spoil(first, second)
  await look(2 * TRIES + 1)
  expect(logged()).toEqual([first, second])
  expect(await statuses(...drafts)).toEqual(['draft', 'draft', 'credited'])
  spoil(second)
  for (let time = 0; time < 2; time += 1) await lookLater()
  expect((await gaps()).map((gap) => gap['block'])).toEqual([second])
  expect(await statuses(...drafts)).toEqual(['credited', 'expired', 'credited'])
  await world.rpc.up()
  for (let time = 0; time < 2; time += 1) await lookLater()
  expect(await statuses(...drafts)).toEqual(['credited', 'credited', 'credited'])
  expect(await gaps()).toEqual([])
}, 120_000)

test('a slow block at the tip is not recorded as a gap, and a late one is no longer tried once it was read', async () => {
  const slow = await draftOf(alice, { asset: 'FLR' })
  await world.pay(slow)
  const tip = Number(await world.devnet.client.getBlockNumber({ cacheTime: 0 }))
  spoil(tip)
  await look(2 * TRIES)
  expect(await gaps()).toEqual([])
  await world.devnet.mine(5)
  await look(3)
  expect(await gaps()).toEqual([{ block: tip, tries: 3, recorded: false }])
  await world.rpc.up()
  await look(2)
  expect([await gaps(), await statuses(slow), logged()]).toEqual([[], ['credited'], []])
}, 120_000)

test('an outage of the endpoints records no gap, however long it is', async () => {
  const draft = await draftOf(alice, { asset: 'FLR' })
  await payIn(draft)
  world.rpc.failNext(10_000, { code: -32603, message: 'internal error' }, 'eth_getBlockByNumber')
  await look(TRIES + 2)
  world.rpc.failNext(10_000, { code: -32603, message: 'internal error' }, 'eth_getLogs')
  await look(TRIES + 2)
  expect(await gaps()).toEqual([])
  await world.rpc.up()
  await look(2)
  expect(await statuses(draft)).toEqual(['credited'])
}, 120_000)

test('a block that every endpoint returns without a valid header delays no later payment', async () => {
  const [lost, later] = [await draftOf(alice, { asset: 'FLR' }), await draftOf(alice)]
  const block = await payIn(lost)
  await payIn(later)
  world.rpc.rewrite('eth_getBlockByNumber', (answer, params) =>
    Array.isArray(params) && Number(params[0]) === block ? {} : answer,
  )
  await look(TRIES + 2)
  expect(logged()).toEqual([block])
  expect(await statuses(later)).toEqual(['credited'])
  await world.rpc.up()
  for (let time = 0; time < 2; time += 1) await lookLater()
  expect(await statuses(lost)).toEqual(['credited'])
}, 120_000)

test('a process killed at any step of recording a gap loses neither the gap nor its payment', async () => {
  const { hostname, port } = new URL(world.database.url)
  const database = await startSeveringProxy({ host: hostname, port: Number(port) })
  /**
   * Reads a bad block for the tenth time in a process that is killed before its nth message to the
   * database.
   */
  async function recordIn(nth?: number) {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const block = await payIn(draft)
    spoil(block)
    await look(TRIES - 1)
    const child = startProgram(database.port)
    const exited = once(child, 'exit')
    await once(child.stdout, 'data')
    database.watch(nth, () => child.kill('SIGKILL'))
    child.stdin.write('{}\n')
    const [, signal] = await exited
    const messages = database.messages()
    database.watch()
    return { draft, block, signal, messages }
  }
  /** Later passes find the recorded gap, and its payment when the block can be read. */
  async function mend({ draft, block }: { draft: TopupDraft; block: number }) {
    await look(2)
    expect(await gaps()).toMatchObject([{ block, recorded: true }])
    await world.rpc.up()
    for (let time = 0; time < 2; time += 1) await lookLater()
    expect([await gaps(), await statuses(draft)]).toEqual([[], ['credited']])
    const references = (await ledgerOf(alice)).entries.map(({ reference }) => reference)
    expect(
      references.filter((reference) => reference.startsWith(`topup:${draft.handle}`)),
    ).toHaveLength(1)
  }
  try {
    const whole = await recordIn()
    await mend(whole)
    const isCommit = (message = '') => message.startsWith('Q') && message.includes('commit')
    const isWrite = (message: string) =>
      /^P.*(?:insert into "payment_gaps"|set .*"recorded_at"|"payment_cursors" set "position")/s.test(
        message,
      )
    const first = whole.messages.findIndex(isWrite)
    const last = whole.messages.findLastIndex(isWrite)
    const end = whole.messages.findIndex((message, index) => index > last && isCommit(message))
    expect([first > 0, end > first]).toEqual([true, true])
    // Each message from the first write to the commit of the last one, and the one after it.
    const steps = Array.from({ length: end + 2 - first }, (_, place) => first + 1 + place)
    const kindOf = (step: number) => {
      const commits = whole.messages.slice(0, step - 1).filter(isCommit).length
      return `${isCommit(whole.messages[step - 1]) ? 'commit' : 'other'} ${commits}`
    }
    for (const step of someOfEachKind(steps, kindOf)) {
      const killed = await recordIn(step)
      expect([step, killed.signal]).toEqual([step, 'SIGKILL'])
      const [{ position } = {}] = await world.sql`
        select position::integer from payment_cursors where chain = 'flare'`
      const [gap] = await gaps()
      // Both or neither: the cursor has passed the block, and the gap is recorded.
      expect([step, position >= killed.block]).toEqual([step, gap?.['recorded']])
      await mend(killed)
    }
  } finally {
    await database.close()
  }
}, 300_000)

function startProgram(databasePort: number) {
  const url = new URL(world.database.url)
  url.port = String(databasePort)
  const { router, serviceToken: token, payTo } = world.contracts
  const usdMicros = TOKEN_USD_MICROS.toString()
  // The clock of these tests follows the chain's, which they move.
  const aheadMs = Math.max(0, world.clock.now().getTime() - Date.now())
  const addresses = { router, token, payTo }
  const setUp = { databaseUrl: url.href, rpcUrl: world.rpc.url, ...addresses, usdMicros, aheadMs }
  const { path, env } = builtProgram('pay-and-wait')
  return spawn(process.execPath, [path, JSON.stringify(setUp)], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
}
