import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { packed } from '#src/actions/codec.ts'
import { createChallenge } from '#src/auth/service.ts'
import { translator } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { listWatches } from '#src/operations/rest/watches.ts'
import { listChatLinks } from '#src/recipients/chats.ts'
import { claimConnectCode, connectScopes, refuseConnectCode } from '#src/recipients/connect.ts'
import { type BotWorld, botWorld, type TestChat, walletOf } from '../support/bot.ts'
import { giveCredits } from '../support/credits.ts'
import { BOT_NAME } from '../support/harness.ts'
import { apiOf, notifyOutcomes } from '../support/live.ts'

let world: BotWorld

beforeAll(async () => {
  world = await botWorld({ PUBLIC_URL: 'https://watchdog.example.org' })
})
afterAll(() => world.close())

const FORMAT = /Check that the page shows this code:\n(\d\d\u00a0\d\d)\n/

/** The code of the link and the digits to compare in the newest message. */
function shown(ann: TestChat) {
  const [open] = ann.last().keyboard[0] ?? []
  const code = open?.url?.split('/connect/')[1] ?? ''
  return { code, match: FORMAT.exec(ann.last().text)?.[1]?.replace('\u00a0', ' ') ?? '' }
}

/** Signs on the page, after which the chat is notified. */
async function signOnPage(
  code: string,
  name: keyof typeof PEOPLE,
  { spend = false, timezone = 'Europe/Berlin' } = {},
  api = apiOf(world),
): Promise<void> {
  const { account } = PEOPLE[name]
  const asked = { wallet: account.address, scopes: [...connectScopes(spend)], label: undefined }
  const { message } = await createChallenge(world.app, asked)
  const signature = await account.signMessage({ message })
  await claimConnectCode(world.app, { code, message, signature, timezone })
  await notify(api)
}

const notify = (api = apiOf(world)) => notifyOutcomes(world, api)

describe('/connect', () => {
  test('shows a link to a page, digits to compare and the rights, with a new code each time', async () => {
    const ann = world.person()
    await ann.say('/start')
    await ann.press('Connect wallet')
    const { code, match } = shown(ann)
    expect(code).toMatch(/^[\w-]{22}$/)
    expect(match).toMatch(/^\d\d \d\d$/)
    expect(ann.last().text).toContain('It can spend credits only if you allow that on the page.')
    expect(ann.last().text).toContain('Valid until')
    expect(ann.labels()).toEqual([['Open the page'], ['Copy link', 'New code'], ['‹ Back']])
    const [copy] = ann.last().keyboard[1] ?? []
    expect(copy?.copy_text?.text).toBe(`https://watchdog.example.org/connect/${code}`)
    await ann.say('/connect')
    expect(shown(ann).code).not.toBe(code)
    await ann.say('/start connect')
    expect(shown(ann).code).toMatch(/^[\w-]{22}$/)
  })

  test('makes a new code, and the previous one no longer works', async () => {
    const ann = world.person()
    await ann.say('/connect')
    const { code } = shown(ann)
    await ann.press('New code')
    await expect(signOnPage(code, 'carol')).rejects.toThrow('link_not_valid')
    await signOnPage(shown(ann).code, 'carol')
    expect(ann.last().text).toContain('Connected')
  })

  test('is refused in a group with a link to the private chat', async () => {
    const ann = world.person()
    const { id } = world.telegram.group({ title: 'Crew', members: [ann.id], admins: [ann.id] })
    const crew = world.chat(id, ann.id)
    await crew.say('/connect')
    expect(crew.last().text).toContain('Only available in a private chat.')
    expect(crew.last().keyboard[0]?.[0]?.url).toBe(`https://t.me/${BOT_NAME}?start=connect`)
  })

  test('sent again says in the previous card that its code was replaced', async () => {
    const ann = world.person()
    await ann.say('/connect')
    const before = ann.last()
    await ann.say('/connect')
    const old = ann.all().find(({ id }) => id === before.id)
    expect(old?.text).toBe('A newer code has replaced this one. Nothing was linked.')
    expect(old?.keyboard).toEqual([])
    expect(ann.last().text).toMatch(/\d\d\u00a0\d\d/)
    await ann.press('New code')
    expect(ann.last().text).toMatch(/\d\d\u00a0\d\d/)
    expect(ann.all().filter(({ text }) => text.includes('has replaced'))).toHaveLength(1)
  })

  test.each(LOCALES)('is shown in %s', async (locale) => {
    const ann = world.person(locale === 'zh' ? 'zh-hans' : locale)
    await ann.say('/connect')
    expect(ann.last().text).toMatch(/\d\d\u00a0\d\d/)
    expect(ann.last().text).not.toContain('{{')
  })

  test.each(LOCALES)('asks to compare the code before signing, in %s', (locale) => {
    const t = translator(locale)
    const connect = t('bot:connect.steps', { code: '12 34' }).split('\n')
    const allow = t('bot:connect.allowSteps', { code: '12 34', wallet: '0xabcd' }).split('\n')
    const code = (line = '') => line.replace(/[\u200f\u2068\u2069]/g, '')
    expect(connect).toHaveLength(5)
    expect(code(connect[2])).toBe('12 34')
    expect(allow).toHaveLength(3)
    expect(code(allow[1])).toBe('12 34')
    expect(allow.findIndex((step) => step.includes('0xabcd'))).toBe(2)
  })
})

