import { beforeEach, expect, test } from 'vitest'
import type { Logger } from '#src/kernel/logger.ts'
import { type ChainIdCheck, createChainIdCheck } from './chain-id-check.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND

const lines: string[] = []
const record = (level: string) => (_: unknown, message: string) => {
  lines.push(`${level} ${message}`)
}
const log: Logger = {
  ...{ error: record('error'), warn: record('warn'), info: record('info'), debug: record('debug') },
}
const WARNED = 'warn rpc endpoint names another chain, and is not read while it does'
const PUT_AWAY = 'error rpc endpoint serves another chain'
const RIGHT = 'info rpc endpoint serves the right chain'

let nowMs: number
let check: ChainIdCheck
beforeEach(() => {
  lines.length = 0
  nowMs = Date.UTC(2026, 10, 29)
  const clock = { now: () => new Date(nowMs) }
  const name = { endpoint: 0, origin: 'https://rpc.example.org' }
  check = createChainIdCheck(name, { chainId: 14, clock, log })
})

const hear = (chainId: number) => check.ask(async () => BigInt(chainId))

/** Asks as soon as the check allows it, for some time; returns the seconds at which it did. */
async function hearFor(ms: number, answerAt: (seconds: number) => number): Promise<number[]> {
  const startMs = nowMs
  const asked: number[] = []
  for (; nowMs - startMs < ms; nowMs += SECOND) {
    if (!check.isDue()) continue
    const seconds = (nowMs - startMs) / SECOND
    asked.push(seconds)
    await hear(answerAt(seconds))
  }
  return asked
}

test('an endpoint is asked before it is read, and may be read after the first right answer', async () => {
  expect([check.isDue(), check.isRight(), check.problem()]).toEqual([true, false, undefined])
  await hear(14)
  expect([check.isDue(), check.isRight(), check.problem()]).toEqual([false, true, undefined])
  expect(lines).toEqual([])
})

test.each([
  1, 2,
])('after %i wrong answers at the start it is read with the first right one', async (wrong) => {
  await hearFor(10 * SECOND, (seconds) => (seconds < wrong ? 19 : 14))
  expect([check.isRight(), check.isPutAway(), check.problem()]).toEqual([true, false, undefined])
  expect(lines).toEqual([WARNED, RIGHT])
})

test('while its last answer is another chain it is not read, and the operator sees why', async () => {
  await hear(14)
  nowMs += 10 * SECOND
  await hear(19)
  expect([check.isRight(), check.isPutAway()]).toEqual([false, false])
  expect(check.problem()).toBe('endpoint 0 answered chain 19 instead of 14')
})

test('many wrong answers at once do not put it away', async () => {
  for (let nth = 0; nth < 100; nth += 1) await hear(19)
  expect(check.isPutAway()).toBe(false)
  nowMs += SECOND
  await hear(14)
  expect(check.isRight()).toBe(true)
})

test('two wrong answers far apart do not put it away, a third one does', async () => {
  for (const isPutAway of [false, false, true]) {
    await hear(19)
    expect(check.isPutAway()).toBe(isPutAway)
    nowMs += 20 * SECOND
  }
})

test('wrong answers over half a minute put it away, and then it is asked once a minute', async () => {
  const asked = await hearFor(5 * MINUTE, () => 19)
  expect(asked).toEqual([0, 1, 2, 4, 8, 16, 32, 64, 124, 184, 244])
  expect([check.isRight(), check.isPutAway()]).toEqual([false, true])
  expect(lines).toEqual([WARNED, PUT_AWAY])
})

test('one that was put away is read again after right answers over half a minute, not after one', async () => {
  await hearFor(5 * MINUTE, () => 19)
  nowMs += MINUTE
  for (const isRight of [false, false, true]) {
    expect(check.isDue()).toBe(true)
    await hear(14)
    expect([check.isRight(), check.problem() === undefined]).toEqual([isRight, isRight])
    nowMs += 20 * SECOND
  }
  expect(lines).toEqual([WARNED, PUT_AWAY, RIGHT])
})

test('a wrong answer between right ones keeps it away', async () => {
  await hearFor(MINUTE, () => 19)
  await hearFor(10 * MINUTE, (seconds) => (seconds % 30 < 15 ? 14 : 19))
  expect([check.isRight(), check.isPutAway()]).toEqual([false, true])
  expect(lines).toEqual([WARNED, PUT_AWAY])
})

test('one that answers in turns is read only while it is right, and logged once a minute', async () => {
  for (let nth = 0; nth < 100; nth += 1) {
    const chainId = nth % 2 === 0 ? 19 : 14
    await hear(chainId)
    expect(check.isRight()).toBe(chainId === 14)
    nowMs += 6 * SECOND
  }
  expect(check.isPutAway()).toBe(false)
  expect(lines).toEqual(Array(10).fill([WARNED, RIGHT]).flat())
})

test('one that stays right is asked ever less often, up to once an hour', async () => {
  const asked = await hearFor(180 * MINUTE, () => 14)
  expect(asked).toEqual([0, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 8720])
  expect(lines).toEqual([])
})

test('callers at the same time share one question, and one that fails says nothing', async () => {
  let questions = 0
  const question = Promise.withResolvers<bigint>()
  const read = () => {
    questions += 1
    return question.promise
  }
  const both = [check.ask(read), check.ask(read)]
  question.reject(new Error('timeout'))
  expect(await Promise.allSettled(both)).toMatchObject([
    { status: 'rejected' },
    { status: 'rejected' },
  ])
  expect([questions, check.isDue(), check.problem()]).toEqual([1, true, undefined])
  await hear(14)
  nowMs += 10 * SECOND
  await expect(check.ask(() => Promise.reject(new Error('timeout')))).rejects.toThrow('timeout')
  expect(check.isRight()).toBe(true)
})

test('one that does not answer after a wrong answer is not asked with every read', async () => {
  await hear(19)
  nowMs += SECOND
  await expect(check.ask(() => Promise.reject(new Error('timeout')))).rejects.toThrow('timeout')
  expect(check.isDue()).toBe(false)
  nowMs += SECOND
  expect(check.isDue()).toBe(true)
})
