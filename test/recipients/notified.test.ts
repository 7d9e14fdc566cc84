import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { STATEMENT_CHANNEL } from '#src/db/diagnostics.ts'
import { confirmMailbox, linkChat } from '../support/destinations.ts'
import { harness, type World } from '../support/harness.ts'
import { type Client, signIn } from '../support/people.ts'

/** A watch says which recipients its alerts reach, and a warning if they reach nobody. */

let world: World
let alice: Client
let path: string

beforeAll(async () => {
  world = await harness({ BILLING_ENABLED: 'false' })
  alice = await signIn(world, 'alice')
  const { address } = alice.person.account
  const target = { address, asset: 'FLR' }
  const body = { type: 'wallet-balance', target, settings: { threshold: '100' } }
  const created = await alice.request('POST', '/watches', body)
  expect(created.body).toMatchObject({ notifies: [], warnings: ['nobody_is_notified'] })
  path = `/watches/${created.body.id}`
})
afterAll(() => world.close())

async function notified() {
  const [one, list] = await Promise.all([
    alice.request('GET', path),
    alice.request('GET', '/watches'),
  ])
  const { notifies, warnings } = one.body
  expect(list.body.data[0]).toMatchObject({ notifies, warnings })
  expect(warnings).toEqual(notifies.length === 0 ? ['nobody_is_notified'] : [])
  return notifies
}

async function hook(over: object = {}): Promise<number> {
  const body = { name: 'Hook', channel: 'webhook', url: world.receiver.url(), ...over }
  return (await alice.request('POST', '/recipients', body)).body.id
}

const change = (id: number, body: object) => alice.request('PATCH', `/recipients/${id}`, body)

test('names the recipients that are on and get the severity of its alerts', async () => {
  const first = await hook()
  expect(await notified()).toEqual([first])
  const second = await hook()
  expect(await notified()).toEqual([first])
  await alice.request('PATCH', path, { recipientIds: [second] })
  expect(await notified()).toEqual([second])
  await change(second, { status: 'disabled' })
  expect(await notified()).toEqual([])
  await change(second, { status: 'active', minSeverity: 'critical' })
  // Alerts about a balance are warnings at most.
  expect(await notified()).toEqual([])
  await change(second, { minSeverity: 'warning' })
  expect(await notified()).toEqual([second])
  const { body } = await alice.request('PATCH', path, { settings: { direction: 'up' } })
  expect(body).toMatchObject({ notifies: [], warnings: ['nobody_is_notified'] })
  await alice.request('PATCH', path, { settings: { direction: 'any' }, recipientIds: null })
  expect(await notified()).toEqual([first])
  // An empty list is as none, which the document says.
  await alice.request('PATCH', path, { recipientIds: [] })
  expect(await notified()).toEqual([first])
  const { text } = await alice.request('GET', '/openapi.json')
  expect(text).toContain('null or an empty list for the default recipients')
  for (const id of [first, second]) await alice.request('DELETE', `/recipients/${id}`)
  expect(await notified()).toEqual([])
})

test('changes its tag with the recipients', async () => {
  const before = await alice.request('GET', path)
  const id = await hook()
  const unchanged = { 'if-none-match': String(before.headers['etag']) }
  expect((await alice.request('GET', path, undefined, unchanged)).status).toBe(200)
  await alice.request('DELETE', `/recipients/${id}`)
  expect((await alice.request('GET', path, undefined, unchanged)).status).toBe(304)
})

