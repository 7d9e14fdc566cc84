import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createChannels } from '#src/channels/index.ts'
import { createMailer } from '#src/channels/mail/mailer.ts'
import { enqueue, newDeliveryId } from '#src/delivery/service.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { toStoredDestination } from '#src/recipients/destination-box.ts'
import * as recipientRows from '#src/recipients/store.ts'
import { openRoom, type Room, stranger } from '../recipients/room.ts'
import { drain } from '../support/drain.ts'
import { envelopeOf } from '../support/envelopes.ts'

/** What a mail server's answers do to a mailbox that gets alerts. */

let room: Room
let address: string
let id: number
let count = 0

beforeAll(async () => {
  room = await openRoom()
})
afterAll(() => room.close())
beforeEach(async () => {
  count += 1
  address = `ops${count}@example.org`
  id = await activeMailbox()
  room.inbox.refuse('rcpt', undefined)
})

async function activeMailbox(wallet = stranger().wallet): Promise<number> {
  const now = room.clock.now()
  const row = await recipientRows.insertRow(room.db, {
    ...{ wallet, channel: 'email', own: false, name: address },
    ...toStoredDestination(room.box, room.channels.email, { address }),
    ...{ locale: 'en', timezone: 'UTC', status: 'active', minSeverity: 'info', isDefault: true },
    ...{ verifiedAt: now, createdAt: now, updatedAt: now },
  })
  return row.id
}

async function notify(recipientId = id): Promise<void> {
  const now = room.clock.now()
  const { wallet } = (await recipientRows.findRecipientRow(room.db, recipientId)) ?? {
    wallet: '0x',
  }
  const deliveryId = newDeliveryId(now)
  await room.db.transaction((tx) =>
    enqueue(tx, [
      {
        ...{ id: deliveryId, wallet, alertId: null, recipientId, channel: 'email' },
        ...{ partitionKey: 'example.org', orderKey: `${recipientId} ${deliveryId}` },
        firedAt: now,
        ...{ position: 0, createdAt: now, status: 'pending' },
        envelope: envelopeOf({ deliveryId, message: { firedAt: now.toISOString() } }),
      },
    ]),
  )
}

const deliver = (over: Partial<Room['deps']> = {}) =>
  drain({
    ...room.deps,
    ...over,
    stateOf: async () => new Map(),
    incidentOf: async () => ({ isOver: false, isTaken: false }),
  })

/** Makes an attempt when it is surely due, and returns what it found. */
async function attemptAfter(seconds: number) {
  room.clock.advance(seconds * 1.25)
  await deliver()
  return await state()
}

async function state(recipientId = id) {
  const [delivery] = await room.database.sql`
    select status, attempts, last_error from deliveries where recipient_id = ${recipientId}
    order by created_at desc limit 1`
  const row = await recipientRows.findRecipientRow(room.db, recipientId)
  return [row?.status, delivery?.['status'], delivery?.['attempts'], delivery?.['last_error']]
}

test('a mailbox is switched off when the server calls it unknown twice, two hours apart', async () => {
  room.inbox.refuse('rcpt', { responseCode: 550, message: '5.1.1 User unknown' })
  await notify()
  expect(await attemptAfter(0)).toEqual(['active', 'retrying', 1, 'mailbox_unknown'])
  expect(await attemptAfter(5)).toEqual(['active', 'retrying', 2, 'mailbox_unknown'])
  expect(await attemptAfter(300)).toEqual(['active', 'retrying', 3, 'mailbox_unknown'])
  expect(await attemptAfter(1800)).toEqual(['active', 'retrying', 4, 'mailbox_unknown'])
  expect(await attemptAfter(7200)).toEqual(['disabled', 'failed', 5, 'mailbox_unknown'])
})

test('a server that calls a mailbox unknown for an hour loses no message', async () => {
  room.inbox.refuse('rcpt', { responseCode: 550, message: '5.1.1 User unknown' })
  await notify()
  for (const seconds of [0, 5, 300, 1800]) await attemptAfter(seconds)
  room.inbox.refuse('rcpt', undefined)
  expect(await attemptAfter(7200)).toEqual(['active', 'delivered', 5, null])
  expect(room.inbox.mails.at(-1)?.to).toBe(address)
})

test('one answer proves nothing after failures of another kind', async () => {
  room.inbox.refuse('rcpt', { responseCode: 450, message: '4.2.2 Mailbox full' })
  await notify()
  for (const seconds of [0, 5, 300, 1800]) await attemptAfter(seconds)
  room.inbox.refuse('rcpt', { responseCode: 550, message: '5.1.1 User unknown' })
  expect(await attemptAfter(7200)).toEqual(['active', 'retrying', 5, 'mailbox_unknown'])
  expect(await attemptAfter(18_000)).toEqual(['disabled', 'failed', 6, 'mailbox_unknown'])
})

