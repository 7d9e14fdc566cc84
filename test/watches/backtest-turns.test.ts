import { afterAll, beforeAll, expect, test } from 'vitest'
import { AppError } from '#src/kernel/errors.ts'
import { createKeyedLimiter } from '#src/kernel/keyed-limiter.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client, signIn } from '../support/people.ts'

/** Backtests of one wallet do not hold up those of another. */

const AT_ONCE = 50
const TAKEN = 10

let service: Awaited<ReturnType<typeof serviceOnly>>
let alice: Client
let bob: Client
beforeAll(async () => {
  service = await serviceOnly()
  alice = await signIn(service, 'alice')
  bob = await signIn(service, 'bob')
})
afterAll(() => service.close())

function backtest({ caller }: Client) {
  const watch = {
    type: 'credits-balance',
    target: {},
    settings: { limit: 500 },
    minSeverity: 'info',
    cooldownSeconds: 0,
  } as const
  return service.app.backtests.run(caller, { watch, canonicalTarget: {}, days: 7 })
}

test('a wallet that starts fifty backtests at once gets ten, and another wallet gets its backtest', async () => {
  const many = Array.from({ length: AT_ONCE }, () => backtest(alice))
  const other = backtest(bob)
  const results = await Promise.allSettled(many)
  await other
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  expect(refused).toHaveLength(AT_ONCE - TAKEN)
  for (const error of refused) {
    expect(error).toBeInstanceOf(AppError)
    expect(error).toMatchObject({
      kind: 'rate_limited',
      code: 'too_many_backtests',
      details: { retryAfterSeconds: 5, values: { count: TAKEN } },
    })
  }
  // Alice's backtests have ended, so she may start another.
  await backtest(alice)
})

test('each key runs one piece of work at a time; its next one joins the common queue, behind other keys, when the key is free', async () => {
  const turns = createKeyedLimiter({
    each: { runningMax: 1, waitingMax: 5 },
    all: { runningMax: 2, waitingMax: 5 },
  })
  const started: string[] = []
  const gates = new Map<string, PromiseWithResolvers<void>>()
  const start = (key: string, name: string) => {
    const gate = Promise.withResolvers<void>()
    gates.set(name, gate)
    return turns.take(key, () => {
      started.push(name)
      return gate.promise
    })
  }
  const end = async (name: string, work: Promise<void>) => {
    gates.get(name)?.resolve()
    await work
    // Work that can start now has started before the next `setImmediate`.
    await new Promise(setImmediate)
  }
  const [a1, a2] = [start('a', 'a1'), start('a', 'a2')]
  const [b1, c1] = [start('b', 'b1'), start('c', 'c1')]
  expect(started).toEqual(['a1', 'b1'])
  await end('a1', a1)
  expect(started).toEqual(['a1', 'b1', 'c1'])
  await end('b1', b1)
  expect(started).toEqual(['a1', 'b1', 'c1', 'a2'])
  await end('c1', c1)
  await end('a2', a2)
})