describe('a signature on the page', () => {
  test('is reported in the message that shows the code', async () => {
    const ann = world.person()
    await ann.say('/connect')
    const before = ann.last().id
    await signOnPage(shown(ann).code, 'bob')
    expect(ann.last().id).toBe(before)
    expect(ann.last().text).toContain(`Connected: ${PEOPLE.bob.account.address}`)
    expect(ann.last().text).toContain('receive alerts, manage watches')
    expect(ann.last().text).toContain('Times are shown in the Europe/Berlin time zone')
    const count = ann.all().length
    await notify()
    expect(ann.all()).toHaveLength(count)
  })

  test('is reported in a new message when the code is not in the newest one', async () => {
    const ann = world.person()
    await ann.say('/connect')
    const { code } = shown(ann)
    await ann.say('/help')
    await ann.say('/start')
    const before = ann.last().id
    await signOnPage(code, 'bob')
    expect(ann.last().id).toBeGreaterThan(before)
    expect(ann.last().text).toContain('Connected')
  })

  test('keeps the screens that the chat opened during the notification', async () => {
    const ann = await world.linked('bob', ['read', 'write'])
    await ann.say('/connect')
    const { code } = shown(ann)
    await ann.say('/help')
    await ann.say('/start')
    const api = apiOf(world)
    let wizard: number | undefined
    api.config.use(async (call, method, payload, signal) => {
      if (method === 'sendMessage' && wizard === undefined) {
        await ann.say('/new')
        wizard = ann.last().id
      }
      return call(method, payload, signal)
    })
    await signOnPage(code, 'bob', {}, api)
    expect(ann.last().text).toContain('Connected')
    const [chat] = await world.sql`
      select wizard_message_id as wizard, current_message_id as navigation from telegram_chats
      where id = ${ann.id}`
    expect(chat).toEqual({ wizard, navigation: ann.last().id })
  })

  test('offers the trial, and one press starts it and watches the wallet', async () => {
    const ann = world.person()
    await ann.say('/connect')
    await signOnPage(shown(ann).code, 'alice')
    expect(ann.last().text).toContain('Free trial: 1 watch for 14 days')
    expect(ann.last().text).toContain('By starting it, you accept the terms')
    await ann.press('Trial: watch my wallet')
    const created = ann.last().text
    expect(created).toMatch(/^✅ .*is now being watched\./)
    expect(created).toContain('Alert: a change of')
    expect(created).toContain('Your trial runs until')
    expect(ann.labels()[0]).toEqual(['Send a test alert'])
    const [link] = await listChatLinks(world.app, ann.id)
    expect(link?.scopes).toEqual(['read', 'write'])
    const caller = { wallet: PEOPLE.alice.account.address, scopes: ['read'], via: 'http' } as const
    const { output } = await invoke(world.app, listWatches, caller, { query: {} })
    expect(output.data).toMatchObject([
      { type: 'wallet-balance', target: { address: caller.wallet, asset: 'FLR' } },
    ])
    // Another chat of the same wallet finds the trial used and the watch there.
    const desk = world.person('en', 'Desk')
    await desk.say('/connect')
    await signOnPage(shown(desk).code, 'alice')
    expect(desk.last().text).not.toContain('Free trial')
    expect(desk.labels()[0]).toEqual(['Watches'])
  })

  test('that gives the right to spend is reported with that right', async () => {
    const ann = world.person()
    await ann.say('/connect')
    await signOnPage(shown(ann).code, 'carol', { spend: true })
    expect(ann.last().text).toContain('spend credits')
  })

  test('that lets the chat spend leads back to the quote it was asked for, also on the second try', async () => {
    await giveCredits(world.app, walletOf('carol'), 20_000)
    const ann = await world.linked('carol')
    const quote = { quantity: 3, periods: 6, renew: true }
    await ann.say('/slots')
    await ann.press('Add slots')
    await ann.press('+')
    await ann.press('+')
    await ann.press('180 days · −10%')
    await ann.press('Auto-renew: off')
    await ann.press('Allow spending')
    await refuseConnectCode(world.app, shown(ann).code)
    await notify()
    await ann.press('Retry')
    await ann.press('New code')
    await signOnPage(shown(ann).code, 'carol', { spend: true })
    expect(ann.labels()[0]).toEqual(['Add slots'])
    const [first] = ann.last().keyboard[0] ?? []
    expect(first?.callback_data).toBe(packed('slots.quote', quote))
  })

  test('leads to a menu that offers the trial until it is started', async () => {
    const ann = world.person()
    await ann.say('/connect')
    await signOnPage(shown(ann).code, 'bob')
    expect(ann.last().text).toContain('Free trial: 1 watch for 14 days')
    await ann.press('Time zone')
    await ann.say('/menu')
    expect(ann.last().text).toContain('Free trial: 1 watch for 14 days')
    expect(ann.last().text).toContain('By starting it, you accept the terms')
    await ann.press('Start the free trial')
    expect(ann.last().text).toContain('What should be watched?')
    await ann.say('/menu')
    expect(ann.last().text).not.toContain('Free trial')
  })

  test('declined on the page is reported with a Retry button', async () => {
    const ann = world.person()
    await ann.say('/connect')
    await refuseConnectCode(world.app, shown(ann).code)
    await notify()
    expect(ann.last().text).toContain('Nothing was linked.')
    await ann.press('Retry')
    expect(shown(ann).code).toMatch(/^[\w-]{22}$/)
  })

  test('links a chat that has blocked the bot meanwhile', async () => {
    const ann = world.person()
    await ann.say('/connect')
    const { code } = shown(ann)
    world.telegram.block(ann.id)
    await signOnPage(code, 'carol')
    expect(await listChatLinks(world.app, ann.id)).toHaveLength(1)
  })
})

