import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BotWorld, botWorld, menuNames } from '../support/bot.ts'

let world: BotWorld

beforeAll(async () => {
  world = await botWorld()
})
afterAll(() => world.close())

async function linked() {
  const ann = world.person()
  await ann.say(`/start ${await world.linkCode('alice')}`)
  await ann.press('Link this chat')
  return ann
}

test('/help tells what the bot does, every command it has, and nothing it has not', async () => {
  const ann = world.person()
  await ann.say('/help')
  expect(ann.last().text).toContain('How it works')
  expect(ann.last().text).toContain('/watches: Your watches')
  expect(ann.last().text).toContain('/language: Change the language')
  expect(ann.last().text).toContain('never asks for a private key')
  expect(ann.last().text.match(/^\/\w+/gm)).toEqual(menuNames('private').map((name) => `/${name}`))
  await ann.press('‹ Menu')
  expect(ann.last().text).toContain('Watchdog watches')
})

test('/cancel says that nothing is open', async () => {
  const ann = world.person()
  await ann.say('/cancel')
  expect(ann.last().text).toBe('Nothing is open.')
})

test('a text or a command that means nothing is answered with what to do', async () => {
  const ann = await linked()
  for (const text of ['hello', '/nonsense', '0x0000000000000000000000000000000000000001', '/']) {
    await ann.say(text)
    expect(ann.last().text).toMatch(/^Not understood\./)
    expect(ann.labels()).toEqual([['‹ Menu']])
  }
})

test.each([
  'photo',
  'document',
  'voice',
  'sticker',
] as const)('a %s is answered with a plea for text', async (kind) => {
  const ann = world.person()
  world.telegram.sendMedia(ann.id, kind)
  await world.settle()
  expect(ann.last().text).toBe('Send text, or use the buttons.')
})

test.each([
  ['forged', 'rm -rf'],
  ['of an older version', '0:home'],
  ['cut off', '1:watch.card:'],
  ['that is gone', '1:settings.gone:1'],
])('a button %s gets a toast and the fresh start, and is taken off its message', async (_what, data) => {
  const ann = await linked()
  await ann.say('/watches')
  const old = ann.last()
  const press = world.telegram.pressRaw(ann.id, old.id, data)
  await world.settle()
  expect(await press.answer()).toMatchObject({
    text: 'That button is from an older message.',
    showAlert: false,
  })
  expect(ann.all().find(({ id }) => id === old.id)).toMatchObject({ text: old.text, keyboard: [] })
  expect(ann.last().id).toBeGreaterThan(old.id)
  expect(ann.last().text).toContain('Watchdog · 0x')
})

test('an old button about a watch leads to its card, one about a foreign watch does not', async () => {
  const ann = await linked()
  const id = await world.addWatch('alice', { label: 'Treasury' })
  const foreign = await world.addWatch('bob', { label: 'Foreign' })
  await ann.say('/watches')
  world.telegram.pressRaw(ann.id, ann.last().id, `0:watch.gone:${id.toString(36)}`)
  await world.settle()
  expect(ann.last().text).toContain('🟢 \u2068Treasury\u2069')
  world.telegram.pressRaw(ann.id, ann.last().id, `0:watch.gone:${foreign.toString(36)}`)
  await world.settle()
  expect(ann.last().text).not.toContain('Foreign')
})

test('a press on a message that no longer exists is answered all the same', async () => {
  const ann = await linked()
  const press = world.telegram.pressRaw(ann.id, 999_999, '1:home')
  await world.settle()
  await press.answer()
  expect(ann.last().text).toContain('Watchdog · 0x')
})

test('a chat that presses without end is slowed down', async () => {
  const ann = await linked()
  await ann.say('/watches')
  world.clock.advance(60)
  const { id } = ann.last()
  const presses = Array.from({ length: 35 }, () => world.telegram.pressRaw(ann.id, id, '1:none'))
  await world.settle()
  const answers = await Promise.all(presses.map((press) => press.answer()))
  expect(answers.filter(({ text }) => text === 'Slower, please.')).toHaveLength(5)
  world.clock.advance(90)
  const later = world.telegram.pressRaw(ann.id, id, '1:none')
  await world.settle()
  expect((await later.answer()).text).toBe('')
})

test('a press is answered exactly once, whatever comes of it', async () => {
  const { calls, answers } = world.telegram
  const answered = calls.filter(({ method }) => method === 'answerCallbackQuery')
  expect(answered.filter(({ refused }) => refused !== undefined)).toEqual([])
  expect(new Set(answers.map(({ queryId }) => queryId)).size).toBe(answers.length)
})
