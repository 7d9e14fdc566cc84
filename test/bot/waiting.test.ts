import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PATIENCE_MS } from '#bot/core/middleware/answering.ts'
import { packed } from '#src/actions/codec.ts'
import { createRecipient } from '#src/recipients/service.ts'
import { createApi } from '#src/telegram/api.ts'
import { type BotWorld, botWorld, type TestChat, walletOf } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'
import { BOT_TOKEN } from '../support/harness.ts'
import { runOutsideTransaction } from '../support/transaction-guard.ts'

let world: BotWorld
let ann: TestChat
let id: number

beforeAll(async () => {
  world = await botWorld({}, { patienceMs: PATIENCE_MS })
  ann = await world.linked('alice')
  id = await world.addWatch('alice', { label: 'Treasury' })
})
afterAll(() => world.close())

/**
 * Starts an action while another transaction holds the lock of the watch's row, until `look` ends.
 */
async function whileHeld(start: () => Promise<unknown>, look: () => Promise<unknown>) {
  let work: Promise<unknown> = Promise.resolve()
  await world.app.db.transaction(async (tx) => {
    await tx.execute(sql`select id from watches where id = ${id} for update`)
    work = runOutsideTransaction(start)
    await runOutsideTransaction(look)
  })
  await work
}

test('a press that takes long is answered at once, and its message shows that it is handled', async () => {
  await ann.say(`/watches ${id}`)
  await ann.press('More')
  const card = ann.last()
  const press = world.telegram.press(ann.id, card.id, 'Pause')
  await whileHeld(
    () => world.settle(),
    async () => {
      await world.telegram.waitFor(() => ann.labels().flat().includes('⏳ …'))
      expect(await press.answer()).toMatchObject({ text: '' })
      expect(ann.last().text).toBe(card.text)
    },
  )
  expect(ann.labels()[0]).toEqual(['Alerts', 'Resume'])
  expect(ann.last().text).toContain('✓ Watch paused.')
})

test('a message that was not changed gets its buttons back', async () => {
  const group = world.telegram.group({ title: 'Crew', members: [ann.id], admins: [ann.id] })
  const inGroup = world.chat(group.id, ann.id)
  await inGroup.say(`/start ${await world.groupCode('alice')}`)
  await inGroup.press('Link this chat')
  await inGroup.say(`/watches ${id}`)
  const before = inGroup.labels()
  world.telegram.failNext({ method: 'getChatMember' }, 'hang')
  world.telegram.press(group.id, inGroup.last().id, 'Resume')
  const handling = world.settle()
  await world.telegram.waitFor(() => inGroup.labels().flat().includes('⏳ …'))
  world.telegram.release()
  await handling
  await world.telegram.waitFor(() => inGroup.labels().length === before.length)
  expect(inGroup.labels()).toEqual(before)
})

test('a text that takes long to handle shows that the bot is typing', async () => {
  await ann.say(`/watches ${id}`)
  await ann.press('Rule')
  await ann.press('Threshold')
  world.telegram.send(ann.id, '250')
  await whileHeld(
    () => world.settle(),
    () => world.telegram.waitFor(() => world.telegram.lastCall('sendChatAction')),
  )
  expect(ann.last().text).toContain('✓ Threshold: 250\u00a0FLR')
})

test('a text that is handled quickly shows no typing', async () => {
  const before = world.telegram.calls.length
  await ann.say('/help')
  const methods = world.telegram.calls.slice(before).map(({ method }) => method)
  expect(methods).not.toContain('sendChatAction')
})

test('a typed answer is shown below a notice that came meanwhile, not above it', async () => {
  const bo = await world.linked('bob')
  await bo.say('/settings')
  await bo.press('🌐 Language')
  await bo.press('Time zone')
  const question = bo.last().id
  world.clock.advance(5)
  const app = world.service.app
  await createRecipient(
    app,
    { wallet: walletOf('bob'), scopes: ['read', 'write'], via: 'http' },
    {
      name: 'Ops hook',
      channel: 'webhook',
      url: 'https://hooks.example.org/ops',
    },
  )
  await alertsIn(world).deliver()
  const notice = bo.last().id
  expect(notice).toBeGreaterThan(question)
  await bo.say('Berlin')
  expect(bo.last().text).toContain('Europe/Berlin')
  expect(bo.last().id).toBeGreaterThan(notice)
  expect(bo.all().map((message) => message.id)).not.toContain(question)
})

/** An alert in Ann's chat. @returns the id of its message */
async function alerted(): Promise<number> {
  world.clock.advance(3600)
  await alertsIn(world).fire(id, { event: 'wallet-balance.moved' })
  expect(ann.last().text).toContain('sent 12,500')
  return ann.last().id
}

