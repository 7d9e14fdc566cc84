import { afterAll, beforeAll, expect, test } from 'vitest'
import { headerOf } from '#sandbox/inbox/mail.ts'
import { confirmMailbox, linkChat } from '../support/destinations.ts'
import { harness, type World } from '../support/harness.ts'
import { type Client, signIn, withTrial } from '../support/people.ts'

/** Journey from a block to a message. */

const FLR = 10n ** 18n

let world: World
let alice: Client
let ann: Awaited<ReturnType<typeof linkChat>>

beforeAll(async () => {
  world = await harness()
  alice = await withTrial(await signIn(world, 'alice'))
  await alice.request('PUT', '/channels/email', { address: 'ops@example.org' })
  await confirmMailbox(world)
  const { body } = await alice.request('PUT', '/channels/webhook', { url: world.receiver.url() })
  world.receiver.setSecret('main', body.secret)
  ann = await linkChat(world, alice)
  // Notices to each recipient about the others.
  await world.deliver()
  world.inbox.clear()
})
afterAll(() => world.close())

const bobAddress = () => world.devnet.people.bob.account.address

test('a transfer on the chain is sent to chat, mailbox and webhook, once', async () => {
  const { devnet, receiver, inbox, telegram } = world
  const created = await alice.request('POST', '/watches', {
    type: 'wallet-balance',
    label: 'Treasury',
    target: { address: bobAddress(), asset: 'FLR' },
    settings: { threshold: '100' },
  })

  // The first observation sets the baseline and raises no alert.
  await world.observe()
  expect((await alice.request('GET', '/alerts')).body.data).toEqual([])

  const mined = await devnet.transfer(devnet.people.carol.account.address, bobAddress(), 500n * FLR)
  await world.observe()
  await world.deliver()

  const { body } = await alice.request('GET', '/alerts')
  expect(body.data).toHaveLength(1)
  const [alert] = body.data
  expect(alert).toMatchObject({
    watchId: created.body.id,
    watchLabel: 'Treasury',
    type: 'wallet-balance',
    signal: 'balance-change',
    group: 'alerts',
    event: 'wallet-balance.moved',
    severity: 'info',
    state: 'firing',
    data: {
      address: bobAddress(),
      previousAmount: (10_000n * FLR).toString(),
      currentAmount: (10_500n * FLR).toString(),
      changeAmount: (500n * FLR).toString(),
      direction: 'incoming',
      counterparty: devnet.people.carol.account.address,
      transactionHash: mined.hash,
      usd: null,
    },
    rendered: { locale: 'en', title: '500\u00a0FLR arrived' },
  })
  expect(alert.data.blockNumber).toBeGreaterThanOrEqual(Number(mined.blockNumber))
  expect(
    alert.deliveries.map(({ channel, status }: never) => `${channel} ${status}`).sort(),
  ).toEqual(['email delivered', 'telegram delivered', 'webhook delivered'])

  const hook = await receiver.waitFor(({ hook }) => hook === 'main')
  expect(hook.verdicts).toMatchObject({ watchdog: { ok: true }, standard: { ok: true } })
  expect(hook.json).toMatchObject({
    payloadVersion: 2,
    signal: 'balance-change',
    group: 'alerts',
    alertId: alert.id,
    watchId: created.body.id,
    label: 'Treasury',
    type: 'wallet-balance',
    event: 'wallet-balance.moved',
    severity: 'info',
    firedAt: alert.firedAt,
    rendered: { locale: 'en', title: alert.rendered.title, body: alert.rendered.body },
    renderedMessage: { alertId: alert.id, test: false },
  })

  const mail = await inbox.waitFor(({ subject }) => subject.includes('received 500 FLR'))
  expect(inbox.mails).toHaveLength(1)
  expect(headerOf(mail, 'auto-submitted')).toBe('auto-generated')
  expect(telegram.lastMessage(ann.chat)?.text).toContain('received 500\u00a0FLR')
})

test('observing the same blocks again raises no further alert', async () => {
  await world.look()
  await world.look()
  await world.deliver()
  expect((await alice.request('GET', '/alerts')).body.data).toHaveLength(1)
  expect(world.receiver.deliveries).toHaveLength(1)
})

test('a change below the threshold raises no alert', async () => {
  const { carol } = world.devnet.people
  await world.devnet.transfer(carol.account.address, bobAddress(), 99n * FLR)
  await world.observe()
  expect((await alice.request('GET', '/alerts')).body.data).toHaveLength(1)
})

test('a transfer during an outage of the chain raises its alert after the outage', async () => {
  const { carol } = world.devnet.people
  await world.rpc.down()
  await world.devnet.transfer(carol.account.address, bobAddress(), 200n * FLR)
  await expect(world.observe()).rejects.toThrow('dependency_unavailable')
  await world.rpc.up()
  // Later than the first alert's message, which it would join otherwise.
  world.clock.advance(60)
  await world.look()
  const { body } = await alice.request('GET', '/alerts')
  expect(body.data).toHaveLength(2)
  expect(body.data[0].data.changeAmount).toBe((200n * FLR).toString())
})

