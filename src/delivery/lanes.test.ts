import { describe, expect, test } from 'vitest'
import { createLanes, type Lanes } from './lanes.ts'

describe('lanes', () => {
  test('give every channel its own room', () => {
    const lanes = createLanes()
    fill(lanes, 'email', 16)
    expect(lanes.roomOf('email').free).toBe(0)
    expect(lanes.roomOf('webhook').free).toBe(256)
    expect(lanes.roomOf('telegram').free).toBe(30)
  })

  test('let one chat have one message on its way, and a host eight', () => {
    const lanes = createLanes()
    lanes.enter('telegram', '4711')
    expect(lanes.roomOf('telegram')).toMatchObject({ free: 29, perLane: 1, lanes: { 4711: 0 } })
    lanes.enter('webhook', 'a.example')
    expect(lanes.roomOf('webhook')).toMatchObject({ perLane: 8, lanes: { 'a.example': 7 } })
  })

  test('widen while a host answers quickly, up to 64', () => {
    const lanes = createLanes()
    answer(lanes, 'a.example', 100, 20)
    lanes.enter('webhook', 'a.example')
    expect(lanes.roomOf('webhook').lanes['a.example']).toBe(63)
  })

  test('keep the width of a host that answers in between', () => {
    const lanes = createLanes()
    answer(lanes, 'a.example', 4, 20)
    answer(lanes, 'a.example', 10, 3000)
    expect(lanes.roomOf('webhook').lanes['a.example']).toBe(12)
  })

  test('narrow to one while a host hangs, and widen again', () => {
    const lanes = createLanes()
    answer(lanes, 'a.example', 10, undefined)
    expect(lanes.roomOf('webhook').lanes['a.example']).toBe(1)
    answer(lanes, 'a.example', 1, 6000)
    expect(lanes.roomOf('webhook').lanes['a.example']).toBe(1)
    answer(lanes, 'a.example', 3, 20)
    expect(lanes.roomOf('webhook').lanes['a.example']).toBe(4)
  })

  test('leave others their room when many hosts hang', () => {
    const lanes = createLanes()
    for (let host = 0; host < 100; host += 1) {
      answer(lanes, `dead${host}.example`, 4, undefined)
      lanes.enter('webhook', `dead${host}.example`)
    }
    expect(lanes.roomOf('webhook').free).toBe(156)
  })

  test('forget a lane that is as it began', () => {
    const lanes = createLanes()
    answer(lanes, 'a.example', 1, 3000)
    expect(lanes.roomOf('webhook').lanes).toEqual({})
  })
})

function fill(lanes: Lanes, channel: 'email' | 'webhook', count: number): void {
  for (let index = 0; index < count; index += 1) lanes.enter(channel, `host${index}`)
}

function answer(lanes: Lanes, lane: string, times: number, latencyMs: number | undefined): void {
  for (let time = 0; time < times; time += 1) {
    lanes.enter('webhook', lane)
    lanes.leave('webhook', lane, latencyMs)
  }
}
