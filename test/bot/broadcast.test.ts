import { afterAll, beforeAll, expect, test } from 'vitest'
import { packed } from '#src/actions/codec.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { acknowledge, listAlerts } from '#src/operations/rest/alerts.ts'
import { listRecipients } from '#src/operations/rest/recipients.ts'
import { type BotWorld, botWorld, type TestChat, walletOf } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'

/** Channels of Telegram as recipients: from the right to post there, over an alert that everybody reads, to its end. */

const COMMIT = 'fsp.ftso-commit'
const REVEAL = 'fsp.ftso-reveal'
const PROVIDER = '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE'

let world: BotWorld
let alerts: ReturnType<typeof alertsIn>
let ann: TestChat

beforeAll(async () => {
  world = await botWorld()
  alerts = alertsIn(world)
  ann = world.person('en', 'Ann')
  await ann.say(`/start ${await world.linkCode('alice')}`)
  await ann.press('Link this chat')
})
afterAll(() => world.close())

const caller = () =>
  ({ wallet: walletOf('alice'), scopes: ['read', 'write'], via: 'http' }) as const

/** A channel of a person, in which the bot is not yet. */
function channelOf(owner: number, title: string, ...others: readonly number[]) {
  const members = [owner, ...others]
  return world.telegram.group({ title, type: 'channel', members, admins: [owner] }).id
}

async function recipient(name: string) {
  const { output } = await invoke(world.app, listRecipients, caller(), {})
  return output.data.find((one) => one.name === name)
}

/** Links a new channel, and chooses all watches for it. */
async function linkedChannel(title: string, ...others: readonly number[]) {
  const id = channelOf(ann.id, title, ...others)
  world.telegram.addBot(id, { from: ann.id, admin: true })
  await world.settle()
  await ann.press('Link this channel')
  return id
}

/** A watch of a provider that names only this channel. */
async function heardWatch(label: string, title: string) {
  const { id = 0 } = (await recipient(title)) ?? {}
  const target = { provider: PROVIDER }
  const named = { type: 'provider-fsp', target, recipientIds: [id] }
  return await world.addWatch('alice', { label, ...named })
}

const posts = (id: number) => world.telegram.messages(id).filter(({ service }) => !service)

test('a person makes the bot an administrator, links the channel, and everybody reads its alerts', async () => {
  const id = channelOf(ann.id, 'Node status')
  world.telegram.addBot(id, { from: ann.id, admin: true })
  await world.settle()
  expect(ann.last().text).toContain('Node status')
  expect(posts(id)).toEqual([])
  expect(await recipient('Node status')).toBeUndefined()
  const before = await world.addWatch('alice', { label: 'Private', type: 'provider-fsp' })
  await ann.press('Link this channel')
  const linked = await recipient('Node status')
  expect(linked).toMatchObject({ channel: 'telegram', default: false, status: 'active' })
  // Watches that do not name the channel stay private.
  await alerts.fire(before, { event: COMMIT })
  expect(posts(id)).toEqual([])

  const watch = await heardWatch('Node A', 'Node status')
  world.clock.advance(120)
  await alerts.fire(watch, { event: COMMIT, severity: 'critical' })
  const [post] = posts(id)
  expect(post?.text).toContain('Node A')
  // Nothing acts, and no link leads to a page for recipients.
  const buttons = post?.keyboard.flat() ?? []
  expect(buttons.filter((button) => button.callback_data !== undefined)).toEqual([])
  expect(JSON.stringify(post)).not.toMatch(/\/a\/|start=/)
})

test('a post shows that an alert was acknowledged, but neither by whom nor the note', async () => {
  const id = await linkedChannel('Quiet status')
  const watch = await heardWatch('Node B', 'Quiet status')
  world.clock.advance(120)
  await alerts.fire(watch, { event: COMMIT, severity: 'critical' })
  const { output } = await invoke(world.app, listAlerts, caller(), { query: { limit: '1' } })
  const alertId = String(output.data[0]?.id)
  await world.database.sql`update alerts set acknowledged_by = 'Chloé' where id = ${alertId}`
  await invoke(world.app, acknowledge, caller(), {
    params: { id: alertId },
    body: { note: 'our secret plan' },
  })
  await world.database.sql`update alerts set acknowledged_by = 'Chloé' where id = ${alertId}`
  await alerts.deliver()
  const text = posts(id).at(-1)?.text ?? ''
  expect(text).toContain('acknowledged')
  expect(text).not.toContain('Chloé')
  expect(text).not.toContain('secret')
})