describe('an unused code', () => {
  const overdue = () => world.clock.advance(15 * 60)

  test('says in its message that it expired, and offers a new one', async () => {
    const ann = world.person()
    await ann.say('/connect')
    const { id, count } = { id: ann.last().id, count: ann.all().length }
    await notify()
    expect(ann.last().text).toMatch(FORMAT)
    overdue()
    await notify()
    expect(ann.last()).toMatchObject({ id, text: 'This code has expired. Nothing was linked.' })
    expect(ann.labels()).toEqual([['New code'], ['‹ Menu']])
    await notify()
    expect(ann.all()).toHaveLength(count)
    await ann.press('New code')
    expect(ann.last().id).toBe(id)
    await signOnPage(shown(ann).code, 'carol')
    expect(ann.last().text).toContain('Connected')
  })

  test('that expires changes nothing when its message shows another screen', async () => {
    const ann = world.person()
    await ann.say('/connect')
    await ann.press('‹ Back')
    const before = ann.last()
    overdue()
    await notify()
    expect(ann.last()).toEqual(before)
  })

  test('that expires changes nothing when newer messages are below its message', async () => {
    const ann = world.person()
    await ann.say('/connect')
    await ann.say('/start')
    const before = ann.all()
    overdue()
    await notify()
    expect(ann.all()).toEqual(before)
  })

  test('that was replaced changes nothing when it expires', async () => {
    const ann = world.person()
    await ann.say('/connect')
    world.clock.advance(10 * 60)
    await ann.press('New code')
    const { code } = shown(ann)
    world.clock.advance(10 * 60)
    await notify()
    expect(shown(ann).code).toBe(code)
  })

  test.each(LOCALES)('is said to have expired in %s', async (locale) => {
    const ann = world.person(locale === 'zh' ? 'zh-hans' : locale)
    await ann.say('/connect')
    overdue()
    await notify()
    expect(ann.last().text).toBe(translator(locale)('bot:connect.expired'))
  })
})

describe('a link to a recipient, in a chat without a wallet', () => {
  test.each([
    'r',
    'h',
  ])('%s… asks for the wallet, and opens the recipient afterwards', async (kind) => {
    const owner = await world.linked('bob')
    const [recipient] = await listChatLinks(world.app, owner.id)
    const id = recipient?.recipientId ?? 0
    const ann = world.person()
    await ann.say(`/start ${kind}${id}`)
    expect(ann.last().text).toContain('opens a recipient of another wallet')
    expect(ann.last().text).toMatch(FORMAT)
    // Whose recipient it is stays unsaid, because anybody can type the number.
    expect(ann.last().text).not.toContain(walletOf('bob').slice(0, 6))
    await ann.press('New code')
    expect(ann.last().text).toContain('opens a recipient of another wallet')
    await signOnPage(shown(ann).code, 'bob')
    expect(ann.labels()[0]).toEqual(['Open recipient'])
    await ann.press('Open recipient')
    expect(ann.last().text).toContain('· Telegram')
  })
})
