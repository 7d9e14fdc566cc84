import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Caller } from '#src/kernel/caller.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { blockChat } from '#src/recipients/chats.ts'
import { refuseEmail, resubscribe, unsubscribe } from '#src/recipients/consent.ts'
import {
  configureChannel,
  decryptDestinations,
  recordOutcomes,
} from '#src/recipients/destinations.ts'
import { addressDigest, confirmationUrl, unsubscribeUrl } from '#src/recipients/mail-links.ts'
import type { AttemptOutcome } from '#src/recipients/rules.ts'
import { createRecipient, updateRecipient } from '#src/recipients/service.ts'
import { DEFAULT_SETTINGS, replaceSettings } from '#src/recipients/settings.ts'
import { openRoom, PUBLIC_URL, type Room, stranger } from '../recipients/room.ts'
import { chatOf, mailboxOf, notices, titles } from './notified.ts'

let room: Room
let notified: { app: Room['deps']; sql: Room['database']['sql'] }
let owner: { caller: Caller }

const NOON = new Date('2026-11-20T12:00:00.000Z')
const URL_A = 'https://hooks.example.org/a'

beforeAll(async () => {
  room = await openRoom()
  notified = { app: room.deps, sql: room.database.sql }
})
beforeEach(async () => {
  await notified.sql`truncate delivery_queue, delivery_log, notices, recipients, confirmation_mails`
  owner = { caller: stranger() }
  room.clock.set(NOON)
})
afterAll(() => room.close())

/** A webhook of the owner's. @returns its id */
async function hook(name = 'Pager hook'): Promise<number> {
  const input = { name, channel: 'webhook', url: URL_A } as const
  return (await createRecipient(room.deps, owner.caller, input)).id
}

/** Deletes the notices so far. */
async function forget(): Promise<void> {
  await notified.sql`truncate delivery_queue, delivery_log, notices`
}

/** Records results of attempts as the outbox does, with their notices. */
async function record(...outcomes: AttemptOutcome[]): Promise<void> {
  await room.db.transaction(async (tx) => {
    const stopped = await recordOutcomes({ ...room.deps, db: tx }, outcomes)
    await room.deps.notices.switchedOff(tx, stopped)
  })
}

const failed = (recipientId: number, over: Partial<AttemptOutcome> = {}): AttemptOutcome => ({
  recipientId,
  at: room.clock.now(),
  ok: false,
  reason: 'status_500',
  ...over,
})

describe('a mailbox whose reader declined', () => {
  test('is removed, and its owner is notified once in the chat', async () => {
    const address = 'night@example.org'
    const input = { name: 'Night shift', channel: 'email', address } as const
    const { id, target } = await createRecipient(room.deps, owner.caller, input)
    const chat = await chatOf(notified, owner)
    await forget()
    const link = { recipientId: id, addressDigest: addressDigest(address) }
    const url = confirmationUrl(room.deps, link, new Date(NOON.getTime() + 24 * HOUR_MS))
    const code = url.replace(`${PUBLIC_URL}/confirm/`, '')
    expect(await refuseEmail(room.deps, code)).toMatchObject({ state: 'waiting' })
    expect(await refuseEmail(room.deps, code)).toBeUndefined()
    expect(await notices(notified)).toMatchObject([
      {
        recipientId: chat,
        kind: 'refused',
        title: '\u2068Night shift\u2069 declined e-mails',
        body: `The owner of \u2068${target}\u2069 declined. The recipient was removed, and nothing is sent to this address.`,
        buttons: [[{ label: 'Recipients' }]],
      },
    ])
  })
})

