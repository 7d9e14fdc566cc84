import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findLive, liveQueue, settleLive, wakeLive } from '#bot/core/live-store.ts'
import { changeChat } from '#bot/core/store.ts'
import { RECIPIENT_KINDS } from '#bot/features/recipients/follow.ts'
import { type Receiver, startReceiver } from '#sandbox/receiver.ts'
import { packed } from '#src/actions/codec.ts'
import { claimDueRows } from '#src/db/queue.ts'
import { translator } from '#src/i18n/translate.ts'
import { inertText } from '#src/kernel/inert-text.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { configureChannel } from '#src/operations/rest/channels.ts'
import {
  deleteRecipient,
  listRecipients,
  updateRecipient,
} from '#src/operations/rest/recipients.ts'
import { getWatch, updateWatch } from '#src/operations/rest/watches.ts'
import { LINK_MINUTES } from '#src/recipients/model.ts'
import { claimTelegramLink } from '#src/recipients/telegram-link.ts'
import { type BotWorld, botWorld, type TestChat, walletOf } from '../support/bot.ts'
import { dataOf } from '../support/buttons.ts'
import { runningClock } from '../support/clock.ts'
import { BOT_NAME } from '../support/harness.ts'
import { changeLive } from '../support/live.ts'

let world: BotWorld
let receiver: Receiver
let ann: TestChat
let treasury: number
let node: number
const iso = (label: string) => `\u2068${label}\u2069`

beforeAll(async () => {
  world = await botWorld({}, { clock: runningClock() })
  receiver = await startReceiver({ clock: world.clock })
  await world.giveSlots('alice', 9)
  ann = await world.linked('alice')
  treasury = await world.addWatch('alice', { label: 'Treasury' })
  node = await world.addWatch('alice', {
    label: 'Node A',
    type: 'provider-fsp',
    target: { provider: `0x${'a1'.repeat(20)}` },
    settings: {},
  })
})
afterAll(async () => {
  await world.close()
  await receiver.close()
})

async function recipients() {
  return (await world.as('alice', listRecipients, { query: { limit: '50' } })).data
}

async function recipientOf(id: number) {
  return (await recipients()).find((recipient) => recipient.id === id)
}

async function recipientIdOf(name: string) {
  const data = await recipients()
  const found = data.findLast((watch) => watch.name === name)
  if (found === undefined) throw new Error(`nobody is called ${name}`)
  return found.id
}

async function named(id: number) {
  return (await world.as('alice', getWatch, { params: { id: String(id) } })).recipientIds
}

async function addRecipient(kind: string) {
  world.clock.advance(30)
  await ann.say('/recipients')
  await ann.press('Add recipient')
  await ann.press(kind)
}

async function addHook(hook: string) {
  await addRecipient('Webhook')
  await ann.say(receiver.url(hook))
  await ann.press('Saved, next ›')
  return (await recipients()).at(-1)?.id ?? 0
}

/** Makes a link in the private chat. @returns the message with the link, and the code for a group */
async function linkByChat() {
  await addRecipient('Group or person')
  await ann.press('Receive only')
  const card = ann.last()
  const add = card.keyboard.flat().find(({ text }) => text.startsWith('Add to a group'))
  const code = new URL(add?.url ?? '').searchParams.get('startgroup') ?? ''
  return { card, code }
}

/** Changes the messages that are due. */
const follow = () => changeLive(world)
/** Changes the messages with links of Alice, as the commit of a link makes the job do. */
const followLinks = () => changeLive(world, { handles: [walletOf('alice')] })

