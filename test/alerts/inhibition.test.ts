import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findEventSource } from '#src/watches/events.ts'
import { type AlertRoom, alertRoom } from './room.ts'

const COMMIT = 'fsp.ftso-commit'
const UNREGISTERED = { event: 'provider.unregistered', severity: 'critical' } as const
/** The provider that the data of both examples names. */
const PROVIDER = '0x12ab4f00000000000000000000000000000fcd34'
const OTHER = '0x00000000000000000000000000000000000F1A03'
const of = (provider: string) => ({ data: { provider } })

/** While watches of providers are only announced, their signals cannot be notified. */
const isAnnounced = [COMMIT, UNREGISTERED.event].some((event) => !findEventSource(event))

describe.skipIf(isAnnounced)('an alert that another one explains', () => {
  let room: AlertRoom
  let node: number
  let status: number

  beforeAll(async () => {
    room = await alertRoom()
  })
  beforeEach(async () => {
    for (const id of [node, status]) await room.alice.request('DELETE', `/watches/${id}`)
    await room.deliver()
    room.clock.advance(86_400)
    node = await room.watch('Node A')
    status = await room.watch('Status')
    room.forget()
  })
  afterAll(() => room.close())

  const notified = async () => {
    await room.remind()
    await room.deliver()
    return room.hooks()
  }
  const newest = async () => (await room.alerts('?limit=1'))[0]

  test('is recorded and sent nowhere while that one is open', async () => {
    await room.notice(status, { ...UNREGISTERED, ...of(PROVIDER) })
    room.clock.advance(90)
    await room.notice(node, { event: COMMIT, ...of(PROVIDER) })
    expect(await notified()).toEqual([UNREGISTERED.event])
    expect(room.chatTexts()).toHaveLength(1)
    expect(await newest()).toMatchObject({ event: COMMIT, state: 'firing', deliveries: [] })
  })

  test('is held back whatever of the two comes first in one look', async () => {
    await room.notice(
      status,
      { event: COMMIT, ...of(PROVIDER) },
      { ...UNREGISTERED, ...of(PROVIDER) },
    )
    expect(await notified()).toEqual([UNREGISTERED.event])
  })

  test('is sent when that one ends and it still fires', async () => {
    await room.notice(status, { ...UNREGISTERED, ...of(PROVIDER) })
    await room.notice(node, { event: COMMIT, severity: 'critical', ...of(PROVIDER) })
    await notified()
    room.forget()
    room.clock.advance(600)
    await room.notice(status, { event: 'provider.recovered', ...of(PROVIDER) })
    expect((await notified()).toSorted()).toEqual([COMMIT, 'provider.recovered'])
    expect(room.chatTexts()).toHaveLength(2)
    room.forget()
    // Its time counts from now, not from the firing.
    room.clock.advance(14 * 60)
    await notified()
    expect(room.chatTexts()).toEqual([])
    room.clock.advance(60)
    await notified()
    expect(room.chatTexts()).toHaveLength(1)
  })

  test('says nothing when it recovers before', async () => {
    await room.notice(status, { ...UNREGISTERED, ...of(PROVIDER) })
    await room.notice(node, { event: COMMIT, ...of(PROVIDER) })
    await notified()
    room.forget()
    room.clock.advance(90)
    await room.notice(node, { event: `${COMMIT}.recovered`, ...of(PROVIDER) })
    room.clock.advance(90)
    await room.notice(status, { event: 'provider.recovered', ...of(PROVIDER) })
    expect(await notified()).toEqual(['provider.recovered'])
  })

  test('is sent when the watch of that one is deleted', async () => {
    await room.notice(status, { ...UNREGISTERED, ...of(PROVIDER) })
    await room.notice(node, { event: COMMIT, ...of(PROVIDER) })
    await notified()
    room.forget()
    await room.alice.request('DELETE', `/watches/${status}`)
    expect(await notified()).toEqual([COMMIT])
  })

  test('about another provider is sent', async () => {
    await room.notice(status, { ...UNREGISTERED, ...of(OTHER) })
    await room.notice(node, { event: COMMIT, ...of(PROVIDER) })
    expect((await notified()).toSorted()).toEqual([COMMIT, UNREGISTERED.event])
  })
})