test('names the wallet’s own channel, and people only if the settings of the wallet let its alerts pass', async () => {
  await alice.request('PUT', '/channels/webhook', { url: world.receiver.url() })
  const [own = 0, ...others] = await notified()
  expect(others).toEqual([])
  await linkChat(world, alice)
  const [chat] = (await alice.request('GET', '/recipients')).body.data
  expect(await notified()).toEqual([own, chat.id])
  const { body: settings } = await alice.request('GET', '/settings')
  await alice.request('PUT', '/settings', { ...settings, minSeverity: 'critical' })
  expect(await notified()).toEqual([own])
  const { version: _, ...usual } = settings
  await alice.request('PUT', '/settings', usual)
  const mutedUntil = new Date(world.clock.now().getTime() + 3_600_000)
  // A mute only delays alerts.
  await world.database.sql`update recipients set muted_until = ${mutedUntil} where id = ${chat.id}`
  expect(await notified()).toEqual([own, chat.id])
  await alice.request('DELETE', '/channels/webhook')
  await alice.request('DELETE', `/recipients/${chat.id}`)
})

test('a page of watches reads the recipients with one statement', async () => {
  const { address } = alice.person.account
  for (let threshold = 1; threshold <= 5; threshold += 1) {
    const target = { address, asset: 'FLR' }
    const settings = { threshold: String(threshold) }
    await alice.request('POST', '/watches', { type: 'wallet-balance', target, settings })
  }
  const statements: string[] = []
  const note = (message: unknown) => void statements.push(JSON.stringify(message))
  subscribe(STATEMENT_CHANNEL, note)
  try {
    expect((await alice.request('GET', '/watches')).body.data).toHaveLength(6)
  } finally {
    unsubscribe(STATEMENT_CHANNEL, note)
  }
  expect(statements.filter((text) => /from \\?"recipients\\?"/.test(text))).toHaveLength(1)
})

describe('a recipient without `default` in its request', () => {
  const isDefault = async (client: Client, body: object) =>
    (await client.request('POST', '/recipients', { name: 'New', ...body })).body.default
  const webhook = () => ({ channel: 'webhook', url: world.receiver.url() })

  test('is a default if there is no active one, also of two that are created at once only one', async () => {
    const bob = await signIn(world, 'bob')
    const both = [0, 1].map(() => isDefault(bob, webhook()))
    expect((await Promise.all(both)).toSorted()).toEqual([false, true])
    expect(await isDefault(bob, webhook())).toBe(false)
    expect(await isDefault(bob, { ...webhook(), default: true })).toBe(true)
    const { body } = await bob.request('GET', '/recipients')
    for (const recipient of body.data) {
      await bob.request('PATCH', `/recipients/${recipient.id}`, { status: 'disabled' })
    }
    expect(await isDefault(bob, { ...webhook(), default: false })).toBe(false)
    expect(await isDefault(bob, webhook())).toBe(true)
  })

  test('is a default beside a mailbox that was not confirmed, but not beside one that was, or an own channel', async () => {
    const carol = await signIn(world, 'carol')
    const mailbox = { channel: 'email', address: 'carol@example.org' }
    const deleteAll = async () => {
      const { body } = await carol.request('GET', '/recipients')
      for (const { id } of body.data) await carol.request('DELETE', `/recipients/${id}`)
    }
    expect(await isDefault(carol, mailbox)).toBe(true)
    expect(await isDefault(carol, webhook())).toBe(true)
    await deleteAll()
    expect(await isDefault(carol, { ...mailbox, address: 'ops@example.org' })).toBe(true)
    await confirmMailbox(world)
    expect(await isDefault(carol, webhook())).toBe(false)
    await deleteAll()
    await carol.request('PUT', '/channels/webhook', { url: world.receiver.url('own') })
    expect(await isDefault(carol, webhook())).toBe(false)
  })
})

test('warns of an escalation that reaches nobody else', async () => {
  const [first, second] = [await hook({ default: true }), await hook({ default: false })]
  const change = async (body: object) => (await alice.request('PATCH', path, body)).body.warnings
  const wait = { escalateAfterMinutes: 15 }
  expect(await change({ recipientIds: [first], escalateTo: [first], ...wait })).toEqual([
    'escalation_is_heard_already',
  ])
  expect(await change({ escalateTo: [first, second] })).toEqual([])
  expect(await change({ escalateTo: [first], escalateAfterMinutes: null })).toEqual([])
  expect(await change({ ...wait, escalateTo: [] })).toEqual([])
})
