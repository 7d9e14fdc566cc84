import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'
import { shortAddress } from '#src/i18n/format.ts'
import { type BotWorld, botWorld, type TestChat, walletOf } from '../support/bot.ts'
import { testClock } from '../support/clock.ts'

let world: BotWorld
let devnet: DevnetWithContracts
let ann: TestChat

beforeAll(async () => {
  devnet = await startDevnet({ contracts: true, startsAt: testClock().now() })
  world = await botWorld({
    FLARE_RPC_URLS: devnet.rpcUrl,
    FLARE_CONTRACT_REGISTRY: devnet.contracts.registry,
  })
  await devnet.mine(2, 1)
  ann = await world.linked('alice')
})
afterAll(async () => {
  await world.close()
  await devnet.close()
})

/** What the bot answers to a query of a person. */
async function ask(person: number, query: string) {
  const question = world.telegram.inlineQuery(person, query)
  await world.settle()
  return question.answer()
}

test('a person without a link gets a button to connect', async () => {
  const ben = world.person('de')
  const answer = await ask(ben.id, '')
  expect(answer.results).toEqual([])
  expect(answer.button).toMatchObject({ start_parameter: 'connect' })
})

test('an empty query lists the providers of the person’s watches, without the names of the watches', async () => {
  const provider = walletOf('bob')
  await world.addWatch('alice', {
    label: 'Secret label',
    type: 'provider-eligibility',
    target: { provider },
    settings: {},
  })
  const answer = await ask(ann.id, '')
  expect(answer).toMatchObject({ isPersonal: true, cacheSeconds: 30 })
  expect(answer.results).toHaveLength(1)
  expect(JSON.stringify(answer.results)).not.toContain('Secret label')
  expect(answer.results[0]).toMatchObject({ title: shortAddress(provider) })
  const { id: groupId } = world.telegram.group({ title: 'Elsewhere', members: [ann.id] })
  const posted = world.telegram.chooseInline(answer, provider, groupId)
  expect(posted.text).toContain(shortAddress(provider))
  expect(posted.text).toContain('registered: unknown')
  expect(posted.keyboard[0]?.[0]?.url).toMatch(/\?start=p[0-9a-f]{40}$/)
})

test('a provider is found by its address, a feed by its name', async () => {
  const [provider] = (await ask(ann.id, walletOf('carol'))).results
  expect(provider).toMatchObject({ title: shortAddress(walletOf('carol')) })
  expect((await ask(ann.id, 'flr usd')).results[0]).toMatchObject({ id: 'FLR/USD' })
  const feeds = await ask(ann.id, 'flr')
  expect(feeds.results[0]).toMatchObject({ id: 'FLR/USD', title: 'FLR/USD' })
  const { id: groupId } = world.telegram.group({ title: 'Elsewhere', members: [ann.id] })
  const posted = world.telegram.chooseInline(feeds, 'FLR/USD', groupId)
  expect(posted.text).toMatch(/^\u2068FLR\/USD\u2069 0\.\d+\u00a0USD · \d\d:\d\d\u00a0UTC$/)
  expect(posted.entities.map(({ type }) => type)).toContain('date_time')
})

test('an unknown query has no results', async () => {
  for (const query of ['no such thing', '?!']) {
    expect((await ask(ann.id, query)).results).toEqual([])
  }
})

test('a query that Telegram refuses as too old delays no other update', async () => {
  world.telegram.failNext('answerInlineQuery', {
    error_code: 400,
    description:
      'Bad Request: query is too old and response timeout expired or query ID is invalid',
  })
  world.telegram.inlineQuery(ann.id, 'flr')
  await world.settle()
  await ann.say('/help')
  expect(ann.last().text).toContain('How it works')
})

test.each([
  'FLR',
  'flr/usd',
  'price of flr',
  'FLR price?',
])('the text %s in the private chat is answered with the price', async (text) => {
  await ann.say(text)
  expect(ann.last().text).toContain('\u2068FLR/USD\u2069 0.02\u00a0USD · ')
  expect(ann.labels()).toEqual([['Watch this price'], ['‹ Menu']])
})

test('the button below a price starts a watch of that price', async () => {
  await world.giveSlots('alice', 3)
  await ann.say('flr')
  await ann.press('Watch this price')
  expect(ann.last().text).toContain('New watch · Price')
})
