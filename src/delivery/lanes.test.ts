import { describe, expect, test } from 'vitest'
import { createLanes, type Lanes } from './lanes.ts'

const SLOW = { room: 30, laneStart: 1, laneMax: 1 }
const MAIL = { room: 16, laneStart: 4, laneMax: 8 }
const QUICK = { room: 256, laneStart: 8, laneMax: 64 }
const CHANNELS = {
  telegram: { limits: SLOW },
  email: { limits: MAIL },
  webhook: { limits: QUICK },
  discord: { limits: SLOW },
  slack: { limits: SLOW },
}

describe('lanes', () => {
  test('give every channel its own room', () => {
    const lanes = createLanes(CHANNELS)
    fill(lanes, 'email', 16)
    expect(lanes.roomOf('email').free).toBe(0)
    expect(lanes.roomOf('webhook').free).toBe(256)
    expect(lanes.roomOf('telegram').free).toBe(30)
  })

  test('let one chat have one message on its way, and a host eight', () => {
    const lanes = createLanes(CHANNELS)
    lanes.enter('telegram', '4711')
    expect(lanes.roomOf('telegram')).toMatchObject({ free: 29, perLane: 1, lanes: { 4711: 0 } })
    lanes.enter('webhook', 'a.example')
    expect(lanes.roomOf('webhook')).toMatchObject({ perLane: 8, lanes: { 'a.example': 7 } })
  })

  test('widen while a host answers quickly, up to 64', async () => {
    const lanes = createLanes(CHANNELS)
    answer(lanes, 'a.example', 100, 20)
    await expect(granted(lanes, 'webhook', 'a.example', 80)).resolves.toBe(64)
  })

  test('let twice as many more wait where a host has proved quick, and call them in order', async () => {
    const lanes = createLanes(CHANNELS)
    answer(lanes, 'a.example', 2, 20)
    const called: number[] = []
    for (let index = 0; index < 22; index += 1) {
      lanes.enter('webhook', 'a.example').then(() => called.push(index))
    }
    expect(lanes.roomOf('webhook').lanes['a.example']).toBe(8)
    await settle()
    expect(called).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    lanes.leave('webhook', 'a.example', 3000)
    await settle()
    expect(called).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(lanes.roomOf('webhook').free).toBe(256 - 10)
  })

  test('let nobody who waits take room from others, and never send more than there is room for', async () => {
    const lanes = createLanes(CHANNELS)
    const hosts = Array.from({ length: 28 }, (_, host) => `host${host}.example`)
    for (const host of hosts) answer(lanes, host, 1, 20)
    let called = 0
    for (const host of hosts) {
      for (let count = 0; count < 18; count += 1) {
        lanes.enter('webhook', host).then(() => {
          called += 1
        })
      }
    }
    await settle()
    expect(called).toBe(252)
    expect(lanes.roomOf('webhook').free).toBe(4)
    for (const host of hosts) lanes.leave('webhook', host, 20)
    await settle()
    expect(called - hosts.length).toBe(256)
    expect(lanes.roomOf('webhook').free).toBe(0)
  })

  test('let nobody wait for a chat or a host that has proved nothing', async () => {
    const lanes = createLanes(CHANNELS)
    lanes.enter('telegram', '4711')
    for (let index = 0; index < 8; index += 1) lanes.enter('webhook', 'new.example')
    expect(lanes.roomOf('telegram').lanes).toEqual({ 4711: 0 })
    expect(lanes.roomOf('webhook').lanes).toEqual({ 'new.example': 0 })
  })

  test('keep the width of a host that answers in between', () => {
    const lanes = createLanes(CHANNELS)
    answer(lanes, 'a.example', 4, 20)
    answer(lanes, 'a.example', 10, 3000)
    expect(lanes.roomOf('webhook').lanes['a.example']).toBe(36)
  })

  test('narrow to one while a host hangs, and widen again', () => {
    const lanes = createLanes(CHANNELS)
    answer(lanes, 'a.example', 10, undefined)
    expect(lanes.roomOf('webhook').lanes['a.example']).toBe(1)
    answer(lanes, 'a.example', 1, 6000)
    expect(lanes.roomOf('webhook').lanes['a.example']).toBe(1)
    answer(lanes, 'a.example', 3, 20)
    expect(lanes.roomOf('webhook').lanes['a.example']).toBe(4)
  })

  test('leave others their room when many hosts hang', () => {
    const lanes = createLanes(CHANNELS)
    for (let host = 0; host < 100; host += 1) {
      answer(lanes, `dead${host}.example`, 4, undefined)
      lanes.enter('webhook', `dead${host}.example`)
    }
    expect(lanes.roomOf('webhook').free).toBe(156)
  })

  test('forget a lane that is as it began', () => {
    const lanes = createLanes(CHANNELS)
    answer(lanes, 'a.example', 1, 3000)
    expect(lanes.roomOf('webhook').lanes).toEqual({})
  })
})

/** How many of so many that enter get a place at once. */
async function granted(
  lanes: Lanes,
  channel: 'webhook',
  lane: string,
  count: number,
): Promise<number> {
  let places = 0
  for (let index = 0; index < count; index += 1) {
    lanes.enter(channel, lane).then(() => {
      places += 1
    })
  }
  await settle()
  return places
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function fill(lanes: Lanes, channel: 'email' | 'webhook', count: number): void {
  for (let index = 0; index < count; index += 1) lanes.enter(channel, `host${index}`)
}

function answer(lanes: Lanes, lane: string, times: number, latencyMs: number | undefined): void {
  for (let time = 0; time < times; time += 1) {
    lanes.enter('webhook', lane)
    lanes.leave('webhook', lane, latencyMs)
  }
}
