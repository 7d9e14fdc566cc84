import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AlertWorld, alertWorld } from './alert-world.ts'

const COMMIT = 'fsp.ftso-commit'
const RECOVERED = 'fsp.ftso-commit.recovered'
const TRANSFER = 'wallet-balance.moved'

let world: AlertWorld
let watchId: number

beforeAll(async () => {
  world = await alertWorld()
})
beforeEach(async () => {
  await world.sql`update alerts set state = 'recovered', recovered_at = fired_at where recovered_at is null`
  await world.change({ maintenance: [] })
  world.clock.advance(86_400)
  watchId = await world.watch('Node A')
  await pass()
  world.forgetMessages()
})
afterAll(() => world.close())

const plan = async (body: Record<string, unknown> = {}) =>
  world.alice.request('POST', '/maintenance', { name: 'Upgrade', minutes: 60, ...body })
const pass = async () => {
  await world.remind()
  await world.deliver()
}
const sent = () => [world.hooks().length, world.chatTexts().length, world.subjects().length]
const newest = async () => (await world.alerts('?limit=1'))[0]

describe('an alert that fires during maintenance', () => {
  test('is recorded and sent to nobody, programs included; if it recovers meanwhile, nobody hears of it', async () => {
    expect((await plan()).status).toBe(201)
    await world.record(watchId, { event: COMMIT, severity: 'critical' })
    await pass()
    expect(sent()).toEqual([0, 0, 0])
    expect(await newest()).toMatchObject({ during: 'maintenance', state: 'firing', deliveries: [] })
    world.clock.advance(600)
    await world.record(watchId, { event: RECOVERED })
    await pass()
    expect(await newest()).toMatchObject({ during: 'maintenance', event: RECOVERED })
    world.clock.advance(7200)
    await pass()
    expect(sent()).toEqual([0, 0, 0])
  })

  test('and is still open at the end is sent then, and says that it began in maintenance; so does its recovery', async () => {
    await plan()
    await world.record(watchId, { event: COMMIT, severity: 'critical' })
    world.clock.advance(3599)
    await pass()
    expect(sent()).toEqual([0, 0, 0])
    world.clock.advance(1)
    await pass()
    expect(world.hooks()).toEqual([COMMIT])
    expect(world.chatTexts().join()).toContain('This began during planned maintenance.')
    expect(world.subjects()).toHaveLength(1)
    world.forgetMessages()
    // Reminders count from then.
    world.clock.advance(14 * 60)
    await pass()
    expect(world.chatTexts()).toEqual([])
    world.clock.advance(60)
    await pass()
    expect(world.chatTexts()).toHaveLength(1)
    world.forgetMessages()
    await world.record(watchId, { event: RECOVERED })
    await pass()
    expect(world.hooks()).toEqual([RECOVERED])
    expect(world.chatTexts().join()).toContain('This began during planned maintenance.')
  })

  test('is sent within one pass when somebody ends the maintenance', async () => {
    const { body } = await plan()
    await world.record(watchId, { event: COMMIT })
    await pass()
    expect((await world.alice.request('DELETE', `/maintenance/${body.id}`)).status).toBe(204)
    await pass()
    expect(world.hooks()).toEqual([COMMIT])
    expect((await world.alice.request('DELETE', `/maintenance/${body.id}`)).status).toBe(404)
  })

  test('of a watch that the window does not name is sent at once', async () => {
    const other = await world.watch('Node B')
    await plan({ watchIds: [other] })
    await world.record(watchId, { event: COMMIT })
    await world.record(other, { event: COMMIT })
    await pass()
    expect(world.hooks()).toHaveLength(1)
  })

  test('and that nothing ends is never sent, and not escalated', async () => {
    await plan()
    await world.record(watchId, { event: TRANSFER, severity: 'warning' })
    const [row] = await world.sql`select escalate_at from alerts order by id desc limit 1`
    expect(row).toEqual({ escalate_at: null })
    world.clock.advance(86_400)
    await pass()
    expect(sent()).toEqual([0, 0, 0])
  })
})

describe('an alert from before the maintenance', () => {
  test('is not reminded of until its end, and its recovery is sent', async () => {
    await world.record(watchId, { event: COMMIT, severity: 'critical' })
    await pass()
    await plan()
    world.forgetMessages()
    world.clock.advance(3599)
    await pass()
    expect(sent()).toEqual([0, 0, 0])
    world.clock.advance(1)
    await pass()
    expect(world.chatTexts()).toHaveLength(1)
    world.forgetMessages()
    await plan()
    await world.record(watchId, { event: RECOVERED })
    await pass()
    expect(world.hooks()).toEqual([RECOVERED])
    expect((await newest())?.during).toBeNull()
  })
})

describe('the windows of a wallet', () => {
  test('are part of its settings; a change without them leaves them, and those that are over are removed', async () => {
    const { body: window } = await plan({ repeat: 'weekly' })
    const { body: over } = await plan({ minutes: 5 })
    await world.change({ digest: '1h' })
    const settings = async () => (await world.alice.request('GET', '/settings')).body
    expect((await settings()).maintenance).toEqual([window, over])
    world.clock.advance(600)
    const { version: _, maintenance: __, ...before } = await settings()
    await world.alice.request('PUT', '/settings', { ...before, digest: 'off' })
    expect((await settings()).maintenance).toEqual([window])
  })

  test('are refused with a named reason: over already, reversed, too long, too many', async () => {
    const past = new Date(world.clock.now().getTime() - 7_200_000).toISOString()
    const errorsOf = async (answer: Promise<{ readonly body: unknown }>) =>
      ((await answer).body as { errors?: { code: string }[]; code: string }).errors?.map(
        ({ code }) => code,
      )
    expect(await errorsOf(plan({ from: past }))).toEqual(['ends_before_now'])
    const { body } = await world.alice.request('GET', '/settings')
    const put = (over: Record<string, unknown>) => {
      const now = world.clock.now().toISOString()
      const window = { name: 'W', watchIds: null, from: now, until: now, repeat: null, ...over }
      const { version: _, ...rest } = body
      return world.alice.request('PUT', '/settings', { ...rest, maintenance: [window] })
    }
    expect(await errorsOf(put({}))).toEqual(['ends_before'])
    const late = new Date(world.clock.now().getTime() + 7 * 86_400_000).toISOString()
    expect(await errorsOf(put({ until: late }))).toEqual(['too_long_window'])
    const answers = await Promise.all(Array.from({ length: 25 }, () => plan()))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20)
    expect(answers.find(({ status }) => status !== 201)?.body).toMatchObject({
      code: 'maintenance_limit_reached',
    })
  })
})
