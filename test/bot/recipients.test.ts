import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { confirmLinkOf } from '#sandbox/inbox/mail.ts'
import { type Inbox, startMailServer } from '#sandbox/inbox.ts'
import { type Receiver, startReceiver } from '#sandbox/receiver.ts'
import { packed } from '#src/actions/codec.ts'
import type { Scope } from '#src/kernel/caller.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { configureChannel } from '#src/operations/rest/channels.ts'
import {
  createRecipient,
  listRecipients,
  updateRecipient,
} from '#src/operations/rest/recipients.ts'
import { updateWatch } from '#src/operations/rest/watches.ts'
import { sendDueConfirmations } from '#src/recipients/confirmations.ts'
import { type BotWorld, botWorld, type TestChat, walletOf } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'
import { BOT_NAME } from '../support/harness.ts'
import { apiOf, changeLive } from '../support/live.ts'

const COMMIT = 'fsp.ftso-commit'

let inbox: Inbox
let receiver: Receiver
let world: BotWorld
let alerts: ReturnType<typeof alertsIn>

beforeAll(async () => {
  inbox = await startMailServer()
  receiver = await startReceiver({ clock: { now: () => world.clock.now() } })
  world = await botWorld({
    SMTP_URL: inbox.url,
    EMAIL_FROM: 'Watchdog <watchdog@example.org>',
  })
  alerts = alertsIn(world)
})
afterAll(async () => {
  await world.close()
  await Promise.all([inbox.close(), receiver.close()])
})

type Name = 'alice' | 'bob' | 'carol'

async function linked(name: Name, scopes: readonly Scope[] = ['read', 'write']) {
  const chat = world.person()
  await chat.say(`/start ${await world.linkCode(name, scopes)}`)
  await chat.press('Link this chat')
  return chat
}

function callerOf(name: Name) {
  return { wallet: walletOf(name), scopes: ['read', 'write'], via: 'http' } as const
}

async function recipientsOf(name: Name) {
  const { output } = await invoke(world.app, listRecipients, callerOf(name), {
    query: { limit: '50' },
  })
  return output.data
}

async function recipientOf(name: Name, called: string) {
  const found = (await recipientsOf(name)).find((recipient) => recipient.name === called)
  if (found === undefined) throw new Error(`nobody is called ${called}`)
  return found
}

/** Goes back to the card of a webhook, whose name ends in a number where it is not the first. */
async function toCard(chat: TestChat) {
  const labels = chat.labels().flat()
  await chat.press(labels.find((label) => label.startsWith('‹ \u2068127.0.0.1')) ?? '')
}

/** Adds a webhook by the chat; its card is shown. @returns its id and secret */
async function addHook(chat: TestChat, hook: string) {
  world.clock.advance(20)
  await chat.say('/recipients')
  await chat.press('Add recipient')
  await chat.press('Webhook')
  await chat.say(receiver.url(hook))
  const copy = chat
    .last()
    .keyboard.flat()
    .find(({ text }) => text === 'Copy the secret')
  const secret = copy?.copy_text?.text ?? ''
  receiver.setSecret(hook, secret)
  await chat.press('Saved, next ›')
  await toCard(chat)
  return secret
}

const follow = () => changeLive(world)

