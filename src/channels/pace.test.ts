import { describe, expect, test } from 'vitest'
import { createPace } from './pace.ts'

const signal = new AbortController().signal

describe('a pace', () => {
  test('says how early it is instead of waiting longer than the patience', async () => {
    const { pace } = paceAt(0)
    expect(await pace.turn('a', 10, signal)).toBeUndefined()
    expect(await pace.turn('a', 10, signal)).toBe(1000)
    expect(await pace.turn('b', 100, signal)).toBeUndefined()
  })

  test('takes no turn from others when it is too early', async () => {
    const { pace, time } = paceAt(0)
    pace.hold('a', 35_000)
    for (let times = 0; times < 100; times += 1) await pace.turn('a', 10, signal)
    expect(await pace.turn('b', 0, signal)).toBeUndefined()
    time.ms = 34_999
    expect(await pace.turn('a', 0, signal)).toBe(1)
    time.ms = 35_000
    expect(await pace.turn('a', 0, signal)).toBeUndefined()
  })

  test('spaces out everybody together', async () => {
    const { pace, time } = paceAt(0)
    expect(await pace.turn('a', 0, signal)).toBeUndefined()
    expect(await pace.turn('b', 0, signal)).toBe(34)
    time.ms = 34
    expect(await pace.turn('b', 0, signal)).toBeUndefined()
  })

  test('stops waiting when it is told to', async () => {
    const { pace } = paceAt(0)
    await pace.turn('a', 10, signal)
    const stopped = AbortSignal.abort(new Error('stopped'))
    await expect(pace.turn('a', 5000, stopped)).rejects.toThrow()
  })
})

/** A pace of one message a second for each, 34 ms apart in all, on a clock that moves when told. */
function paceAt(ms: number) {
  const time = { ms }
  return { time, pace: createPace({ allMs: 34, keyMs: 1000, now: () => time.ms }) }
}
