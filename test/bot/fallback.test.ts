import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packed } from '#src/actions/codec.ts'
import { listRecipients } from '#src/operations/rest/recipients.ts'
import { type BotWorld, botWorld, walletOf } from '../support/bot.ts'

let world: BotWorld

beforeAll(async () => {
  world = await botWorld({ SMTP_URL: 'smtp://127.0.0.1:1', EMAIL_FROM: 'W <w@example.org>' })
})
afterAll(() => world.close())

async function linked() {
  const ann = world.person()
  await ann.say(`/start ${await world.linkCode('alice')}`)
  await ann.press('Link this chat')
  return ann
}

test('/cancel without an open question says that there is nothing to cancel', async () => {
  const ann = world.person()
  await ann.say('/cancel')
  expect(ann.last().text).toBe('There is nothing to cancel.')
})

test('a mailbox is offered as a recipient of alerts, and added with one press', async () => {
  const ann = await linked()
  await ann.say('Ops+alerts@example.org')
  expect(ann.last().text).toMatch(
    /^Send alerts to \u2068Ops\+alerts@\u2060example\.\u2060org\u2069, too\?/,
  )
  expect(ann.labels()[0]).toEqual(['Add as recipient'])
  await ann.press('Add as recipient')
  expect(ann.last().text).toContain('A confirmation e-mail was sent to')
  const { data } = await world.as('alice', listRecipients)
  expect(data).toContainEqual(
    expect.objectContaining({ channel: 'email', name: 'Ops+alerts@example.org' }),
  )
})

test('a mailbox that is too long for a button is asked for once more', async () => {
  const ann = await linked()
  await ann.say(`${'a'.repeat(60)}@example.org`)
  await ann.press('Add as recipient')
  expect(ann.last().text).toContain('Which address?')
})

test.each([
  'ops@home',
  'two words@example.org',
  '@example.org',
  'a@b@example.org',
])('%s is no mailbox', async (text) => {
  const ann = await linked()
  await ann.say(text)
  expect(ann.last().text).toMatch(/^Not understood\./)
})

test('an unknown text or command is answered with what can be sent', async () => {
  const ann = await linked()
  for (const text of ['zzz', '/nonsense', '0xyz', '/', `/nonsense ${walletOf('bob')}`]) {
    await ann.say('/menu')
    await ann.say(text)
    expect(ann.last().text).toMatch(/^Not understood\. Send an address/)
    expect(ann.labels()).toEqual([
      ['Watches', 'New watch'],
      ['‹ Menu', 'Help'],
    ])
  }
  await ann.press('Help')
  expect(ann.last().text).toContain('How it works')
})

test('the second text in a row that says nothing gets one line, without buttons', async () => {
  const ann = await world.linked('bob')
  await ann.say('zzz')
  expect(ann.last().text).toMatch(/^Not understood\./)
  await ann.say('zzzz')
  expect(ann.last().text).toBe('Still not understood. Send “help” to see what works here.')
  expect(ann.last().keyboard).toEqual([])
  await ann.say('help')
  expect(ann.last().text).toContain('How it works')
  await ann.say('zzz')
  expect(ann.last().text).toMatch(/^Not understood\./)
})

test('everyday words are understood without a slash', async () => {
  const ann = await world.linked('bob')
  for (const [text, shown] of [
    ['help', 'How it works'],
    ['mute', 'This chat'],
    ['settings', 'Settings'],
    ['how much does it cost?', '500 credits'],
    ['price', '500 credits'],
    ['thanks', 'You’re welcome.'],
  ] as const) {
    await ann.say(text)
    expect(ann.last().text, text).toContain(shown)
  }
})

test('a text after an abandoned form of a watch offers to resume that form', async () => {
  const ann = await linked()
  await world.giveSlots('alice', 1)
  await ann.say('/new balance')
  await ann.say('/menu')
  await ann.say('500')
  expect(ann.last().text).toMatch(/^Not understood\./)
  expect(ann.labels()[0]).toEqual(['Resume: Wallet balance'])
  await ann.press('Resume: Wallet balance')
  expect(ann.last().text).toContain('New watch · Wallet balance · 1/3')
  await ann.say('/cancel')
})

test('a text in a chat that is not linked says what can be sent, and offers to connect a wallet', async () => {
  const ann = world.person()
  for (const text of ['zzz', '/nonsense']) {
    await ann.say('/menu')
    await ann.say(text)
    expect(ann.last().text).toMatch(/^Not understood\. Send an address, .*, or connect a wallet\./)
    expect(ann.labels()).toEqual([['Connect wallet'], ['‹ Menu', 'Help']])
  }
})