describe('the list', () => {
  test('begins with this chat, and includes the wallet’s own channels', async () => {
    const other = await linked('alice')
    const chat = await linked('alice')
    const input = { params: { key: 'email' }, body: { address: 'own@example.org' } }
    await invoke(world.app, configureChannel, callerOf('alice'), input)
    await chat.say('/recipients')
    expect(chat.last().text).toContain('Recipients · 2 of 20')
    expect(chat.last().text).toContain('✓ \u2068This chat\u2069 · Telegram · default')
    expect(chat.last().text).toContain('⚠️ \u2068My e-mail\u2069 · not confirmed yet')
    expect(chat.labels()[0]).toEqual(['\u2068This chat\u2069', '\u2068Ann\u2069'])
    await chat.press('⚠️ \u2068My e-mail\u2069')
    expect(chat.last().text).toContain('Waiting for')
    expect(chat.labels()).toEqual([
      ['Send it again'],
      ['Choose alerts…'],
      ['Test', 'Log'],
      ['‹ Recipients', 'More'],
    ])
    await chat.press('More')
    await chat.press('Delete…')
    await chat.press('Delete \u2068My e-mail\u2069')
    expect(chat.last().text).toContain('✓ \u2068My e-mail\u2069 is deleted.')
    expect(other.all().length).toBeGreaterThan(0)
  })

  test('has pages from the ninth on', async () => {
    const chat = await linked('carol')
    for (let count = 0; count < 9; count += 1) {
      const body = { name: `Many ${count}`, channel: 'webhook', url: receiver.url(`many${count}`) }
      await world.as('carol', createRecipient, { body: { ...body, default: true } })
    }
    await chat.say('/recipients')
    expect(chat.labels().flat()).toContain('1 / 2')
    await chat.press('›')
    expect(chat.labels().flat()).toContain('2 / 2')
    expect(chat.last().text.match(/✓/g)).toHaveLength(2)
    await chat.press('›')
    expect(chat.labels().flat()).toContain('1 / 2')
  })

  test('is shown to a chat that only receives without anything to change', async () => {
    const reader = await linked('bob', ['read'])
    await reader.say('/recipients')
    expect(reader.last().text).toContain('This chat can only receive alerts.')
    expect(reader.labels()).toEqual([['\u2068This chat\u2069'], ['‹ Menu']])
    await reader.press('\u2068This chat\u2069')
    expect(reader.labels()).toEqual([['Log'], ['‹ Recipients']])
    const [{ id = 0 } = {}] = await recipientsOf('bob')
    world.telegram.pressRaw(reader.id, reader.last().id, packed('rec.sev', { id, level: 'cri' }))
    await world.settle()
    expect((await recipientsOf('bob'))[0]?.minSeverity).not.toBe('critical')
  })

  test('of another wallet is not found', async () => {
    const carol = await linked('carol')
    const [{ id = 0 } = {}] = await recipientsOf('alice')
    for (const verb of ['rec.card', 'rec.delete', 'rec.deleteYes', 'rec.rotateYes'] as const) {
      await carol.say('/recipients')
      world.telegram.pressRaw(carol.id, carol.last().id, packed(verb, { id }))
      await world.settle()
      expect(carol.last().text).toBe('This item no longer exists, or it belongs to another wallet.')
    }
    await carol.say(`/start r${id}`)
    expect(carol.last().text).toBe('This item no longer exists, or it belongs to another wallet.')
  })

  test('is never shown in a group', async () => {
    const [owner = 0] = ['Ann'].map(
      (firstName) => world.telegram.person({ firstName, languageCode: 'en', started: true }).id,
    )
    const { id } = world.telegram.group({ title: 'Crew', members: [owner], admins: [owner] })
    const group = world.chat(id, owner)
    await group.say(`/start@${BOT_NAME} ${await world.groupCode('bob')}`)
    await group.press('Link this chat')
    await group.say('/recipients')
    expect(group.last().text).toBe('Only available in a private chat.')
    const count = group.all().length
    world.telegram.pressRaw(id, group.all()[0]?.id ?? 0, packed('rec.list'), { from: owner })
    await world.settle()
    expect(group.all()).toHaveLength(count)
  })
})