describe('a destination that was added', () => {
  test('is announced to the wallet’s other recipients, with its rights and who added it, and not to itself', async () => {
    const mailbox = await mailboxOf(notified, owner)
    await forget()
    const chat = await chatOf(notified, owner)
    const wallet = owner.caller.wallet
    expect(await notices(notified)).toMatchObject([
      {
        recipientId: mailbox,
        kind: 'linked',
        glyph: '🔗',
        title: `A chat was linked to ${wallet.slice(0, 6)}…${wallet.slice(-4)}`,
        body: [
          '\u2068Ann\u2069, private chat. Permissions: receive alerts, manage watches.',
          'Added on Nov 20, 2026, 12:00\u00a0UTC.',
          'If you do not recognize this change, remove the recipient.',
        ].join('\n'),
        buttons: [
          [
            { label: 'Choose alerts…', url: `https://t.me/watchdog_test_bot?start=h${chat}` },
            { label: 'Remove…', url: `https://t.me/watchdog_test_bot?start=r${chat}` },
          ],
        ],
      },
    ])
  })

  test('is announced once, also if the same chat is linked again', async () => {
    await chatOf(notified, owner)
    await chatOf(notified, owner, { id: 1002 })
    await chatOf(notified, owner, { id: 1002 })
    expect(await titles(notified)).toHaveLength(1)
  })

  test('has its address once in the notice, if that is also its name', async () => {
    await chatOf(notified, owner)
    const address = 'Alice@Example.org'
    for (const input of [
      { channel: 'email', name: address, address },
      { channel: 'webhook', name: 'hooks.example.org', url: 'https://hooks.example.org/' },
    ] as const) {
      await forget()
      await createRecipient(room.deps, owner.caller, input)
      const [notice] = await notices(notified)
      expect(notice?.body.split('\n')[0]).toBe(`\u2068${input.name}\u2069.`)
    }
  })

  test.each([
    [
      'email',
      { address: 'ops@example.org' },
      'A mailbox was added to',
      'once the recipient has confirmed',
    ],
    [
      'webhook',
      { url: URL_A },
      'A webhook was added to',
      '\u2068Pager\u2069, \u2068hooks.example.org',
    ],
  ] as const)('as %s is named in its channel’s words', async (channel, place, title, words) => {
    const chat = await chatOf(notified, owner)
    const input = { name: 'Pager', channel, ...place }
    const { id } = await createRecipient(room.deps, owner.caller, input)
    expect(await notices(notified)).toMatchObject([
      {
        recipientId: chat,
        title: expect.stringContaining(title),
        body: expect.stringContaining(words),
        buttons: [
          [
            { label: 'It was me', act: '1:close' },
            { label: 'Choose alerts…', act: `1:rec.hear:${id.toString(36)}:1` },
            { label: 'Remove…', act: `1:rec.delete:${id.toString(36)}` },
          ],
        ],
      },
    ])
  })

  test('as the wallet’s own channel is announced, and not again if it is set again', async () => {
    await chatOf(notified, owner)
    const setup = { key: 'webhook', setup: { url: URL_A } }
    await configureChannel(room.deps, owner.caller, setup)
    await configureChannel(room.deps, owner.caller, setup)
    expect((await notices(notified)).map(({ body }) => body.split('\n')[0])).toEqual([
      expect.stringMatching(/for all watches without recipients of their own\.$/),
    ])
  })

  test('is announced to the wallet’s default private chats that are on, and to no other recipient', async () => {
    const ann = await chatOf(notified, owner)
    const bob = await chatOf(notified, owner, { id: 1002 })
    await chatOf(notified, owner, { id: -1003 })
    await hook()
    const setup = { key: 'webhook', setup: { url: URL_A } }
    await configureChannel(room.deps, owner.caller, setup)
    await chatOf(notified, { caller: stranger() }, { id: 1004 })
    const changes = { default: false }
    const carol = await chatOf(notified, owner, { id: 1005 })
    await updateRecipient(room.deps, owner.caller, { id: carol, changes })
    const off = { status: 'disabled' } as const
    const dave = await chatOf(notified, owner, { id: 1006 })
    await updateRecipient(room.deps, owner.caller, { id: dave, changes: off })
    await forget()
    await hook('Another')
    expect((await notices(notified)).map(({ recipientId }) => recipientId)).toEqual([ann, bob])
  })

  test('is announced whatever the lowest severity of alerts is', async () => {
    const chat = await chatOf(notified, owner)
    const changes = { minSeverity: 'critical' } as const
    await updateRecipient(room.deps, owner.caller, { id: chat, changes })
    await hook()
    expect(await titles(notified)).toHaveLength(1)
  })

  test('is not announced if it could not be added', async () => {
    await chatOf(notified, owner)
    const work = room.db.transaction(async (tx) => {
      await createRecipient({ ...room.deps, db: tx }, owner.caller, {
        name: 'Pager',
        channel: 'webhook',
        url: URL_A,
      })
      throw new Error('called off')
    })
    await expect(work).rejects.toThrow('called off')
    expect(await titles(notified)).toEqual([])
  })
})

