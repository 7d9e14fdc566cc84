import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chatOf, notices } from '../notices/notified.ts'
import { builtProgram } from '../support/built-program.ts'
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
import { type SeveringProxy, startSeveringProxy } from '../support/severing-proxy.ts'

/**
 * A process may die at any moment between seeing a payment and crediting it: the payment is
 * credited once and notified once.
 */

/** The first write about a payment. */
const SEEN = /insert into "topup_payments"/

let world: PayWorld
let alice: Client
let database: SeveringProxy

beforeAll(async () => {
  world = await payWorld()
  alice = await buyer(world, 'alice')
  await chatOf(world, alice)
  const { hostname, port } = new URL(world.database.url)
  database = await startSeveringProxy({ host: hostname, port: Number(port) })
})
afterAll(async () => {
  await database.close()
  await world.close()
})

type Work = 'looks for payments' | 'confirms one'

/**
 * Starts a process that searches for payments, and kills it before its nth message to the database.
 */
async function run(work: Work, nth?: number) {
  const child = startProgram()
  const exited = once(child, 'exit')
  await once(child.stdout, 'data')
  const draft = await draftOf(alice, { asset: 'WDG', then: { slots: 1, periods: 1 } })
  const txHash = await world.pay(draft)
  await world.devnet.mine(2)
  const before = (await ledgerOf(alice)).balance
  const { handle, wallet } = draft
  database.watch(nth, () => child.kill('SIGKILL'))
  const order = work === 'confirms one' ? { wallet, handle, txHash } : {}
  child.stdin.write(`${JSON.stringify(order)}\n`)
  const [, signal] = await exited
  const messages = database.messages()
  database.watch()
  return { draft, before, signal, messages }
}

function startProgram() {
  const url = new URL(world.database.url)
  url.port = String(database.port)
  const { router, serviceToken: token } = world.contracts
  const usdMicros = TOKEN_USD_MICROS.toString()
  const setUp = { databaseUrl: url.href, rpcUrl: world.rpc.url, router, token, usdMicros }
  const { path, env } = builtProgram('pay-and-wait')
  return spawn(process.execPath, [path, JSON.stringify(setUp)], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
}

const isCommit = (message = '') => message.startsWith('Q') && message.includes('commit')

/** A message to the database, counted from 1, before which a process is killed. */
interface Step {
  readonly nth: number
  readonly kind: 'write' | 'begin' | 'commit' | 'after commit'
}

/**
 * From the first write about the payment on: each write, begin and commit, and right after each commit. Dying before
 * a message that only reads is dying after the write before it.
 */
function stepsOf(messages: readonly string[]): readonly Step[] {
  const seen = messages.findIndex((message) => SEEN.test(message))
  const isWrite = (message: string) =>
    /^P.*(?:insert into|update|delete from|notify)/s.test(message)
  return messages.flatMap((message, index): Step | readonly [] => {
    const nth = index + 1
    if (seen < 0 || index < seen) return []
    if (isCommit(messages[index - 1])) return { nth, kind: 'after commit' }
    if (isWrite(message)) return { nth, kind: 'write' }
    if (!message.startsWith('Q')) return []
    return { nth, kind: isCommit(message) ? 'commit' : 'begin' }
  })
}

test.each<Work>([
  'looks for payments',
  'confirms one',
])('a process that %s, killed at each of its steps', async (work) => {
  const whole = await run(work)
  expect(whole.signal).toBeNull()
  // Settling a payment is the same for both; the second process is killed in its other steps only.
  const end = work === 'confirms one' ? whole.messages.findIndex(isCommit) + 2 : Infinity
  const steps = stepsOf(whole.messages).filter(({ nth }) => nth <= end)
  expect(steps[0]?.kind).toBe('write')
  expect(steps.length).toBeGreaterThan(work === 'confirms one' ? 3 : 9)

  // Steps of recording the payment, before the first commit, are of other kinds than those of settling it.
  const commitsBefore = (nth: number) => whole.messages.slice(0, nth - 1).filter(isCommit).length
  const kindOf = ({ nth, kind }: Step) => `${kind} ${commitsBefore(nth)}`
  for (const { nth: step } of someOfEachKind(steps, kindOf)) {
    await world.sql`truncate delivery_queue, delivery_log, notices`
    await world.sql`delete from topup_purchases`
    await world.sql`delete from subscriptions`
    const { draft, before, signal } = await run(work, step)
    expect([step, signal]).toEqual([step, 'SIGKILL'])
    await world.settle()
    const { balance, entries } = await ledgerOf(alice)
    expect([step, balance - before]).toEqual([step, 11_000 - 500])
    const own = entries.filter(({ reference }) => reference.includes(draft.handle))
    expect(own.map(({ type }) => type).toSorted()).toEqual(['bonus', 'topup'])
    expect(await topupOf(alice, draft)).toMatchObject({
      status: 'credited',
      creditedCredits: 11_000,
      then: { status: 'done' },
    })
    const slots = (await alice.request('GET', '/subscriptions')).body.data
    expect([step, slots.length]).toEqual([step, 1])
    expect([step, (await notices(world)).map(({ title }) => title)]).toEqual([
      step,
      ['11\u00a0USD (11,000 credits) added'],
    ])
  }
}, 400_000)