describe('a new recipient', () => {
  test('of the same host as another one gets a different name', async () => {
    await addHook('one')
    await addRecipient('Webhook')
    await ann.say(receiver.url('two'))
    const names = (await recipients()).map(({ name }) => name)
    expect(names.filter((name) => name.startsWith('127.0.0.1'))).toEqual([
      '127.0.0.1',
      '127.0.0.1 2',
    ])
    expect(ann.last().text).toContain(iso(inertText('127.0.0.1 2')))
    for (const recipient of await recipients()) {
      if (!recipient.name.startsWith('127.0.0.1')) continue
      await world.as('alice', deleteRecipient, { params: { id: String(recipient.id) } })
    }
  })

  test('leads to the question which watches notify it after its test, too', async () => {
    await addRecipient('Webhook')
    await ann.say(receiver.url('tested'))
    await ann.press('Test')
    expect(ann.last().text).toContain(`Which alerts should ${iso(inertText('127.0.0.1'))} get?`)
    const id = await recipientIdOf('127.0.0.1')
    await world.as('alice', deleteRecipient, { params: { id: String(id) } })
  })

  test('leads directly to the question which watches notify it', async () => {
    const id = await addHook('first')
    expect(ann.last().text).toContain(`Which alerts should ${iso(inertText('127.0.0.1'))} get?`)
    expect(ann.last().text).toContain('Alerts from all watches, including watches added later.')
    expect(ann.labels()).toEqual([
      ['✓ All watches', 'Only some'],
      ['Severity: all'],
      [`‹ ${iso('127.0.0.1')}`],
    ])
    await ann.press('Only some')
    expect(ann.last().text).toContain(
      'No watch is selected yet: nothing is sent to this recipient.',
    )
    expect((await recipientOf(id))?.default).toBe(false)
    expect(await named(treasury)).toBeNull()
  })

  test('is notified of the checked watches, which keep their other recipients', async () => {
    const id = await addHook('some')
    const here = await recipientIdOf('Ann')
    const others = (await recipients())
      .filter((recipient) => recipient.default && recipient.id !== id)
      .map((recipient) => recipient.id)
    expect(others).toContain(here)
    await ann.press('Only some')
    await ann.press('+ Data provider')
    expect([...((await named(node)) ?? [])].sort()).toEqual([...others, id].sort())
    expect(await named(treasury)).toBeNull()
    expect(ann.labels().flat()).toContain(`✓ ${iso('Node A')}`)
    expect(ann.labels().flat()).toContain(`○ ${iso('Treasury')}`)
    await ann.press(`✓ ${iso('Node A')}`)
    expect(await named(node)).toEqual(others)
    expect(ann.last().text).toContain('No watch is selected yet')
    await ann.press('All watches')
    expect(await named(node)).toEqual([...others, id])
    expect(ann.last().text).toContain('Alerts from all watches')
  })

  test('is checked for a watch that was renamed meanwhile, which keeps its new name', async () => {
    await addHook('late')
    await ann.press('Only some')
    const params = { id: String(treasury) }
    await world.as('alice', updateWatch, { params, body: { label: 'Vault' } })
    await ann.press(`○ ${iso('Treasury')}`)
    expect(ann.labels().flat()).toContain(`✓ ${iso('Vault')}`)
    await world.as('alice', updateWatch, {
      params,
      body: { label: 'Treasury', recipientIds: null },
    })
  })

  test('says which of the wallet’s own channels a checked watch no longer notifies', async () => {
    const input = { params: { key: 'webhook' }, body: { url: receiver.url('own') } }
    await world.as('alice', configureChannel, input)
    await addHook('beside')
    await ann.press('Only some')
    expect(ann.last().text).toContain(
      '⚠️ A watch that is selected here no longer notifies \u2068My webhook\u2069.',
    )
  })

  test('of another wallet cannot be asked about or changed', async () => {
    const bob = await world.linked('bob')
    const id = await recipientIdOf('Ann')
    await bob.say('/recipients')
    const data = [
      packed('rec.hear', { id, page: 1 }),
      packed('rec.hearSome', { id }),
      packed('rec.hearFlip', { id, watch: treasury }),
    ]
    for (const watch of data) {
      world.telegram.pressRaw(bob.id, bob.last().id, watch)
      await world.settle()
      expect(bob.last().text).toBe('This item no longer exists, or it belongs to another wallet.')
    }
    expect((await recipientOf(id))?.default).toBe(true)
  })

  test('has its lowest severity on the same screen', async () => {
    const id = await addHook('severe')
    await ann.press('Severity: all')
    await ann.press('Warning or higher')
    expect((await recipientOf(id))?.minSeverity).toBe('warning')
    await world.as('alice', updateRecipient, {
      params: { id: String(id) },
      body: { default: true },
    })
    await ann.press('Choose alerts…')
    expect(ann.labels()[1]).toEqual(['Warning or higher'])
  })
})

