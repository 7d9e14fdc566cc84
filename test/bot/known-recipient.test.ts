import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Inbox, startMailServer } from '#sandbox/inbox.ts'
import {
  addDestination,
  changeDestination,
  listDestinations,
} from '#src/operations/chat/destinations.ts'
import { configureChannel } from '#src/operations/rest/channels.ts'
import { createRecipient } from '#src/operations/rest/recipients.ts'
import { type BotWorld, botWorld, type TestChat } from '../support/bot.ts'

let inbox: Inbox
let world: BotWorld
let ann: TestChat

beforeAll(async () => {
  inbox = await startMailServer()
  world = await botWorld({
    SMTP_URL: inbox.url,
    EMAIL_FROM: 'Watchdog <watchdog@example.org>',
  })
  ann = await world.linked('alice')
})
afterAll(async () => {
  await world.close()
  await inbox.close()
})

async function add(button: string, address: string) {
  await ann.say('/recipients')
  await ann.press('Add recipient')
  await ann.press(button)
  await ann.say(address)
}

const ofChannel = async (channel: string) =>
  (await world.as('alice', listDestinations)).filter(
    (destination) => destination.channel === channel,
  )
const iso = (text: string) => `\u2068${text}\u2069`

describe('an address that the wallet already has', () => {
  test('is not added again, whatever its case and the spaces around it', async () => {
    await add('E-mail', 'ops@example.org')
    await add('E-mail', '  OPS@Example.org ')
    await add('E-mail', 'Ops, on call <ops@example.org>')
    expect(ann.last().text).toBe(
      `✓ You already have this recipient: ${iso('ops@\u2060example.\u2060org')}.\n⚠️ Waiting for ${iso('ops@\u2060example.\u2060org')} to confirm.`,
    )
    expect(await ofChannel('email')).toHaveLength(1)
    await ann.press(`⚠️ ${iso('ops@example.org')}`)
    expect(ann.labels().flat()).toContain('Send it again')
  })

  test('leads to the wallet’s own mailbox, too', async () => {
    const body = { address: 'own@example.org' }
    await world.as('alice', configureChannel, { params: { key: 'email' }, body })
    await add('E-mail', 'own@example.org')
    expect(ann.last().text).toContain('You already have this recipient')
    expect((await ofChannel('email')).filter(({ own }) => !own)).toHaveLength(1)
  })

  test('of a webhook is not added again, and another one of its host is', async () => {
    await add('Webhook', 'https://hooks.example.org/a')
    await add('Webhook', 'https://HOOKS.example.org/a')
    expect(ann.last().text).toBe(
      `✓ You already have this recipient: ${iso('hooks.\u2060example.\u2060org')}.`,
    )
    await add('Webhook', 'https://hooks.example.org/b')
    expect(await ofChannel('webhook')).toHaveLength(2)
  })

  test('gets no alerts while its recipient is switched off, which the answer says', async () => {
    await add('Webhook', 'https://off.example.org/a')
    const [made] = (await ofChannel('webhook')).filter(({ name }) => name === 'off.example.org')
    const body = { id: made?.id ?? 0, changes: { status: 'disabled' as const } }
    await world.as('alice', changeDestination, { body })
    await add('Webhook', 'https://off.example.org/a')
    expect(ann.last().text).toBe(
      `✓ You already have this recipient: ${iso('off.\u2060example.\u2060org')}.\n⚠️ Off since 12:00\u00a0UTC.`,
    )
  })

  test('is added once by two requests at once', async () => {
    const body = { channel: 'email', name: 'Twice', address: 'twice@example.org' }
    const results = await Promise.all(
      [body, { ...body, address: 'Twice@example.org' }].map((input) =>
        world.as('alice', addDestination, { body: input }),
      ),
    )
    const [first] = (await ofChannel('email')).filter(({ name }) => name === 'Twice')
    expect(results.map(({ kind }) => kind).toSorted()).toEqual(['added', 'known'])
    expect(results).toContainEqual({ kind: 'known', id: first?.id })
    expect((await ofChannel('email')).filter(({ name }) => name === 'Twice')).toHaveLength(1)
  })

  test('is compared with no destination that cannot be read', async () => {
    const { id } = await world.as('alice', createRecipient, {
      body: { channel: 'email', name: 'Broken', address: 'broken@example.org' },
    })
    await world.sql`update recipients set destination = 'not sealed' where id = ${id}`
    const body = { channel: 'email', name: 'Mended', address: 'broken@example.org' }
    expect(await world.as('alice', addDestination, { body })).toMatchObject({ kind: 'added' })
  })

  test('is added again over REST', async () => {
    const body = { channel: 'email', name: 'Other', address: 'rest@example.org' }
    const first = await world.as('alice', createRecipient, { body })
    const second = await world.as('alice', createRecipient, { body })
    expect(second.id).not.toBe(first.id)
  })
})