test.each([
  [553, 'sorry, that domain is not in my list of allowed rcpthosts (#5.7.1)', 'mail_refused'],
  [554, '5.7.1 Service unavailable; Client host blocked using zen.spamhaus.org', 'mail_refused'],
  [451, '4.7.1 Greylisting in action', 'mail_postponed'],
])('a mailbox stays on for years while the server refuses this service with %i %s', async (responseCode, message, reason) => {
  room.inbox.refuse('rcpt', { responseCode, message })
  for (let alert = 0; alert < 3; alert += 1) {
    await notify()
    expect(await attemptAfter(86_400 * 365)).toEqual(['active', 'retrying', 1, reason])
    for (let attempt = 0; attempt < 8; attempt += 1) await attemptAfter(36_000)
    expect(await state()).toEqual(['active', 'failed', 8, reason])
  }
})

test('a mailbox that was full for five days is switched off', async () => {
  room.inbox.refuse('rcpt', { responseCode: 552, message: '5.2.2 Mailbox full' })
  await notify()
  expect(await attemptAfter(0)).toEqual(['active', 'retrying', 1, 'mail_refused'])
  await notify()
  await attemptAfter(120 * 3600)
  expect((await state())[0]).toBe('disabled')
})

describe('a mail server that suddenly calls every mailbox unknown', () => {
  const STEPS = [0, 5, 300, 1800, 7200, 18_000, 36_000, 36_000]

  /** Mailboxes of wallets, and a mail server that was never used. */
  async function world(wallets: readonly (`0x${string}` | undefined)[]) {
    const mailer = createMailer(room.inbox.url, { clock: room.clock, log: silentLogger })
    const mail = { ...room.mail, mailer }
    const channels = createChannels({ ...mail, telegram: undefined, allowPrivateUrls: false })
    const ids: number[] = []
    for (const wallet of wallets) {
      count += 1
      address = `ops${count}@example.org`
      ids.push(await activeMailbox(wallet))
    }
    return {
      mailer,
      ids,
      notifyAll: async () => {
        for (const recipientId of ids) await notify(recipientId)
      },
      attempt: async (seconds: number) => {
        room.clock.advance(seconds * 1.25)
        await deliver({ channels })
        return await Promise.all(ids.map((recipientId) => state(recipientId)))
      },
    }
  }
  const statusesOf = (states: readonly (readonly unknown[])[]) => states.map(([status]) => status)
  const refuseAll = () =>
    room.inbox.refuse('rcpt', { responseCode: 550, message: '5.1.1 User unknown' })

  test('switches off none of three mailboxes of two owners, and they get the next message', async () => {
    const { wallet } = stranger()
    const { notifyAll, attempt, mailer, ids } = await world([wallet, wallet, undefined])
    refuseAll()
    // An outage that is longer than the time after which a destination is switched off for nothing but failures.
    for (let days = 0; days < 6; days += 1) {
      await notifyAll()
      for (const seconds of STEPS) {
        const states = await attempt(seconds)
        expect(statusesOf(states)).toEqual(['active', 'active', 'active'])
      }
      expect(mailer.problem()).toContain('5.1.1 User unknown')
    }
    expect(await state(ids[0])).toEqual(['active', 'failed', 8, 'mail_outage'])
    await notifyAll()
    const during = await attempt(0)
    expect(during.map(([, ...delivery]) => delivery)).toEqual(
      Array(3).fill(['retrying', 1, 'mail_outage']),
    )
    room.inbox.refuse('rcpt', undefined)
    const after = await attempt(5)
    expect(after.map(([status, delivery]) => [status, delivery])).toEqual(
      Array(3).fill(['active', 'delivered']),
    )
    expect(mailer.problem()).toBeUndefined()
  })

  test('switches off three mailboxes of one owner, who may have closed them', async () => {
    const { wallet } = stranger()
    const { notifyAll, attempt, mailer } = await world([wallet, wallet, wallet])
    refuseAll()
    await notifyAll()
    for (const seconds of STEPS.slice(0, 4)) await attempt(seconds)
    expect(statusesOf(await attempt(7200))).toEqual(['disabled', 'disabled', 'disabled'])
    expect(mailer.problem()).toBeUndefined()
  })

  test('switches off unknown mailboxes of several owners while it accepts e-mails to others', async () => {
    const dead = await world([undefined, undefined, undefined])
    for (const recipientId of dead.ids) {
      const row = await recipientRows.findRecipientRow(room.db, recipientId)
      room.inbox.setMailbox(row?.name ?? '', 'permanent')
    }
    await dead.notifyAll()
    for (const seconds of STEPS.slice(0, 4)) {
      await dead.mailer.sendMail({ from: 'a@example.org', to: 'b@example.org' })
      await dead.attempt(seconds)
      await dead.mailer.sendMail({ from: 'a@example.org', to: 'b@example.org' })
    }
    expect(statusesOf(await dead.attempt(7200))).toContain('disabled')
  })
})