describe('a destination that is off', () => {
  test('after days of failures has a notice to other recipients, with the last response and the retained alerts', async () => {
    const chat = await chatOf(notified, owner)
    const id = await hook()
    await forget()
    await record(failed(id))
    expect(await titles(notified)).toEqual([])
    room.clock.advance(120 * 3600)
    await record(failed(id, { reason: 'status_503' }))
    await record(failed(id))
    const b36 = id.toString(36)
    expect(await notices(notified)).toMatchObject([
      {
        recipientId: chat,
        kind: 'destination-off',
        glyph: '📪',
        severity: 'warning',
        title: 'Delivery off: \u2068Pager hook\u2069',
        body: [
          'Delivery failed for 5 days. Last response: 503.',
          'Nothing has been delivered since Nov 20, 2026, 12:00\u00a0UTC.',
        ].join('\n'),
        buttons: [
          [
            { label: 'Switch on and test', act: `1:rec.revive:${b36}` },
            { label: 'Log', act: `1:rec.log:${b36}:` },
          ],
        ],
      },
    ])
  })

  test('because it no longer exists is explained in words', async () => {
    await chatOf(notified, owner)
    const id = await hook()
    await forget()
    await record(failed(id, { reason: 'gone', disable: 'disabled' }))
    expect((await notices(notified))[0]?.body).toContain(
      'The endpoint reported that it is gone (HTTP 410).',
    )
  })

  test('for a reason without a text shows the reason itself', async () => {
    await chatOf(notified, owner)
    const id = await hook()
    await forget()
    for (const reason of ['odd {{reason}}', 'failing']) {
      await record(failed(id, { reason, disable: 'disabled' }))
      const changes = { status: 'active' } as const
      await updateRecipient(room.deps, owner.caller, { id, changes })
      room.clock.advance(1)
    }
    expect((await notices(notified)).map(({ body }) => body.split('\n')[0])).toEqual([
      'The destination permanently rejected the message. Reason: unknown error.',
      'The destination permanently rejected the message. Reason: unknown error.',
    ])
  })

  test('because a chat blocked the bot has one notice to the other recipients', async () => {
    const mailbox = await mailboxOf(notified, owner)
    await chatOf(notified, owner)
    await forget()
    await Promise.all(Array.from({ length: 3 }, () => blockChat(room.deps, 1001, room.clock.now())))
    expect(await notices(notified)).toMatchObject([
      {
        recipientId: mailbox,
        title: 'Delivery off: “\u2068Ann\u2069”',
        body: expect.stringMatching(
          /^The bot was blocked in the chat\. Delivery resumes when the bot is started there again\.\n/,
        ),
        buttons: [[{ label: 'Start the bot', url: 'https://t.me/watchdog_test_bot?start=menu' }]],
      },
    ])
  })

  test('because a group removed the bot names the group in a mailbox, without a button that leads nowhere', async () => {
    const mailbox = await mailboxOf(notified, owner)
    await chatOf(notified, owner, { id: -1001 })
    await forget()
    await blockChat(room.deps, -1001, room.clock.now())
    expect(await notices(notified)).toMatchObject([
      {
        recipientId: mailbox,
        title: 'Delivery off: “\u2068Node crew\u2069”',
        body: expect.stringContaining('an administrator of the group can turn alerts back on'),
        buttons: [],
      },
    ])
  })

  test('because a group removed the bot leads a private chat to its recipients', async () => {
    const chat = await chatOf(notified, owner)
    await chatOf(notified, owner, { id: -1001 })
    await forget()
    await blockChat(room.deps, -1001, room.clock.now())
    expect(await notices(notified)).toMatchObject([
      { recipientId: chat, buttons: [[{ label: 'Recipients', act: '1:rec.list' }]] },
    ])
  })

  test('because its reader unsubscribed has one notice to the other recipients', async () => {
    const chat = await chatOf(notified, owner)
    const mailbox = await mailboxOf(notified, owner)
    await forget()
    const opened = (await decryptDestinations(room.deps, [mailbox])).get(mailbox)
    const url = opened && unsubscribeUrl(room.deps, opened)
    const code = url?.replace(`${PUBLIC_URL}/unsubscribe/`, '') ?? ''
    await unsubscribe(room.deps, code)
    await unsubscribe(room.deps, code)
    await resubscribe(room.deps, code)
    expect(await notices(notified)).toMatchObject([
      {
        recipientId: chat,
        title: 'Delivery off: \u2068Ops\u2069',
        body: expect.stringContaining('The recipient unsubscribed.'),
        buttons: [
          [
            { label: 'Fix', act: `1:rec.card:${mailbox.toString(36)}` },
            { label: 'Status', act: '1:status' },
          ],
        ],
      },
    ])
  })

  test('has no notice if it is the only recipient', async () => {
    await chatOf(notified, owner)
    await blockChat(room.deps, 1001, room.clock.now())
    expect(await titles(notified)).toEqual([])
  })
})

