import { afterAll, beforeAll, expect, test } from 'vitest'
import { createConnectCode } from '#src/recipients/connect.ts'
import { fitWalletsWithChangedSlots } from '#src/watches/manage/slots.ts'
import germanErrors from '../../locales/de/errors.json' with { type: 'json' }
import { linkChat } from '../support/destinations.ts'
import { harness, type World } from '../support/harness.ts'
import { type Client, signIn } from '../support/people.ts'

/** A service without billing, from the first watch to the last screen. */

const WALLET = '0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C'
const MONEY = /credit|slot|trial|top ?up/i

let world: World
let alice: Client

beforeAll(async () => {
  world = await harness({ BILLING_ENABLED: 'false' })
  alice = await signIn(world, 'alice')
})
afterAll(() => world.close())

const watch = (type = 'wallet-balance', over: object = {}) =>
  alice.request('POST', '/watches', {
    type,
    target: { address: WALLET, asset: 'FLR' },
    settings: { threshold: '1' },
    ...over,
  })

test('every wallet can watch without slots, trial or terms, up to the limit of watches', async () => {
  const { status, text } = await watch()
  expect([status, text]).toEqual([201, expect.any(String)])
  expect((await watch()).status).toBe(201)
  const { body } = await alice.request('GET', '/subscriptions')
  expect(body).toMatchObject({
    capacity: { purchased: 0, trial: 0, used: 2, available: 198, max: 200 },
    trial: { available: false },
  })
  await world.sql`update accounts set occupied_slots = 200`
  expect((await watch()).body).toMatchObject({ status: 409, code: 'watch_limit_reached' })
  await world.sql`update accounts set occupied_slots = 2`
  await alice.request('DELETE', '/watches/1')
  expect((await alice.request('GET', '/watches')).body.data).toMatchObject([{ status: 'active' }])
})

test('there is nothing to buy: trial, purchase and top-up answer 409 billing_disabled', async () => {
  const purchase = { quantity: 1, periods: 1 }
  const answers = await Promise.all([
    alice.request('POST', '/subscriptions/trial'),
    alice.request('POST', '/subscriptions', purchase),
    alice.request('POST', '/topup', {}),
    watch('credits-balance', { target: {}, settings: { limit: 1 } }),
  ])
  for (const { status, body } of answers) {
    expect([status, body.code]).toEqual([409, 'billing_disabled'])
  }
  const german = await alice.request('POST', '/subscriptions/trial', undefined, {
    'accept-language': 'de',
  })
  expect(german.body.title).toBe(germanErrors['billing_disabled.title'])
  const { body } = await alice.request('GET', '/pricing')
  expect(body.enabled).toBe(false)
  expect(body.watchdog.types).not.toContain('credits-balance')
  expect(Object.keys(body.watchdog.signalDefinitions)).not.toContain('credits-balance')
})

test('no page offers to watch credits or to spend them', async () => {
  const { server } = world
  for (const path of ['/docs/watches', '/docs/events']) {
    expect((await server.inject({ url: path })).body).not.toContain('credits-balance')
  }
  const chat = { id: 4321, title: 'Ann Lee', username: 'annlee' }
  const { url } = await createConnectCode(world.app, { chat, by: { id: chat.id }, locale: 'en' })
  const card = await server.inject({ url: new URL(url).pathname })
  expect([card.statusCode, card.body.includes('id="spend"')]).toEqual([200, false])
  expect((await server.inject({ url: '/docs/watches/credits-balance' })).statusCode).toBe(404)
  expect((await server.inject({ url: '/docs/watches/wallet-balance' })).statusCode).toBe(200)
})

test('watches that were suspended while billing was on are resumed', async () => {
  await watch()
  await world.sql`update watches set suspended_at = created_at`
  const { app } = world
  await fitWalletsWithChangedSlots(app, new AbortController().signal)
  const { body } = await alice.request('GET', '/watches')
  expect(body.data.length).toBeGreaterThan(0)
  for (const { status } of body.data) expect(status).toBe('active')
})

test('no screen of the bot speaks of credits, slots or a trial', async () => {
  const { telegram } = world
  const { person } = await linkChat(world, alice)
  const read = async (send: () => void) => {
    const before = telegram.lastMessage(person.id)?.id
    send()
    const message = await telegram.waitFor(() => {
      const last = telegram.lastMessage(person.id)
      return last?.id === before ? undefined : last
    })
    const labels = message.keyboard.flat().map(({ text }) => text)
    return [message.text, ...labels].join('\n')
  }
  for (const command of ['/start', '/status', '/watches', '/new', '/help']) {
    expect(await read(() => telegram.send(person.id, command))).not.toMatch(MONEY)
  }
  for (const command of ['/topup', '/slots']) {
    expect(await read(() => telegram.send(person.id, command))).toContain(
      'There is nothing to buy on this service',
    )
  }
})
