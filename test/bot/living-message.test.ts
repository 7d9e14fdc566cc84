import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BotWorld, botWorld, type TestChat } from '../support/bot.ts'

let world: BotWorld

beforeAll(async () => {
  world = await botWorld()
})
afterAll(() => world.close())

const withButtons = (chat: TestChat) =>
  chat.all().flatMap(({ id, keyboard }) => (keyboard.length > 0 ? [id] : []))

async function linked() {
  const ann = world.person()
  await ann.say(`/start ${await world.linkCode('alice')}`)
  await ann.press('Link this chat')
  return ann
}

test('a command starts a new message and takes the buttons off the one before', async () => {
  const ann = await linked()
  for (const text of ['/start', '/watches', '/language', '/help', 'hello']) {
    await ann.say(text)
    expect(withButtons(ann)).toEqual([ann.last().id])
  }
})

test('a press changes its own message and sends none', async () => {
  const ann = await linked()
  await ann.say('/start')
  const count = ann.all().length
  for (const label of ['Watches', '‹ Menu', 'Settings', '‹ Menu']) await ann.press(label)
  expect(ann.all()).toHaveLength(count)
})

test('the card of a link keeps its buttons below other screens, and is the current message after its confirmation', async () => {
  const ann = await linked()
  await ann.say('/watches')
  await ann.say(`/start ${await world.linkCode('bob')}`)
  const card = ann.last().id
  await ann.say('/help')
  expect(withButtons(ann)).toEqual([card, ann.last().id])
  await ann.press('Link this chat')
  expect(withButtons(ann)).toEqual([card])
})

test('a deleted message does not prevent the next', async () => {
  const ann = await linked()
  await ann.say('/watches')
  world.telegram.failNext('editMessageReplyMarkup', {
    error_code: 400,
    description: 'Bad Request: message to edit not found',
  })
  await ann.say('/help')
  expect(ann.last().text).toContain('How it works')
})

test('a screen that a group member opens leaves the buttons of the administrator’s screen', async () => {
  const [owner = 0, member = 0] = ['Ann', 'Cy'].map(
    (firstName) => world.telegram.person({ firstName, languageCode: 'en', started: true }).id,
  )
  const { id } = world.telegram.group({ title: 'Crew', members: [owner, member] })
  const group = world.chat(id, owner)
  await group.say(`/start ${await world.groupCode('carol')}`)
  await group.press('Link this chat')
  await group.say('/watches')
  const list = group.last().id
  await world.chat(id, member).say('/watches')
  expect(withButtons(group)).toEqual([list])
})