describe('a reader of notices', () => {
  test('gets them in the reader’s language and time zone', async () => {
    await chatOf(notified, owner, { locale: 'en', timezone: 'Asia/Kathmandu' })
    await hook()
    expect((await notices(notified))[0]).toMatchObject({
      locale: 'en',
      body: expect.stringContaining('Nov 20, 2026, 17:45\u00a0UTC+5:45'),
    })
  })

  test('is notified at once of an added destination, also in quiet hours', async () => {
    await chatOf(notified, owner, { timezone: 'Asia/Tokyo' })
    const quietHours = { enabled: true, from: '22:00', to: '07:00', criticalBypass: true }
    const { version: _, ...settings } = { ...DEFAULT_SETTINGS, quietHours }
    await replaceSettings(room.deps, owner.caller, { settings })
    room.clock.set(new Date(NOON.getTime() + HOUR_MS - 1))
    await hook('a')
    room.clock.advance(0.001)
    await hook('b')
    expect((await notices(notified)).map(({ status }) => status)).toEqual(['pending', 'pending'])
  })
})

describe('a wallet’s readers of notices', () => {
  const webhook = { name: 'Pager', channel: 'webhook', url: URL_A } as const

  test('are its mailboxes if it has no private chat, and never Discord, Slack or a group', async () => {
    const mailbox = await mailboxOf(notified, owner)
    await chatOf(notified, owner, { id: -1003 })
    const discord = { name: 'Crew', channel: 'discord', default: true } as const
    const url = 'https://discord.com/api/webhooks/123456789012345678/abcdefghijklmnopqrstuvwxyz'
    await createRecipient(room.deps, owner.caller, { ...discord, url })
    await forget()
    await createRecipient(room.deps, owner.caller, webhook)
    expect((await notices(notified)).map(({ recipientId }) => recipientId)).toEqual([mailbox])
  })

  test('are its mailboxes when the first private chat is linked, so that no stranger can link a chat unnoticed', async () => {
    const mailbox = await mailboxOf(notified, owner)
    await forget()
    await chatOf(notified, owner)
    expect((await notices(notified)).map(({ recipientId }) => recipientId)).toEqual([mailbox])
  })

  test('do not include the person who added the destination in the chat', async () => {
    await chatOf(notified, owner)
    const bob = await chatOf(notified, owner, { id: 1002 })
    await mailboxOf(notified, owner)
    await forget()
    const caller = { ...owner.caller, via: 'telegram', telegramUserId: 1001 } as const
    await createRecipient(room.deps, caller, webhook)
    expect((await notices(notified)).map(({ recipientId }) => recipientId)).toEqual([bob])
  })

  test('are nobody if the only person with a chat added the destination', async () => {
    await chatOf(notified, owner)
    await mailboxOf(notified, owner)
    await forget()
    const caller = { ...owner.caller, via: 'telegram', telegramUserId: 1001 } as const
    await createRecipient(room.deps, caller, webhook)
    expect(await notices(notified)).toEqual([])
  })
})