describe('an address without a command', () => {
  test.each([
    ['alone', walletOf('bob')],
    ['in lower case', walletOf('bob').toLowerCase()],
    [
      'in the link of an explorer',
      `https://flare-explorer.flare.network/address/${walletOf('bob')}?x`,
    ],
  ])('%s can be watched, or looked at as a provider, while the chain does not answer', async (_how, text) => {
    const ann = await linked()
    await ann.say(text)
    const silent = '⚠️ The chain is not responding right now. Try again in a minute.'
    expect(ann.last().text).toBe(`${walletOf('bob')}\n${silent}`)
    expect(ann.labels()).toEqual([
      ['Watch its balance'],
      ['Provider status'],
      ['Retry'],
      ['‹ Menu'],
    ])
    await ann.press('Retry')
    expect(ann.last().text).toBe(`${walletOf('bob')}\n${silent}`)
  })

  test('starts a balance watch of that address', async () => {
    await world.giveSlots('carol', 1)
    const ann = await world.linked('carol')
    await ann.say(walletOf('bob'))
    await ann.press('Watch its balance')
    expect(ann.last().text).toContain('New watch · Wallet balance')
    expect(ann.last().text).toContain(walletOf('bob').slice(0, 6))
  })

  test('can only be looked up in a chat that only receives', async () => {
    const ann = await world.linked('carol', ['read'])
    await ann.say(walletOf('bob'))
    expect(ann.labels()).toEqual([['Provider status'], ['Retry'], ['‹ Menu']])
  })

  test('that is mistyped, or one of two, is refused with the reason', async () => {
    const ann = await linked()
    await ann.say(`${walletOf('bob')} ${walletOf('carol')}`)
    expect(ann.last().text).toBe('⚠️ These are two addresses. Only one fits here.')
    const digits = walletOf('bob').slice(2)
    const swapped = [...digits].map((character) =>
      character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase(),
    )
    await ann.say(`0x${swapped.join('')}`)
    expect(ann.last().text).toMatch(/^⚠️ One character of this address seems wrong/)
    expect(ann.labels().at(-1)).toEqual(['‹ Menu', 'Help'])
  })

  test('that is too short is refused with its length, with and without a wallet', async () => {
    for (const ann of [await world.linked('carol'), world.person()]) {
      await ann.say('0x7099')
      expect(ann.last().text).toContain('⚠️ An address has 40 characters after 0x; this has 4.')
    }
  })
})

test('a press without the right for it offers the page that gives that right, once', async () => {
  const ann = await world.linked('alice', ['read'])
  const id = await world.addWatch('alice', { label: 'Treasury' })
  await ann.say('/watches')
  for (const _twice of [1, 2]) {
    world.telegram.pressRaw(ann.id, ann.last().id, packed('watch.pause', { id }))
    await world.settle()
    expect(ann.last().text).toMatch(
      /^⚠️ This chat is not allowed to do that\. Sign once on the page to allow it\.\n/,
    )
    expect(ann.last().text).toContain('Treasury')
    expect(
      ann
        .labels()
        .flat()
        .filter((label) => label === 'Allow'),
    ).toHaveLength(1)
  }
  await ann.press('Allow')
  expect(ann.last().text).toContain('It can spend credits only if you allow that on the page.')
})

test.each([
  'photo',
  'document',
  'voice',
  'sticker',
] as const)('a %s is answered with a request for text', async (kind) => {
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
])('a button %s gets a toast and a new start screen, and its message loses all buttons', async (_what, data) => {
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

test('a press on a message that no longer exists is answered with a new screen', async () => {
  const ann = await linked()
  const press = world.telegram.pressRaw(ann.id, 999_999, '1:home')
  await world.settle()
  await press.answer()
  expect(ann.last().text).toContain('Watchdog · 0x')
})

test('more than 30 presses at once are answered with a request to wait', async () => {
  const ann = await linked()
  await ann.say('/watches')
  world.clock.advance(60)
  const { id } = ann.last()
  const presses = Array.from({ length: 35 }, () => world.telegram.pressRaw(ann.id, id, '1:none'))
  await world.settle()
  const answers = await Promise.all(presses.map((press) => press.answer()))
  expect(answers.filter(({ text }) => text === 'Too many taps. Wait a moment.')).toHaveLength(5)
  world.clock.advance(90)
  const later = world.telegram.pressRaw(ann.id, id, '1:none')
  await world.settle()
  expect((await later.answer()).text).toBe('')
})

test('every press of the tests above was answered exactly once', async () => {
  const { calls, answers } = world.telegram
  const answered = calls.filter(({ method }) => method === 'answerCallbackQuery')
  expect(answered.filter(({ refused }) => refused !== undefined)).toEqual([])
  expect(new Set(answers.map(({ queryId }) => queryId)).size).toBe(answers.length)
})

test('a person who writes too fast is answered once, without further calls to Telegram', async () => {
  const ann = await world.linked('alice')
  world.clock.advance(120)
  for (let index = 0; index < 60; index += 1) world.telegram.send(ann.id, '/help')
  await world.settle()
  const texts = ann.all().map(({ text }) => text)
  expect(texts.filter((text) => text === 'Too many taps. Wait a moment.')).toHaveLength(1)
  expect(texts.length).toBeLessThan(40)
  world.clock.advance(120)
  await ann.say('/help')
  expect(ann.all()).toHaveLength(texts.length + 1)
})
