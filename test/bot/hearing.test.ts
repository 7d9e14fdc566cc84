import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Receiver, startReceiver } from '#sandbox/receiver.ts'
import { packed } from '#src/actions/codec.ts'
import { configureChannel } from '#src/operations/channels.ts'
import { deleteRecipient, listRecipients, updateRecipient } from '#src/operations/recipients.ts'
import { getWatch, updateWatch } from '#src/operations/watches.ts'
import { type BotWorld, botWorld, type Chatting } from '../support/bot.ts'
import { BOT_NAME } from '../support/harness.ts'

let world: BotWorld
let receiver: Receiver
let ann: Chatting
let treasury: number
let node: number
const iso = (label: string) => `\u2068${label}\u2069`

beforeAll(async () => {
  world = await botWorld()
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
  return (await recipients()).find((one) => one.id === id)
}

async function recipientIdOf(name: string) {
  const data = await recipients()
  const found = data.findLast((one) => one.name === name)
  if (found === undefined) throw new Error(`nobody is called ${name}`)
  return found.id
}

async function named(id: number) {
  return (await world.as('alice', getWatch, { params: { id: String(id) } })).recipientIds
}

async function addHook(hook: string) {
  world.clock.advance(30)
  await ann.say('/recipients')
  await ann.press('Add recipient')
  await ann.press('Webhook')
  await ann.say(receiver.url(hook))
  await ann.press('Saved, next ›')
  return (await recipients()).at(-1)?.id ?? 0
}

describe('a new recipient', () => {
  test('of the same host as another one gets a different name', async () => {
    await addHook('one')
    world.clock.advance(30)
    await ann.say('/recipients')
    await ann.press('Add recipient')
    await ann.press('Webhook')
    await ann.say(receiver.url('two'))
    const names = (await recipients()).map(({ name }) => name)
    expect(names.filter((name) => name.startsWith('127.0.0.1'))).toEqual([
      '127.0.0.1',
      '127.0.0.1 2',
    ])
    expect(ann.last().text).toContain(iso('127.0.0.1 2'))
    for (const one of await recipients()) {
      if (!one.name.startsWith('127.0.0.1')) continue
      await world.as('alice', deleteRecipient, { params: { id: String(one.id) } })
    }
  })

  test('leads to the question which watches notify it after its test, too', async () => {
    world.clock.advance(30)
    await ann.say('/recipients')
    await ann.press('Add recipient')
    await ann.press('Webhook')
    await ann.say(receiver.url('tested'))
    await ann.press('Test')
    expect(ann.last().text).toContain(`Which alerts should ${iso('127.0.0.1')} get?`)
    const id = await recipientIdOf('127.0.0.1')
    await world.as('alice', deleteRecipient, { params: { id: String(id) } })
  })

  test('leads directly to the question which watches notify it', async () => {
    const id = await addHook('first')
    expect(ann.last().text).toContain('Which alerts should \u2068127.0.0.1\u2069 get?')
    expect(ann.last().text).toContain('Alerts from all watches, including watches added later.')
    expect(ann.labels()).toEqual([
      ['✓ All watches', 'Only some'],
      ['Severity: all'],
      [`‹ ${iso('127.0.0.1')}`],
    ])
    await ann.press('Only some')
    expect(ann.last().text).toContain('No watch is checked yet: nothing is sent to this recipient.')
    expect((await recipientOf(id))?.default).toBe(false)
    expect(await named(treasury)).toBeNull()
  })

  test('is notified of the checked watches, which keep their other recipients', async () => {
    const id = await addHook('some')
    const here = await recipientIdOf('Ann')
    const others = (await recipients())
      .filter((one) => one.default && one.id !== id)
      .map((one) => one.id)
    expect(others).toContain(here)
    await ann.press('Only some')
    await ann.press('+ Data provider')
    expect([...((await named(node)) ?? [])].sort()).toEqual([...others, id].sort())
    expect(await named(treasury)).toBeNull()
    expect(ann.labels().flat()).toContain(`✓ ${iso('Node A')}`)
    expect(ann.labels().flat()).toContain(`○ ${iso('Treasury')}`)
    await ann.press(`✓ ${iso('Node A')}`)
    expect(await named(node)).toEqual(others)
    expect(ann.last().text).toContain('No watch is checked yet')
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
      '⚠️ A watch that is checked here no longer notifies \u2068My webhook\u2069.',
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
    for (const one of data) {
      world.telegram.pressRaw(bob.id, bob.last().id, one)
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
    const [button] = group.last().keyboard[0] ?? []
    expect(group.last().text).toContain(
      'By default, warnings and critical alerts of all watches come here.',
    )
    const crew = await recipientOf(await recipientIdOf('Crew'))
    expect(crew).toMatchObject({ minSeverity: 'warning', default: true })
    expect(button?.text).toBe('Choose alerts…')
    const payload = new URL(button?.url ?? '').searchParams.get('start') ?? ''
    expect(payload).toBe(`h${await recipientIdOf('Crew')}`)
    await ann.say(`/start ${payload}`)
    expect(ann.last().text).toContain('Which alerts should \u2068Crew\u2069 get?')
    expect(ann.labels().flat()).toContain('Warning or higher')
    await group.say(`/start@${BOT_NAME} ${payload}`)
    expect(group.last().text).not.toContain('Which alerts')
  })

  test('turns the message with its link into the question, for the one who made the link', async () => {
    world.clock.advance(30)
    await ann.say('/recipients')
    await ann.press('Add recipient')
    await ann.press('Group or person')
    await ann.press('Receive only')
    const card = ann.last()
    const { id } = world.telegram.group({ title: 'Crew 2', members: [ann.id], admins: [ann.id] })
    const group = world.chat(id, ann.id)
    const add = card.keyboard.flat().find(({ text }) => text.startsWith('Add to a group'))
    const code = new URL(add?.url ?? '').searchParams.get('startgroup') ?? ''
    await group.say(`/start@${BOT_NAME} ${code}`)
    expect(ann.last()).toMatchObject({ id: card.id, text: card.text })
    await group.press('Link this chat')
    const shown = ann.all().find((one) => one.id === card.id)?.text
    expect(shown).toContain(`✅ ${iso('Crew 2')} is linked. It can: receive alerts.`)
    expect(shown).toContain(`Which alerts should ${iso('Crew 2')} get?`)
    expect(ann.labels().flat()).toContain('Warning or higher')
    await ann.press('Only some')
    expect((await recipientOf(await recipientIdOf('Crew 2')))?.default).toBe(false)
  })

  test('of another link, or a link that nobody used, changes no message', async () => {
    world.clock.advance(30)
    await ann.say('/recipients')
    await ann.press('Add recipient')
    await ann.press('Group or person')
    await ann.press('Receive only')
    const card = ann.last()
    world.clock.advance(1)
    const other = world.person()
    await other.say(`/start ${await world.linkCode('alice', ['read'])}`)
    await other.press('Link this chat')
    world.clock.advance(5)
    await world.settle()
    expect(ann.all().find((one) => one.id === card.id)).toMatchObject({ text: card.text })
  })
})
