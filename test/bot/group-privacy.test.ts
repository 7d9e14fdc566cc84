/** A group never shows credits, alerts about credits, or other recipients of a wallet. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { REGISTRY } from '#bot/features/index.ts'
import { packed } from '#src/actions/codec.ts'
import { CHECK_EVERYTHING } from '#src/jobs/define.ts'
import { judgeLedgers } from '#src/jobs/judge-ledgers.ts'
import { withoutJoiners } from '#src/kernel/inert-text.ts'
import { listAlerts } from '#src/operations/rest/alerts.ts'
import { createRecipient, updateRecipient } from '#src/operations/rest/recipients.ts'
import { createWatch } from '#src/operations/rest/watches.ts'
import { type BotWorld, botWorld, type TestChat, walletOf } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'
import { giveCredits } from '../support/credits.ts'
import { BOT_NAME } from '../support/harness.ts'

const BALANCE = /24[.,\s]?680|420 credits/
const ADDRESS = 'ops@example.org'
const PRIVATE = 'Only available in a private chat.'

let world: BotWorld
let group: TestChat
let node: number
let credits: number

/** All texts and labels sent to the group. */
function everything(): string {
  return withoutJoiners(JSON.stringify(group.all().map(({ text, keyboard }) => [text, keyboard])))
}

function linkTo(payload: string): string {
  return `https://t.me/${BOT_NAME}?start=${payload}`
}

/** The link that a press opens instead of a screen. */
async function ledTo(data: string): Promise<string | undefined> {
  // Avoids the flood limit.
  world.clock.advance(10)
  const press = world.telegram.pressRaw(group.id, group.last().id, data)
  await world.settle()
  return (await press.answer()).url
}

beforeAll(async () => {
  world = await botWorld()
  const owner = world.telegram.person({ firstName: 'Ann', languageCode: 'en', started: true }).id
  const { id } = world.telegram.group({ title: 'Crew', members: [owner], admins: [owner] })
  await giveCredits(world.app, walletOf('alice'), 24_680)
  const hook = { name: ADDRESS, channel: 'webhook', url: 'https://example.org/', default: true }
  const { id: hookId } = await world.as('alice', createRecipient, { body: hook })
  const off = { params: { id: String(hookId) }, body: { status: 'disabled' } }
  await world.as('alice', updateRecipient, off)
  node = await world.addWatch('alice', { label: 'Treasury' })
  await world.giveSlots('alice', 2)
  const own = { label: 'Own', type: 'credits-balance', target: {}, settings: { limit: 30_000 } }
  credits = (await world.as('alice', createWatch, { body: own })).id
  await judgeLedgers.run(world.service.app, new AbortController().signal, CHECK_EVERYTHING)
  await alertsIn(world).fire(credits, { event: 'credits.low-balance' })
  // Linked only now: no alert of credits was sent to it.
  group = world.chat(id, owner)
  await group.say(`/start@${BOT_NAME} ${await world.groupCode('alice')}`)
  await group.press('Link this chat')
})
afterAll(() => world.close())

test('a private chat shows what a group does not', async () => {
  const ann = await world.linked('alice')
  await ann.say(`/watches ${credits}`)
  expect(ann.last().text).toMatch(BALANCE)
  await ann.say('/status')
  expect(ann.last().text).toMatch(BALANCE)
  await ann.say(`/watches ${node}`)
  await ann.press('Recipients')
  expect(withoutJoiners(ann.last().text)).toContain(ADDRESS)
})

test('no command shows a group the credits or the other recipients', async () => {
  const commands = REGISTRY.flatMap((feature) => feature.commands.map(({ name }) => name))
  for (const name of [...commands, 'start', `watches ${credits}`, `watches ${node}`, 'alerts 1']) {
    await group.say(`/${name.replace(/^\w+/, (word) => `${word}@${BOT_NAME}`)}`)
  }
  expect(everything()).toContain('Treasury')
  expect(everything()).not.toMatch(BALANCE)
  expect(everything()).not.toContain(ADDRESS)
})

test('a watch of credits, and an alert of it, are said to be private', async () => {
  await group.say(`/watches ${credits}`)
  expect(group.last().text).toBe(PRIVATE)
  expect(group.last().keyboard).toMatchObject([[{ url: linkTo(`w${credits}`) }]])
  const { data } = await world.as('alice', listAlerts, { query: { watchId: String(credits) } })
  const alertId = data[0]?.id
  await group.say('/alerts')
  expect(group.last().text).not.toContain('Own')
  await group.say(`/alerts ${data[0]?.incidentId}`)
  expect(group.last().text).toBe(PRIVATE)
  expect(group.last().keyboard).toMatchObject([[{ url: linkTo(`a${alertId}`) }]])
  await group.say('/watches')
  expect(await ledTo(packed('watch.card', { id: credits }))).toBe(linkTo(`w${credits}`))
  expect(await ledTo(packed('alert.card', { id: Number(alertId) }))).toBe(linkTo(`a${alertId}`))
})

test('the other recipients are shown in private chats only, and a test names no address', async () => {
  await group.say(`/watches ${node}`)
  for (const data of [
    packed('watch.who', { id: node, page: 1 }),
    packed('watch.whoAll', { id: node }),
    packed('watch.whoFlip', { id: node, recipient: 1 }),
    packed('watch.esc', { id: node }),
  ]) {
    expect(await ledTo(data)).toBe(linkTo(`w${node}`))
  }
  await group.press('More')
  await group.press('Test')
  expect(group.last().text).toContain('webhook')
  await group.press('All recipients')
  expect(group.last().text).toMatch(/webhook.*: /)
  expect(everything()).not.toContain(ADDRESS)
})