test('messages during an outage of every channel are delivered after the outage', async () => {
  const { receiver, inbox, telegram } = world
  receiver.clear()
  receiver.answerAlways(500)
  await inbox.setMode('down')
  await telegram.down()
  await world.deliver()
  const waiting = (await alice.request('GET', '/alerts')).body.data[0].deliveries
  expect(waiting.map(({ status }: never) => status)).toEqual(['retrying', 'retrying', 'retrying'])

  receiver.answerAlways(undefined)
  await inbox.setMode('ok')
  await telegram.up()
  world.clock.advance(10)
  await world.deliver()
  const done = (await alice.request('GET', '/alerts')).body.data[0].deliveries
  expect(done.map(({ status }: never) => status)).toEqual(['delivered', 'delivered', 'delivered'])
  expect(receiver.deliveries.map(({ json }) => (json as never)['deliveryId'])).toEqual([
    done.find(({ channel }: never) => channel === 'webhook').deliveryId,
    done.find(({ channel }: never) => channel === 'webhook').deliveryId,
  ])
})

test('a muted watch records its alert and notifies programs only', async () => {
  const { carol } = world.devnet.people
  const [watch] = (await alice.request('GET', '/watches')).body.data
  const mutedUntil = new Date(world.clock.now().getTime() + 3_600_000).toISOString()
  await alice.request('PATCH', `/watches/${watch.id}`, { mutedUntil })
  await world.devnet.transfer(carol.account.address, bobAddress(), 300n * FLR)
  await world.observe()
  await world.deliver()
  const [alert] = (await alice.request('GET', '/alerts')).body.data
  expect(
    alert.deliveries.map(({ channel, status }: never) => `${channel} ${status}`).sort(),
  ).toEqual(['email muted', 'telegram muted', 'webhook delivered'])
  await alice.request('PATCH', `/watches/${watch.id}`, { mutedUntil: null })
})

test('a paused watch raises no alert, and starts with a new baseline when it is resumed', async () => {
  const { carol } = world.devnet.people
  const [watch] = (await alice.request('GET', '/watches')).body.data
  const before = (await alice.request('GET', '/alerts')).body.data.length
  await alice.request('PATCH', `/watches/${watch.id}`, { status: 'paused' })
  await world.devnet.transfer(carol.account.address, bobAddress(), 400n * FLR)
  await world.observe()
  const { body } = await alice.request('PATCH', `/watches/${watch.id}`, { status: 'active' })
  expect(body.signalStates[0].state).toBe('unknown')
  await world.observe()
  expect((await alice.request('GET', '/alerts')).body.data).toHaveLength(before)
  await world.devnet.transfer(carol.account.address, bobAddress(), 500n * FLR)
  await world.observe()
  expect((await alice.request('GET', '/alerts')).body.data).toHaveLength(before + 1)
})

test('the pages of the history go from newest to oldest without gap or repetition', async () => {
  const all = (await alice.request('GET', '/alerts')).body.data.map(({ id }: never) => id)
  const seen: number[] = []
  let path = '/alerts?limit=1'
  for (;;) {
    const { body } = await alice.request('GET', path)
    seen.push(...body.data.map(({ id }: never) => id))
    if (body.nextCursor === null) break
    path = `/alerts?limit=1&cursor=${body.nextCursor}`
  }
  expect(seen).toEqual(all)
  expect(all).toEqual(all.toSorted((a: number, b: number) => b - a))
})

test('transfers that nobody saw apart are one alert with the sum, which lists them', async () => {
  const { devnet, receiver, telegram, inbox } = world
  const { alice: owner, bob, carol } = devnet.people
  world.clock.advance(60)
  await world.deliver()
  receiver.clear()
  const first = await devnet.transfer(carol.account.address, bob.account.address, 150n * FLR)
  const second = await devnet.transfer(owner.account.address, bob.account.address, 250n * FLR)
  await world.observe()
  await world.deliver()
  const [alert] = (await alice.request('GET', '/alerts')).body.data
  const transactions = [
    {
      transactionHash: first.hash,
      amount: (150n * FLR).toString(),
      counterparty: carol.account.address,
    },
    {
      transactionHash: second.hash,
      amount: (250n * FLR).toString(),
      counterparty: owner.account.address,
    },
  ]
  const data = { transactionHash: null, counterparty: null, transactions, transactionCount: 2 }
  expect(alert).toMatchObject({ rendered: { title: '400\u00a0FLR arrived' }, data })
  expect((await receiver.waitFor(({ hook }) => hook === 'main')).json).toMatchObject({ data })
  const shown = JSON.stringify(telegram.lastMessage(ann.chat))
  const mail = await inbox.waitFor(({ subject }) => subject.includes('received 400'))
  for (const { hash } of [first, second]) {
    expect(shown).toContain(hash)
    expect(JSON.stringify(mail)).toContain(hash)
  }
})