describe('a webhook', () => {
  test('is added with its secret shown once, which is hidden when its reader has saved it', async () => {
    const chat = await linked('alice')
    await chat.say('/recipients')
    await chat.press('Add recipient')
    expect(chat.labels()).toEqual([
      ['E-mail', 'Webhook'],
      ['Discord', 'Slack'],
      ['ntfy', 'PagerDuty'],
      ['Group or person'],
      ['‹ Recipients'],
    ])
    await chat.press('Webhook')
    const test = chat
      .last()
      .keyboard.flat()
      .find(({ text }) => text === 'Get a test address')
    expect(test?.url).toMatch(/^https?:\/\/[^/]+\/receiver$/)
    await chat.say('not a url')
    expect(chat.last().text).toMatch(/^⚠️ /)
    expect(chat.last().text).toContain('Which URL?')
    await chat.say(receiver.url('pager'))
    const shown = chat.last()
    expect(shown.text).toMatch(/Secret: whsec_[A-Za-z0-9+/]{43}=/)
    expect(shown.entities.map(({ type }) => type)).toContain('spoiler')
    const copy = shown.keyboard.flat().find(({ text }) => text === 'Copy the secret')
    const secret = copy?.copy_text?.text ?? ''
    expect(shown.text).toContain(secret)
    expect(
      world.telegram.messages(chat.id).some(({ text }) => text === receiver.url('pager')),
    ).toBe(false)
    expect(shown.text).toContain(
      'Next: choose which alerts \u2068127.\u20600.\u20600.\u20601\u2069 gets. ' +
        'Until then it gets those of watches without recipients of their own.',
    )
    await chat.press('Saved, next ›')
    expect(chat.last().id).toBe(shown.id)
    expect(chat.last().text).toContain(`secret …${secret.slice(-4)}, shown`)
    expect(chat.last().text).not.toContain('whsec_')
    expect(await recipientOf('alice', '127.0.0.1')).toMatchObject({
      channel: 'webhook',
      default: true,
      status: 'active',
    })
  })

  test('has its secret hidden automatically after ten minutes, also with messages below', async () => {
    const chat = await linked('alice')
    await chat.say('/recipients')
    await chat.press('Add recipient')
    await chat.press('Webhook')
    await chat.say(receiver.url('forgotten'))
    const { id } = chat.last()
    await chat.say('/menu')
    world.clock.advance(590)
    await follow()
    const text = () => chat.all().find((message) => message.id === id)?.text
    expect(text()).toContain('whsec_')
    world.clock.advance(20)
    await follow()
    expect(text()).not.toContain('whsec_')
    expect(text()).toMatch(/secret ….{4}, shown \d\d:\d\d/)
  })

  test('with a secret to hide changes no message that shows another screen by then', async () => {
    const chat = await linked('alice')
    await chat.say('/recipients')
    await chat.press('Add recipient')
    await chat.press('Webhook')
    await chat.say(receiver.url('moved'))
    await chat.press('‹ Recipients')
    const { text } = chat.last()
    world.clock.advance(700)
    await follow()
    expect(chat.last().text).toBe(text)
  })

  test('has its secret hidden again when it was shown again while it was being hidden', async () => {
    const chat = await linked('alice')
    await addHook(chat, 'again')
    const show = async () => {
      await chat.press('More')
      await chat.press('Secret…')
      await chat.press('New secret')
    }
    await show()
    world.clock.advance(700)
    const api = apiOf(world)
    let isFirst = true
    api.config.use(async (call, method, payload, signal) => {
      const result = await call(method, payload, signal)
      if (isFirst) {
        isFirst = false
        await chat.press('‹ \u2068127.0.0.1\u2069')
        await show()
      }
      return result
    })
    await changeLive(world, { api })
    world.clock.advance(700)
    await follow()
    expect(chat.last().text).not.toContain('whsec_')
  })

  test('is tested, with its answer and the time that took', async () => {
    const chat = await linked('bob')
    await addHook(chat, 'tested')
    await chat.press('Test')
    expect(chat.last().text).toMatch(
      /✓ \u2068127\.\u20600\.\u20600\.\u20601[ \d]*\u2069: 200 in [\d,]+\u00a0ms/,
    )
    expect(receiver.deliveries.at(-1)).toMatchObject({ hook: 'tested', answer: 200 })
    expect(receiver.deliveries.at(-1)?.verdicts?.watchdog).toMatchObject({ ok: true })
    receiver.answerNext(500)
    await chat.press('Test')
    expect(chat.last().text).toMatch(
      /✕ \u2068127\.\u20600\.\u20600\.\u20601[ \d]*\u2069: 500 after \d+\u00a0ms/,
    )
    await chat.press('Log')
    expect(chat.last().text).toContain('last deliveries')
    expect(chat.last().text).toMatch(/✕ 🧪 \d\d:\d\d.* · test · not delivered/)
    expect(chat.last().text).toMatch(/✅ 🧪 \d\d:\d\d.*delivered/)
    await toCard(chat)
    for (let count = 2; count < 10; count += 1) await chat.press('Test')
    await chat.press('Test')
    expect(chat.last().text).toContain('limit of 10 tests per hour reached; next at')
  })

  test('gets another secret after one question, and both sign for a day', async () => {
    const chat = await linked('bob')
    const before = await addHook(chat, 'rotated')
    await chat.press('More')
    await chat.press('Secret…')
    expect(chat.last().text).toContain('For 24 hours, messages are signed with both secrets')
    await chat.press('‹ Keep')
    await chat.press('More')
    await chat.press('Secret…')
    await chat.press('New secret')
    const copy = chat
      .last()
      .keyboard.flat()
      .find(({ text }) => text === 'Copy the secret')
    expect(copy?.copy_text?.text).toMatch(/^whsec_/)
    expect(copy?.copy_text?.text).not.toBe(before)
    await chat.press('Test')
    expect(receiver.deliveries.at(-1)?.verdicts?.watchdog).toMatchObject({ ok: true })
    expect(chat.last().text).not.toContain('whsec_')
  })

  test('that was off is switched on when it answers its test, and can get the alerts that it missed', async () => {
    const chat = await linked('bob')
    await addHook(chat, 'broken')
    const { id } =
      (await recipientsOf('bob')).findLast(({ channel }) => channel === 'webhook') ?? {}
    if (id === undefined) throw new Error('there is no webhook')
    const watch = await world.addWatch('bob', { label: 'Node' })
    receiver.answerNext(410)
    await chat.press('Test')
    expect(chat.last().text).toContain('Off since')
    expect(chat.last().text).toContain('The endpoint reported that it is gone (HTTP 410).')
    world.clock.advance(60)
    await alerts.fire(watch, { event: COMMIT })
    await chat.say(`/start r${id}`)
    expect(chat.last().text).toContain('1 alert is kept for this recipient')
    receiver.answerNext(500)
    await chat.press('Switch on and test')
    expect(chat.last().text).toMatch(/✕ .*: 500 after \d+\u00a0ms\nThe recipient stays off\./)
    await chat.press('Switch on and test')
    expect(chat.last().text).toContain('✓ The recipient is on again.')
    expect(chat.last().text).toContain(
      'This recipient missed 1 alert while it was off. Send it now?',
    )
    await chat.press('Send 1')
    expect(chat.last().text).toContain('✓ 1 alert is on its way.')
    await alerts.deliver()
    expect(receiver.deliveries.at(-1)).toMatchObject({ hook: 'broken' })
    expect(receiver.deliveries.at(-1)?.json).toMatchObject({ event: COMMIT })
  })

  test('that missed alerts can discard them', async () => {
    const chat = await linked('alice')
    await addHook(chat, 'dropped')
    const { id } =
      (await recipientsOf('alice')).findLast(({ channel }) => channel === 'webhook') ?? {}
    const watch = await world.addWatch('alice', { label: 'Node' })
    receiver.answerNext(410)
    await chat.press('Test')
    world.clock.advance(60)
    await alerts.notice(watch, { event: COMMIT })
    await chat.say(`/start r${id}`)
    await chat.press('Switch on and test')
    await chat.press('More')
    await chat.press('Discard')
    expect(chat.last().text).toContain('✓ 1 alert discarded.')
    expect(chat.labels().flat()).not.toContain('Discard')
  })
})