test('who presses below a post with forged data changes nothing', async () => {
  const stranger = world.telegram.person({ firstName: 'Eve', languageCode: 'en', started: true }).id
  const id = await linkedChannel('Open status', stranger)
  const watch = await heardWatch('Node C', 'Open status')
  world.clock.advance(120)
  await alerts.fire(watch, { event: COMMIT, severity: 'critical' })
  const { output } = await invoke(world.app, listAlerts, caller(), { query: { limit: '1' } })
  const alertId = output.data[0]?.id ?? 0
  const message = posts(id).at(-1)?.id ?? 0
  for (const data of [
    packed('alert.ack', { id: alertId }),
    packed('alert.mute', { id: alertId, duration: 'rec' }),
    packed('rec.channel', { chat: id }),
    'nonsense',
  ]) {
    for (const from of [stranger, ann.id]) {
      const press = world.telegram.pressRaw(id, message, data, { from })
      await world.settle()
      expect((await press.answer()).text).toBe('')
    }
  }
  const [row] = await world.database.sql`select state, muted_at from alerts where id = ${alertId}`
  expect(row).toEqual({ state: 'firing', muted_at: null })
  // Posts of the channel itself are no commands.
  world.telegram.send(id, '/stop', { from: ann.id })
  await world.settle()
  expect((await recipient('Open status'))?.status).toBe('active')
})

test('only an administrator of the channel links it, and only the own channel is offered', async () => {
  const bo = world.person('en', 'Bo')
  await bo.say(`/start ${await world.linkCode('bob')}`)
  await bo.press('Link this chat')
  const id = channelOf(ann.id, 'Ann’s channel', bo.id)
  world.telegram.addBot(id, { from: ann.id, admin: true })
  await world.settle()
  expect(bo.last().text).not.toContain('Ann’s channel')
  const { id: below } = bo.last()
  const press = world.telegram.pressRaw(bo.id, below, packed('rec.channel', { chat: id }))
  await world.settle()
  await press.answer()
  expect(bo.last().text).toContain('Only an administrator of the channel')
  // Nor does an administrator who may not post there: the alerts of his watches would be posts with words of his.
  world.telegram.mute(id, bo.id)
  const again = world.telegram.pressRaw(bo.id, below, packed('rec.channel', { chat: id }))
  await world.settle()
  await again.answer()
  const rows = await world.database.sql`select 1 from recipients where chat_id = ${id}`
  expect(rows).toHaveLength(0)
  // A person without a wallet is not asked.
  const cy = world.person('en', 'Cy')
  await cy.say('/start')
  const count = cy.all().length
  world.telegram.addBot(channelOf(cy.id, 'Cy’s channel'), { from: cy.id, admin: true })
  await world.settle()
  expect(cy.all()).toHaveLength(count)
})

test('a channel ends when it removes the bot, and pauses while the bot may not post', async () => {
  const id = await linkedChannel('Short status')
  const watch = await heardWatch('Node D', 'Short status')
  world.telegram.mute(id)
  await world.settle()
  expect(await recipient('Short status')).toMatchObject({
    ...{ status: 'blocked', statusReason: 'no_rights' },
  })
  world.telegram.promote(id)
  await world.settle()
  expect((await recipient('Short status'))?.status).toBe('active')
  world.telegram.kick(id)
  await world.settle()
  expect(await recipient('Short status')).toMatchObject({
    ...{ status: 'blocked', statusReason: 'kicked' },
  })
  world.clock.advance(120)
  await alerts.fire(watch, { event: REVEAL, severity: 'critical' })
  expect(posts(id)).toEqual([])
  // It must agree before it gets alerts again.
  world.telegram.addBot(id, { from: ann.id, admin: true })
  await world.settle()
  expect((await recipient('Short status'))?.status).toBe('blocked')
  await ann.press('Link this channel')
  expect((await recipient('Short status'))?.status).toBe('active')
})
