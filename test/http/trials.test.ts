import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { harness, type World } from '../support/harness.ts'
import { type Client, signIn } from '../support/people.ts'

/** The trial is available once to a wallet and once to a linked Telegram account. Wallets start it over HTTP here. */

let world: World
let alice: Client
let bob: Client
let carol: Client

beforeAll(async () => {
  world = await harness()
  ;[alice, bob, carol] = await Promise.all([
    signIn(world, 'alice'),
    signIn(world, 'bob'),
    signIn(world, 'carol'),
  ])
})
beforeEach(async () => {
  await world.sql`truncate accounts, trials, trial_accounts, recipients, capacity_changes cascade`
  for (const client of [alice, bob, carol]) {
    await client.request('POST', '/account/terms', { version: '2026-11' })
  }
})
afterAll(() => world.close())

function addPerson() {
  return world.telegram.person({ firstName: 'Ann', languageCode: 'en' })
}

/** Links a wallet to the person's private chat, which shows a card and waits for a press. */
async function link(client: Client, person: { readonly id: number }): Promise<void> {
  const { telegram } = world
  const { body } = await client.request('POST', '/recipients/telegram-link', {})
  const before = telegram.lastMessage(person.id)?.id
  telegram.send(person.id, `/start ${new URL(body.url).searchParams.get('start')}`)
  const card = await telegram.waitFor(() => {
    const last = telegram.lastMessage(person.id)
    const isCard = last?.keyboard.flat().some(({ text }) => text === 'Link this chat')
    return isCard && last?.id !== before ? last : undefined
  })
  telegram.press(person.id, card.id, 'Link this chat')
  await telegram.waitFor(() => telegram.lastMessage(person.id)?.text !== card.text || undefined)
}

/** Starts the trial. @returns 201, or status and code of the refusal */
const startTrial = async (client: Client) => {
  const { status, body } = await client.request('POST', '/subscriptions/trial')
  return status === 201 ? 201 : `${status} ${body.code}`
}
const isOffered = async (client: Client) =>
  (await client.request('GET', '/subscriptions')).body.trial.available

test('wallets that are linked to one Telegram account have one trial together; another wallet has its own', async () => {
  const person = addPerson()
  await link(alice, person)
  await link(bob, person)
  expect(await startTrial(alice)).toBe(201)
  expect(await isOffered(bob)).toBe(false)
  expect(await startTrial(bob)).toBe('409 trial_already_used')
  expect(await startTrial(alice)).toBe('409 trial_already_used')
  expect(await startTrial(carol)).toBe(201)
})

test('a Telegram account that was linked to a wallet in trial has had its trial, also after it was unlinked', async () => {
  const person = addPerson()
  expect(await startTrial(alice)).toBe(201)
  await link(alice, person)
  const { body } = await alice.request('GET', '/recipients')
  await alice.request('DELETE', `/recipients/${body.data[0].id}`)
  await link(bob, person)
  expect(await isOffered(bob)).toBe(false)
  expect(await startTrial(bob)).toBe('409 trial_already_used')
})

test('three wallets of one Telegram account that start the trial at the same moment get one', async () => {
  const person = addPerson()
  for (const client of [alice, bob, carol]) await link(client, person)
  const answers = await Promise.all([alice, bob, carol].map(startTrial))
  expect(answers.toSorted()).toEqual([201, '409 trial_already_used', '409 trial_already_used'])
})