describe('a mailbox', () => {
  test('is asked for its consent, and the message says when it has agreed', async () => {
    const chat = await linked('carol')
    await chat.say('/recipients')
    await chat.press('Add recipient')
    await chat.press('E-mail')
    await chat.say('no address')
    expect(chat.last().text).toContain('Which address?')
    await chat.say('ops@example.org')
    const { id } = chat.last()
    expect(chat.last().text).toContain(
      '📨 A confirmation e-mail was sent to \u2068ops@\u2060example.\u2060org\u2069.',
    )
    await sendDueConfirmations(world.service.app, new AbortController().signal)
    const mail = inbox.mails.find(({ to }) => JSON.stringify(to).includes('ops@example.org'))
    const link = mail && confirmLinkOf(mail)
    world.clock.advance(10)
    await follow()
    expect(chat.last().text).toContain('📨')
    await world.server.inject({
      method: 'POST',
      url: new URL(link ?? '').pathname,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'answer=yes',
    })
    world.clock.advance(30)
    await follow()
    expect(chat.last()).toMatchObject({ id })
    expect(chat.last().text).toBe(
      '✅ \u2068ops@\u2060example.\u2060org\u2069 is confirmed. Alerts are sent to this recipient from now on.',
    )
  })

  test('is shown in full by its name, or masked beside another name, which Telegram links to no account', async () => {
    const chat = await linked('carol')
    await chat.say('/recipients')
    await chat.press('Add recipient')
    await chat.press('E-mail')
    await chat.say('masked@example.org')
    await chat.say('/recipients')
    // Those of the tests above fill the first page.
    if (chat.labels().flat().includes('›')) await chat.press('›')
    const button = chat
      .labels()
      .flat()
      .find((label) => label.includes('masked'))
    await chat.press(button ?? 'the mailbox')
    expect(chat.last().text).toContain(
      'Waiting for \u2068masked@\u2060example.\u2060org\u2069 to confirm.',
    )
    expect(chat.last().text).not.toContain('m…@')
    await chat.press('More')
    await chat.press('Rename…')
    await chat.say('Night shift')
    const { text, entities } = chat.last()
    expect(text).not.toContain('masked@')
    expect(text).toContain('To: \u2068m…@\u2060example.\u2060org\u2069')
    expect(text).toContain('Waiting for \u2068m…@\u2060example.\u2060org\u2069 to confirm.')
    const marked = entities.map(({ type, offset, length }) => [
      type,
      text.slice(offset, offset + length),
    ])
    expect(marked.map(([type]) => type)).not.toContain('mention')
  })

  test('gets another confirmation mail at most every five minutes', async () => {
    const chat = await linked('carol')
    await chat.say('/recipients')
    await chat.press('Add recipient')
    await chat.press('E-mail')
    await chat.say('late@example.org')
    await sendDueConfirmations(world.service.app, new AbortController().signal)
    await chat.press('Send it again')
    expect(chat.last().text).toContain('Next one in 5 minutes.')
    world.clock.advance(301)
    await chat.press('Send it again')
    expect(chat.last().text).toContain('✓ A confirmation e-mail is on its way.')
  })

  test('has a name, a language, a time zone and a lowest severity of its own', async () => {
    const chat = await linked('carol')
    const { id } = await recipientOf('carol', 'ops@example.org')
    await chat.say(`/start r${id}`)
    await chat.press('More')
    await chat.press('Rename…')
    await chat.say('Night <b>shift')
    expect(chat.last().text).toContain('✓ The name is now \u2068Night <b>shift\u2069.')
    await chat.press('More')
    await chat.press('Language')
    await chat.press('Deutsch')
    await chat.press('Choose alerts…')
    await chat.press('Severity: all')
    await chat.press('Critical only')
    await chat.press('More')
    await chat.press('Time zone')
    await chat.say('nowhere at all')
    expect(chat.last().text).toContain('No time zone was found for “\u2068nowhere at all\u2069”.')
    await chat.say('york')
    expect(chat.last().text).toContain('Time zone: America/New_York')
    await chat.press('Choose alerts…')
    await chat.press('Only some')
    await chat.press('‹ \u2068Night <b>shift\u2069')
    expect((await recipientsOf('carol')).find((recipient) => recipient.id === id)).toMatchObject({
      name: 'Night <b>shift',
      locale: 'de',
      timezone: 'America/New_York',
      minSeverity: 'critical',
      default: false,
    })
    expect(chat.last().text).toContain('Minimum severity: Critical · Deutsch · America/New_York')
    await chat.press('More')
    await chat.press('Time zone')
    await chat.say('/cancel')
    expect(chat.last().text).toContain('Night <b>shift')
  })

  test('that is a default is not called unused, and is when it is no default and no watch names it', async () => {
    const chat = await linked('carol')
    const { id } = await recipientOf('carol', 'Night <b>shift')
    const isDefault = (on: boolean) =>
      world.as('carol', updateRecipient, { params: { id: String(id) }, body: { default: on } })
    await isDefault(true)
    await chat.say(`/start r${id}`)
    expect(chat.last().text).toContain(
      'Gets the alerts of every watch without recipients of its own.',
    )
    expect(chat.last().text).not.toContain('No watch uses this recipient.')
    await isDefault(false)
    await chat.say(`/start r${id}`)
    expect(chat.last().text).toContain('No watch uses this recipient.')
    // The list marks it, and does not mark a default before the first watch.
    await chat.say('/recipients')
    expect(chat.last().text).toMatch(/✓ .*This chat.*default$/m)
    while (!chat.last().text.includes('Night <b>shift')) await chat.press('›')
    expect(chat.last().text).toMatch(/⚪ .*Night <b>shift.* · gets no alerts$/m)
  })

  test('says before its deletion how many watches use only the defaults', async () => {
    const chat = await linked('carol')
    const { id } = await recipientOf('carol', 'Night <b>shift')
    const watch = await world.addWatch('carol', { label: 'Mine' })
    const params = { id: String(watch) }
    await world.as('carol', updateWatch, { params, body: { recipientIds: [id] } })
    await chat.say(`/start r${id}`)
    expect(chat.last().text).toContain('Used by: \u2068Mine\u2069')
    await chat.press('More')
    await chat.press('Delete…')
    expect(chat.last().text).toContain('1 watch will then notify only the default recipients.')
    await chat.press('Delete \u2068Night <b>shift\u2069')
    expect(chat.last().text).toContain('is deleted.')
    await expect(recipientOf('carol', 'Night <b>shift')).rejects.toThrow()
  })
})

describe('another chat', () => {
  test('is added by a link with the rights that were chosen', async () => {
    const chat = await linked('alice')
    await chat.say('/start group')
    expect(chat.last().text).toContain('What should the other chat be allowed to do?')
    await chat.press('Receive only')
    const buttons = chat.last().keyboard.flat()
    expect(buttons.some(({ url }) => url?.includes('startgroup='))).toBe(true)
    const copied = buttons.find(({ copy_text: copy }) => copy !== undefined)?.copy_text?.text ?? ''
    const code = new URL(copied).searchParams.get('start') ?? ''
    const friend = world.person('en', 'Bo')
    await friend.say(`/start ${code}`)
    expect(friend.last().text).toContain('Allows: receive alerts')
    await friend.press('Link this chat')
    expect(await recipientOf('alice', 'Bo')).toMatchObject({ channel: 'telegram' })
  })
})
