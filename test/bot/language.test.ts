import { afterAll, beforeAll, expect, test } from 'vitest'
import { packed } from '#src/actions/codec.ts'
import { translate } from '#src/i18n/translate.ts'
import { LOCALES, type Locale, localeName } from '#src/kernel/locale.ts'
import { listChatLinks } from '#src/recipients/chats.ts'
import { type BotWorld, botWorld, type TestChat } from '../support/bot.ts'

let world: BotWorld

beforeAll(async () => {
  world = await botWorld()
})
afterAll(() => world.close())

/** Chooses a language in a chat. */
async function choose(chat: TestChat, locale: Locale): Promise<void> {
  await chat.say('language')
  await chat.press(packed('settings.langSet', { locale }))
}

test('offers every language in its own name and marks the one in use', async () => {
  const ann = world.person()
  await ann.say('/language')
  const labels = ann.labels().flat()
  for (const locale of LOCALES) {
    const mark = locale === 'en' ? '✓ ' : ''
    expect(labels).toContain(mark + localeName(locale))
  }
  expect(ann.labels().at(-1)).toEqual(['‹ Menu'])
})

test.each(LOCALES)('shows the screen in %s, and later ones too', async (locale) => {
  const ann = world.person(locale === 'en' ? 'de' : 'en')
  await ann.say('/language')
  await ann.press(packed('settings.langSet', { locale }))
  expect(ann.labels().flat()).toContain(`✓ ${localeName(locale)}`)
  expect(ann.last().text).toContain(localeName(locale))
  await ann.say('/cancel')
  expect(ann.last().text).toBe(translate(locale, 'bot:cancel.nothing'))
})

test('leads back to the settings of a linked chat', async () => {
  const ann = world.person()
  await ann.say(`/start ${await world.linkCode('bob')}`)
  await ann.press('Link this chat')
  await ann.say('/settings')
  await ann.press('🌐 Language')
  expect(ann.labels().at(-1)).toEqual(['‹ Settings', 'Time zone'])
  await ann.press('‹ Settings')
  expect(ann.labels().flat()).toContain('Recipients')
})

test('changes the language of the alerts of a linked chat', async () => {
  const ann = world.person()
  await ann.say(`/start ${await world.linkCode('alice')}`)
  await ann.press('Link this chat')
  await choose(ann, 'de')
  expect(await listChatLinks(world.app, ann.id)).toMatchObject([{ locale: 'de' }])
})

test('can be changed in a chat that only receives', async () => {
  const ann = world.person()
  await ann.say(`/start ${await world.linkCode('alice', ['read'])}`)
  await ann.press('Link this chat')
  await choose(ann, 'fr')
  expect(await listChatLinks(world.app, ann.id)).toMatchObject([{ locale: 'fr' }])
})

test('sets a menu for the chat, and removes it when the app has that language anyway', async () => {
  const ann = world.person('de')
  await choose(ann, 'fr')
  const menu = world.telegram.commandsFor(ann.id, ann.id)
  expect(menu).toContainEqual({
    command: 'watches',
    description: translate('fr', 'bot:command.watches'),
  })
  await choose(ann, 'de')
  expect(world.telegram.lastCall('deleteMyCommands')?.refused).toBeUndefined()
  expect(world.telegram.commandsFor(ann.id, ann.id)).toEqual([])
})

test('is changed even when Telegram refuses the menu', async () => {
  const ann = world.person()
  world.telegram.failNext('setMyCommands', { error_code: 400, description: 'Bad Request: no' })
  await choose(ann, 'fr')
  expect(ann.labels().flat()).toContain('✓ Français')
})