/** Presses a button of a message above an alert. @returns the newest message */
async function pressAbove(messageId: number, button: string) {
  world.telegram.press(ann.id, messageId, button)
  await world.settle()
  expect(ann.all().map((message) => message.id)).not.toContain(messageId)
  return ann.last()
}

test('a form begins below an alert that came meanwhile, whichever screen it follows', async () => {
  await world.giveSlots('alice', 2)
  await ann.say('/menu')
  const menu = ann.last().id
  const first = await alerted()
  const types = await pressAbove(menu, 'New watch')
  expect(types.id).toBeGreaterThan(first)
  expect(types.text).toContain('What should be watched?')
  await ann.say(`/watches ${id}`)
  await ann.press('Rule')
  const card = ann.last().id
  const second = await alerted()
  const question = await pressAbove(card, 'Threshold')
  expect(question.id).toBeGreaterThan(second)
  await ann.say('300')
  expect(ann.last().text).toContain('✓ Threshold: 300')
})

test.each([
  ['that is too old to be deleted loses its buttons', "message can't be deleted for everyone", 1],
  ['that was deleted meanwhile is left alone', 'message to delete not found', 0],
])('a screen %s when a form begins below an alert', async (_rule, reason, removals) => {
  await ann.say(`/watches ${id}`)
  await ann.press('Rule')
  const card = ann.last().id
  const alert = await alerted()
  const before = world.telegram.calls.length
  const refusal = { error_code: 400, description: `Bad Request: ${reason}` }
  world.telegram.failNext('deleteMessage', refusal)
  world.telegram.press(ann.id, card, 'Threshold')
  await world.settle()
  const question = ann.last()
  expect(question.id).toBeGreaterThan(alert)
  expect(question.text).toContain('Threshold')
  expect(question.keyboard).not.toEqual([])
  const methods = world.telegram.calls.slice(before).map(({ method }) => method)
  expect(methods.filter((method) => method === 'editMessageReplyMarkup')).toHaveLength(removals)
  const old = ann.all().find((message) => message.id === card)
  expect(old?.keyboard.length === 0).toBe(removals === 1)
})

test.each([
  ['is deleted', undefined],
  ['loses its buttons when it is too old to be deleted', "message can't be deleted for everyone"],
])('a message that its own button closes %s', async (_rule, reason) => {
  const rows = [[{ text: 'It was me', callback_data: packed('close') }]]
  const api = createApi({ token: BOT_TOKEN, apiRoot: world.telegram.url }, 10)
  const options = { reply_markup: { inline_keyboard: rows } }
  const { message_id } = await api.sendMessage(ann.id, 'A mailbox was added', options)
  if (reason !== undefined) {
    const refusal = { error_code: 400, description: `Bad Request: ${reason}` }
    world.telegram.failNext('deleteMessage', refusal)
  }
  await ann.press('It was me')
  const left = ann.all().find((message) => message.id === message_id)
  expect(left?.keyboard).toEqual(reason === undefined ? undefined : [])
})

test('the first press on the screen of a question continues below an alert, not above it', async () => {
  await ann.say('/settings')
  await ann.press('🌐 Language')
  await ann.press('Time zone')
  const question = ann.last().id
  const alert = await alerted()
  const next = await pressAbove(question, '‹ Settings')
  expect(next.id).toBeGreaterThan(alert)
  expect(next.text).toContain('Settings')
})

test('a form continues below an alert that came meanwhile, not above it', async () => {
  await world.giveSlots('alice', 2)
  await ann.say('/new wallet')
  const form = ann.last().id
  await ann.say(walletOf('bob'))
  await ann.press('10\u00a0FLR')
  expect(ann.last().id).toBe(form)
  await alerted()
  const alert = ann.last()
  const press = world.telegram.press(ann.id, form, 'Severity: all')
  await world.settle()
  expect(await press.answer()).toMatchObject({ text: '', showAlert: false })
  const next = ann.last()
  expect(next.id).toBeGreaterThan(alert.id)
  expect(next.text).toContain('Alert: a change of 10')
  expect(ann.labels().flat()).not.toContain('Severity: all')
  expect(ann.all().map((message) => message.id)).not.toContain(form)
  // The alert keeps its buttons, and the form its place while nothing newer comes.
  const shown = ann.all().find((message) => message.id === alert.id)
  expect(shown?.keyboard).toEqual(alert.keyboard)
  await ann.press('✕ Cancel')
  expect(ann.last().id).toBe(next.id)
})
