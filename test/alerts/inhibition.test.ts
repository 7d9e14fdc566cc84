import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { muteIncident } from '#src/alerts/acknowledge/acknowledge.ts'
import { type AlertWorld, alertWorld } from './alert-world.ts'

const COMMIT = 'fsp.ftso-commit'
const UNREGISTERED = { event: 'provider.unregistered', severity: 'critical' } as const
/** Provider in the example data of both events. */
const PROVIDER = '0x12ab4f00000000000000000000000000000fcd34'
const OTHER = '0x00000000000000000000000000000000000F1A03'
const of = (provider: string) => ({ data: { provider } })

describe('an alert about a provider that is not registered', () => {
  let world: AlertWorld
  let node: number
  let status: number

  beforeAll(async () => {
    world = await alertWorld()
  })
  beforeEach(async () => {
    for (const id of [node, status]) await world.alice.request('DELETE', `/watches/${id}`)
    await world.deliver()
    world.clock.advance(86_400)
    node = await world.watch('Node A')
    status = await world.watch('Status')
    world.forgetMessages()
  })
  afterAll(() => world.close())

  const notified = async () => {
    await world.remind()
    await world.deliver()
    return world.hooks()
  }
  const newest = async () => (await world.alerts('?limit=1'))[0]

  test('is recorded without deliveries while the alert about the registration is open', async () => {
    await world.record(status, { ...UNREGISTERED, ...of(PROVIDER) })
    world.clock.advance(90)
    await world.record(node, { event: COMMIT, ...of(PROVIDER) })
    expect(await notified()).toEqual([UNREGISTERED.event])
    expect(world.chatTexts()).toHaveLength(1)
    expect(await newest()).toMatchObject({ event: COMMIT, state: 'firing', deliveries: [] })
  })

  test('is inhibited also if it comes first in the observation that has both alerts', async () => {
    await world.record(
      status,
      { event: COMMIT, ...of(PROVIDER) },
      { ...UNREGISTERED, ...of(PROVIDER) },
    )
    expect(await notified()).toEqual([UNREGISTERED.event])
  })

  test('is sent when its cause recovers and it still fires; reminders count from then', async () => {
    await world.record(status, { ...UNREGISTERED, ...of(PROVIDER) })
    await world.record(node, { event: COMMIT, severity: 'critical', ...of(PROVIDER) })
    await notified()
    world.forgetMessages()
    world.clock.advance(600)
    await world.record(status, { event: 'provider.recovered', ...of(PROVIDER) })
    expect((await notified()).toSorted()).toEqual([COMMIT, 'provider.recovered'])
    expect(world.chatTexts()).toHaveLength(2)
    world.forgetMessages()
    // Reminders count from the notification, not from the firing.
    world.clock.advance(14 * 60)
    await notified()
    expect(world.chatTexts()).toEqual([])
    world.clock.advance(60)
    await notified()
    expect(world.chatTexts()).toHaveLength(1)
  })

  test('is sent to no chat when its cause recovers if it was muted meanwhile', async () => {
    await world.record(status, { ...UNREGISTERED, ...of(PROVIDER) })
    await world.record(node, { event: COMMIT, severity: 'critical', ...of(PROVIDER) })
    await notified()
    await muteIncident(world.app, world.alice.caller, {
      id: (await newest())?.id ?? 0,
      muted: true,
    })
    world.forgetMessages()
    world.clock.advance(600)
    await world.record(status, { event: 'provider.recovered', ...of(PROVIDER) })
    // Programs get it.
    expect((await notified()).toSorted()).toEqual([COMMIT, 'provider.recovered'])
    expect(world.chatTexts()).toEqual([expect.stringContaining('🟢')])
  })

  test('is never sent if it recovers before its cause', async () => {
    await world.record(status, { ...UNREGISTERED, ...of(PROVIDER) })
    await world.record(node, { event: COMMIT, ...of(PROVIDER) })
    await notified()
    world.forgetMessages()
    world.clock.advance(90)
    await world.record(node, { event: `${COMMIT}.recovered`, ...of(PROVIDER) })
    world.clock.advance(90)
    await world.record(status, { event: 'provider.recovered', ...of(PROVIDER) })
    expect(await notified()).toEqual(['provider.recovered'])
  })

  test('is sent when the watch of its cause is deleted', async () => {
    await world.record(status, { ...UNREGISTERED, ...of(PROVIDER) })
    await world.record(node, { event: COMMIT, ...of(PROVIDER) })
    await notified()
    world.forgetMessages()
    await world.alice.request('DELETE', `/watches/${status}`)
    expect(await notified()).toEqual([COMMIT])
  })

  test('is sent if only another provider is not registered', async () => {
    await world.record(status, { ...UNREGISTERED, ...of(OTHER) })
    await world.record(node, { event: COMMIT, ...of(PROVIDER) })
    expect((await notified()).toSorted()).toEqual([COMMIT, UNREGISTERED.event])
  })
})