describe('a linked chat', () => {
  test('of a manager asks which watches notify it', async () => {
    const chat = world.person()
    await chat.say(`/start ${await world.linkCode('alice', ['read', 'write'])}`)
    await chat.press('Link this chat')
    expect(chat.last().text).toContain('✅ This chat is linked.')
    expect(chat.last().text).toContain('Which alerts should \u2068This chat\u2069 get?')
  })

  test('that only receives, or has no watches yet, shows its menu', async () => {
    const chat = world.person()
    await chat.say(`/start ${await world.linkCode('alice', ['read'])}`)
    await chat.press('Link this chat')
    expect(chat.last().text).not.toContain('Which alerts')
    const first = world.person()
    await first.say(`/start ${await world.linkCode('carol')}`)
    await first.press('Link this chat')
    expect(first.last().text).not.toContain('Which alerts')
  })

  test('that is a group leads to the question in the private chat', async () => {
    const { id } = world.telegram.group({ title: 'Crew', members: [ann.id], admins: [ann.id] })
    const group = world.chat(id, ann.id)
    await group.say(`/start@${BOT_NAME} ${await world.groupCode('alice')}`)
    await group.press('Link this chat')
    expect(group.last().text).toContain(
      'Warnings and critical alerts are sent here, infos such as incoming payments are not.',
    )
    const crew = await recipientOf(await recipientIdOf('Crew'))
    expect(crew).toMatchObject({ minSeverity: 'warning', default: true })
    expect(group.labels()[0]).toEqual(['Warning or higher'])
    const payload = `h${await recipientIdOf('Crew')}`
    await ann.say(`/start ${payload}`)
    expect(ann.last().text).toContain('Which alerts should \u2068Crew\u2069 get?')
    expect(ann.labels().flat()).toContain('Warning or higher')
    await group.say(`/start@${BOT_NAME} ${payload}`)
    expect(group.last().text).not.toContain('Which alerts')
    const change = (minSeverity: string) =>
      world.as('alice', updateRecipient, {
        params: { id: String(crew?.id) },
        body: { minSeverity },
      })
    await change('critical')
    await group.say(`/start@${BOT_NAME}`)
    expect(group.last().text).toContain('Only critical alerts are sent here.')
    await change('info')
    await group.say(`/start@${BOT_NAME}`)
    expect(group.last().text).toContain('All alerts are sent here')
    await change('warning')
  })

  test.each(
    LOCALES,
  )('that is a group of a wallet without watches says in %s which alerts it gets', async (locale) => {
    const { id } = world.telegram.group({ title: 'New', members: [ann.id], admins: [ann.id] })
    const group = world.chat(id, ann.id)
    const t = translator(locale)
    await group.say(`/start@${BOT_NAME} ${await world.groupCode('bob')}`)
    await changeChat(world.app.db, id, { locale }, world.app.clock.now())
    await group.press(dataOf(group.last()).find((data) => data.includes('link.yes')) ?? '')
    expect(group.last().text).toContain(t('bot:group.from.warning'))
    expect(group.labels()[0]).toEqual([t('bot:button.from.warning')])
  })

  test('turns the message with its link into the question, for the one who made the link', async () => {
    const { card, code } = await linkByChat()
    const { id } = world.telegram.group({ title: 'Crew 2', members: [ann.id], admins: [ann.id] })
    const group = world.chat(id, ann.id)
    await group.say(`/start@${BOT_NAME} ${code}`)
    expect(ann.last()).toMatchObject({ id: card.id, text: card.text })
    await group.press('Link this chat')
    await followLinks()
    const shown = ann.all().find((message) => message.id === card.id)?.text
    expect(shown).toContain(`✅ ${iso('Crew 2')} is linked. Permissions: receive alerts.`)
    expect(shown).toContain(`Which alerts should ${iso('Crew 2')} get?`)
    expect(ann.labels().flat()).toContain('Warning or higher')
    await ann.press('Only some')
    expect((await recipientOf(await recipientIdOf('Crew 2')))?.default).toBe(false)
  })

  test('says how many watches notify it, and gets the others by one press on "All watches"', async () => {
    const here = await recipientIdOf('Ann')
    const params = { id: String(node) }
    await world.as('alice', updateWatch, { params, body: { recipientIds: [here] } })
    const { id } = world.telegram.group({ title: 'Crew 5', members: [ann.id], admins: [ann.id] })
    const group = world.chat(id, ann.id)
    const { code } = await linkByChat()
    await group.say(`/start@${BOT_NAME} ${code}`)
    await group.press('Link this chat')
    await followLinks()
    expect(ann.last().text).toContain('Watches that notify this recipient: 1 of 2.')
    expect(ann.labels()[0]).toEqual(['All watches', 'Only some'])
    await ann.press('All watches')
    const crew = await recipientIdOf('Crew 5')
    expect(await named(node)).toEqual([here, crew])
    expect(ann.last().text).toContain('Alerts from all watches, including watches added later.')
    expect(ann.labels()[0]).toEqual(['✓ All watches', 'Only some'])
    await world.as('alice', deleteRecipient, { params: { id: String(crew) } })
    await world.as('alice', updateWatch, { params, body: { recipientIds: null } })
  })

  test('that was linked before leads to the question again, in the group and in the private chat', async () => {
    const { id } = world.telegram.group({ title: 'Crew 3', members: [ann.id], admins: [ann.id] })
    const group = world.chat(id, ann.id)
    await group.say(`/start@${BOT_NAME} ${await world.groupCode('alice')}`)
    await group.press('Link this chat')
    const { card, code } = await linkByChat()
    await group.say(`/start@${BOT_NAME} ${code}`)
    await group.press('Link this chat')
    expect(group.last().text).toContain('This chat is already linked.')
    expect(group.labels()[0]).toEqual(['Warning or higher'])
    await followLinks()
    const shown = ann.all().find((message) => message.id === card.id)?.text
    expect(shown).toContain(`Which alerts should ${iso('Crew 3')} get?`)
  })

  test('just before its link expired, by a process that then died, leads to the question, too', async () => {
    const { card, code } = await linkByChat()
    world.clock.advance(LINK_MINUTES * 60 - 1)
    const { id } = world.telegram.group({ title: 'Crew 4', members: [ann.id], admins: [ann.id] })
    const chat = { id, title: 'Crew 4' }
    const locale = 'en'
    await claimTelegramLink(world.app, { code, chat, by: { id: ann.id }, locale })
    world.clock.advance(5)
    await follow()
    const shown = ann.all().find((message) => message.id === card.id)?.text
    expect(shown).toContain(`Which alerts should ${iso('Crew 4')} get?`)
  })

  test('makes its message due although a check that began before postpones it', async () => {
    const { card } = await linkByChat()
    const { db } = world.app
    const message = { chatId: ann.id, messageId: card.id }
    const due = async () => {
      const now = world.clock.now()
      const limits = { now, leaseMs: 60_000, limit: 100 }
      const rows = await claimDueRows(db, liveQueue([RECIPIENT_KINDS.link], 'of'), limits)
      return rows.find(({ chatId, messageId }) => chatId === ann.id && messageId === card.id)
    }
    world.clock.advance(10)
    const row = await due()
    if (row === undefined) throw new Error('the message with the link is not followed')
    await wakeLive(db, [walletOf('alice')], world.clock.now())
    const later = new Date(world.clock.now().getTime() + 90_000)
    const postponed = { stage: row.stage, shown: null, dueAt: later, leasedUntil: null }
    await settleLive(db, row, postponed)
    world.clock.advance(1)
    const again = await due()
    expect(again?.messageId).toBe(card.id)
    // Without a use of the link, the check is postponed.
    if (again !== undefined) await settleLive(db, again, postponed)
    expect((await findLive(db, message))?.dueAt).toEqual(later)
    expect(await due()).toBeUndefined()
  })

  test('of another link, or a link that nobody used, changes no message', async () => {
    const { card } = await linkByChat()
    world.clock.advance(1)
    const other = world.person()
    await other.say(`/start ${await world.linkCode('alice', ['read'])}`)
    await other.press('Link this chat')
    await followLinks()
    expect(ann.all().find((message) => message.id === card.id)).toMatchObject({ text: card.text })
  })
})
