import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Caller } from '#src/kernel/caller.ts'
import {
  pruneConfirmations,
  resendConfirmation,
  sendDueConfirmations,
} from '#src/recipients/confirmations.ts'
import {
  confirmEmail,
  findConsent,
  findSubscription,
  limitMailSeverity,
  refuseEmail,
  resubscribe,
  unsubscribe,
} from '#src/recipients/consent.ts'
import { decryptDestinations } from '#src/recipients/destinations.ts'
import { confirmationUrl, unsubscribeUrl } from '#src/recipients/mail-links.ts'
import {
  createRecipient,
  deleteRecipient,
  findRecipient,
  updateRecipient,
} from '#src/recipients/service.ts'
import { openRoom, PUBLIC_URL, type Room, refusal, stranger } from './room.ts'

let room: Room
let caller: Caller
let address: string
let count = 0
beforeAll(async () => {
  room = await openRoom()
})
beforeEach(async () => {
  caller = stranger()
  count += 1
  address = `ops${count}@example.org`
  await room.inbox.setMode('ok')
  room.inbox.refuse('rcpt', undefined)
  room.clock.advance(86_400)
  room.warnings.length = 0
})
afterAll(() => room.close())

const mailsTo = (to: string) => room.inbox.mails.filter((mail) => mail.to === to)
const read = (id: number) => findRecipient(room.deps, caller, id)
const change = (id: number, changes: Parameters<typeof updateRecipient>[2]['changes']) =>
  updateRecipient(room.deps, caller, { id, changes })

async function pending(over: { readonly locale?: 'de' } = {}) {
  const input = { name: 'Desk', channel: 'email', address, ...over } as const
  return await createRecipient(room.deps, caller, input)
}

async function confirmed() {
  const { id } = await pending()
  await room.sendMails()
  expect(room.warnings).toEqual([])
  const consent = await confirmEmail(room.deps, room.newestCode(address))
  expect(consent).toMatchObject({ state: 'confirmed', reader: { address } })
  return id
}

async function stopCode(id: number): Promise<string> {
  const opened = (await decryptDestinations(room.deps, [id])).get(id)
  const url = opened && unsubscribeUrl(room.deps, opened)
  return url?.replace(`${PUBLIC_URL}/unsubscribe/`, '') ?? ''
}

describe('a new mailbox', () => {
  test('is pending, gets one mail that asks for consent, and is active when its reader agrees', async () => {
    const made = await pending({ locale: 'de' })
    expect(made).toMatchObject({ status: 'pending', verifiedAt: null, locale: 'de' })
    expect(made).not.toHaveProperty('secret')
    expect(made.target).toBe('o…@example.org')
    await room.sendMails()
    await room.sendMails()
    expect(mailsTo(address)).toHaveLength(1)
    const code = room.newestCode(address)
    expect(await findConsent(room.deps, code)).toEqual({
      recipientId: made.id,
      state: 'waiting',
      reader: { address, wallet: caller.wallet, locale: 'de', timezone: 'UTC' },
      askedAt: room.clock.now(),
    })
    room.clock.advance(3600)
    const agreed = await confirmEmail(room.deps, code)
    expect(agreed).toMatchObject({ state: 'confirmed', first: true })
    expect(await read(made.id)).toMatchObject({
      status: 'active',
      statusReason: null,
      verifiedAt: room.clock.now(),
    })
  })
  test('does not change when the link is opened', async () => {
    const { id } = await pending()
    await room.sendMails()
    await findConsent(room.deps, room.newestCode(address))
    expect(await read(id)).toMatchObject({ status: 'pending' })
  })
  test('is confirmed once; a second confirmation succeeds, also after the link has expired', async () => {
    const id = await confirmed()
    const code = room.newestCode(address)
    const { verifiedAt } = (await read(id)) ?? {}
    room.clock.advance(2 * 86_400)
    const again = await confirmEmail(room.deps, code)
    expect(again).toMatchObject({ state: 'confirmed', first: false })
    expect(await refuseEmail(room.deps, code)).toMatchObject({ state: 'confirmed' })
    expect(await read(id)).toMatchObject({ status: 'active', verifiedAt })
  })
  test('cannot be confirmed after a day', async () => {
    const { id } = await pending()
    await room.sendMails()
    room.clock.advance(86_400)
    expect(await confirmEmail(room.deps, room.newestCode(address))).toMatchObject({ state: 'over' })
    expect(await refuseEmail(room.deps, room.newestCode(address))).toMatchObject({ state: 'over' })
    expect(await read(id)).toMatchObject({ status: 'pending' })
  })
  test('is removed when its reader declines', async () => {
    const { id } = await pending()
    await room.sendMails()
    expect(await refuseEmail(room.deps, room.newestCode(address))).toMatchObject({
      state: 'waiting',
    })
    expect(await read(id)).toBeUndefined()
    expect(await confirmEmail(room.deps, room.newestCode(address))).toBeUndefined()
  })
  test('is not confirmed by a forged link or one for another mailbox', async () => {
    const { id } = await pending()
    await room.sendMails()
    const code = room.newestCode(address)
    const expiresAt = new Date(room.clock.now().getTime() + 1000)
    const other = { recipientId: id, addressDigest: 'AAAAAAAAAAAA' }
    const forged = confirmationUrl(room.deps, other, expiresAt).replace(
      `${PUBLIC_URL}/confirm/`,
      '',
    )
    const changed = `${code.slice(0, -2)}${code.endsWith('AA') ? 'BB' : 'AA'}`
    for (const wrong of [forged, changed, '', 'x', await stopCode(id)]) {
      expect(await confirmEmail(room.deps, wrong)).toBeUndefined()
    }
    expect(await read(id)).toMatchObject({ status: 'pending' })
  })
})

describe('a changed address', () => {
  test('is pending again, and the old link no longer works', async () => {
    const id = await confirmed()
    const old = room.newestCode(address)
    const changed = await change(id, { address: `new-${address}` })
    expect(changed).toMatchObject({ status: 'pending', verifiedAt: null, target: 'n…@example.org' })
    await room.sendMails()
    expect(mailsTo(`new-${address}`)).toHaveLength(1)
    expect(await confirmEmail(room.deps, old)).toBeUndefined()
    const code = room.newestCode(`new-${address}`)
    expect(await confirmEmail(room.deps, code)).toMatchObject({ state: 'confirmed' })
    expect(await read(id)).toMatchObject({ status: 'active' })
  })
  test('cancels the mail to the former address', async () => {
    await room.inbox.setMode('down')
    const { id } = await pending()
    await change(id, { address: `new-${address}` })
    await room.inbox.setMode('ok')
    await room.sendMails()
    expect(mailsTo(address)).toHaveLength(0)
    expect(mailsTo(`new-${address}`)).toHaveLength(1)
  })
  test('counts as unchanged if only upper and lower case differ', async () => {
    const id = await confirmed()
    expect(await change(id, { address: address.toUpperCase() })).toMatchObject({ status: 'active' })
  })
})

describe('a mail server', () => {
  test('that is down loses no mail: it is sent later', async () => {
    await room.inbox.setMode('down')
    const { id } = await pending()
    await room.sendMails()
    expect(mailsTo(address)).toHaveLength(0)
    await room.inbox.setMode('ok')
    await room.sendMails()
    expect(mailsTo(address)).toHaveLength(0)
    room.clock.advance(60)
    await room.sendMails()
    expect(mailsTo(address)).toHaveLength(1)
    await confirmEmail(room.deps, room.newestCode(address))
    expect(await read(id)).toMatchObject({ status: 'active' })
  })
  test('that calls the mailbox unknown twice ends the mail, with the reason', async () => {
    room.inbox.setMailbox(address, 'permanent')
    const { id } = await pending()
    await room.sendMails()
    expect(await read(id)).toMatchObject({ status: 'pending', statusReason: 'mailbox_unknown' })
    room.clock.advance(60)
    await room.sendMails()
    room.inbox.setMailbox(address, undefined)
    room.clock.advance(3600)
    await room.sendMails()
    expect(mailsTo(address)).toHaveLength(0)
    expect(await read(id)).toMatchObject({ status: 'pending', statusReason: 'mailbox_unknown' })
  })
  test('that calls the mailbox unknown once gets the mail a minute later', async () => {
    room.inbox.setMailbox(address, 'permanent')
    const { id } = await pending()
    await room.sendMails()
    room.inbox.setMailbox(address, undefined)
    room.clock.advance(60)
    await room.sendMails()
    expect(mailsTo(address)).toHaveLength(1)
    expect(await read(id)).toMatchObject({ status: 'pending', statusReason: null })
  })
  test('that refuses this service gets the mail later; meanwhile the reason is shown', async () => {
    const message = 'sorry, that domain is not in my list of allowed rcpthosts (#5.7.1)'
    room.inbox.refuse('rcpt', { responseCode: 553, message })
    const { id } = await pending()
    for (const seconds of [0, 60, 300, 900]) {
      room.clock.advance(seconds)
      await room.sendMails()
      expect(await read(id)).toMatchObject({ status: 'pending', statusReason: 'mail_refused' })
    }
    room.inbox.refuse('rcpt', undefined)
    room.clock.advance(3600)
    await room.sendMails()
    expect(mailsTo(address)).toHaveLength(1)
  })
  test('gets the other mails if one address cannot be read', async () => {
    const { id } = await pending()
    const other = { name: 'Desk', channel: 'email', address: `other-${address}` } as const
    await createRecipient(room.deps, stranger(), other)
    await room.database.sql`update recipients set destination = 'garbage' where id = ${id}`
    await room.sendMails()
    expect(mailsTo(`other-${address}`)).toHaveLength(1)
  })
  test('gets each mail from one process only', async () => {
    const others = Array.from({ length: 15 }, (_, index) =>
      createRecipient(room.deps, caller, {
        name: `Desk ${index}`,
        channel: 'email',
        address: `p${index}-${address}`,
      }),
    )
    await Promise.all(others)
    await Promise.all([room.sendMails(), room.sendMails(), room.sendMails()])
    const arrived = room.inbox.mails.filter(({ to }) => to.endsWith(`-${address}`))
    expect(arrived).toHaveLength(15)
    expect(new Set(arrived.map(({ to }) => to)).size).toBe(15)
  })
  test('gets the mail again after the sending process died', async () => {
    await pending()
    const died = AbortSignal.abort(new Error('the process dies'))
    const { mailer } = room.mail
    const hanging = { sendMail: () => Promise.reject(new Error('cut')) }
    const stop = new AbortController()
    const mail = {
      ...room.mail,
      mailer: {
        sendMail: () => {
          stop.abort(died.reason)
          return hanging.sendMail()
        },
      } as unknown as typeof mailer,
    }
    await sendDueConfirmations({ ...room.deps, mail }, stop.signal)
    await room.sendMails()
    expect(mailsTo(address)).toHaveLength(0)
    room.clock.advance(120)
    await room.sendMails()
    expect(mailsTo(address)).toHaveLength(1)
  })
})

describe('asking for consent again', () => {
  const again = (id: number) => resendConfirmation(room.deps, caller, id)

  test('is possible after five minutes and three times a day', async () => {
    const { id } = await pending()
    await room.sendMails()
    expect(await refusal(again(id))).toMatchObject({
      kind: 'rate_limited',
      retryAfterSeconds: 300,
      values: { seconds: 300 },
    })
    for (let sent = 2; sent <= 3; sent += 1) {
      room.clock.advance(300)
      await again(id)
      await room.sendMails()
      expect(mailsTo(address)).toHaveLength(sent)
    }
    room.clock.advance(300)
    expect(await refusal(again(id))).toMatchObject({ retryAfterSeconds: 86_400 - 900 })
  })
  test('is counted per address, also if the recipient is deleted and created again', async () => {
    for (let made = 0; made < 5; made += 1) {
      const { id } = await pending()
      await room.sendMails()
      await deleteRecipient(room.deps, caller, id)
    }
    expect(mailsTo(address)).toHaveLength(1)
    const { id } = await pending()
    room.clock.advance(300)
    await room.sendMails()
    expect(mailsTo(address)).toHaveLength(2)
    expect(await read(id)).toMatchObject({ status: 'pending' })
  })
  test('does not send a second mail while the first one waits for the mail server', async () => {
    await room.inbox.setMode('down')
    const { id } = await pending()
    await room.sendMails()
    await again(id)
    await room.inbox.setMode('ok')
    room.clock.advance(3600)
    await room.sendMails()
    expect(mailsTo(address)).toHaveLength(1)
  })
  test('happens also if a mailbox that never agreed is switched on', async () => {
    const { id } = await pending()
    await room.sendMails()
    expect(await change(id, { status: 'active' })).toMatchObject({ status: 'pending' })
    await room.sendMails()
    expect(mailsTo(address)).toHaveLength(1)
    room.clock.advance(300)
    await room.sendMails()
    expect(mailsTo(address)).toHaveLength(2)
  })
  test('is possible for the owner only, and sends nothing to a mailbox that has agreed', async () => {
    const id = await confirmed()
    room.clock.advance(3600)
    await again(id)
    await room.sendMails()
    expect(mailsTo(address)).toHaveLength(1)
    expect(await refusal(resendConfirmation(room.deps, stranger(), id))).toMatchObject({
      code: 'not_found',
    })
  })
  test('is counted for two days, then the count is deleted', async () => {
    await pending()
    await room.sendMails()
    const count = async () => {
      const { wallet } = caller
      const rows = await room.database
        .sql`select 1 from confirmation_mails where wallet = ${wallet}`
      return rows.length
    }
    await pruneConfirmations(room.deps)
    expect(await count()).toBe(1)
    room.clock.advance(2 * 86_400 + 1)
    await pruneConfirmations(room.deps)
    expect(await count()).toBe(0)
  })
})

describe('unsubscribing', () => {
  test('ends all mail, succeeds twice, and can be undone', async () => {
    const id = await confirmed()
    const code = await stopCode(id)
    expect(await findSubscription(room.deps, code)).toMatchObject({ on: true })
    expect(await unsubscribe(room.deps, code)).toMatchObject({ on: false })
    expect(await unsubscribe(room.deps, code)).toMatchObject({ on: false })
    expect(await read(id)).toMatchObject({ status: 'disabled', statusReason: 'unsubscribed' })
    expect(await resubscribe(room.deps, code)).toMatchObject({ on: true })
    expect(await read(id)).toMatchObject({ status: 'active', statusReason: null })
  })
  test('cannot be undone by the owner: only a new consent switches the mailbox on', async () => {
    const id = await confirmed()
    await unsubscribe(room.deps, await stopCode(id))
    expect(await change(id, { status: 'active' })).toMatchObject({ status: 'pending' })
    room.clock.advance(300)
    await room.sendMails()
    await confirmEmail(room.deps, room.newestCode(address))
    expect(await read(id)).toMatchObject({ status: 'active' })
  })
  test('of a mailbox that the owner switched off stays in force when it is switched on again', async () => {
    const id = await confirmed()
    await change(id, { status: 'disabled' })
    await unsubscribe(room.deps, await stopCode(id))
    expect(await read(id)).toMatchObject({ status: 'disabled', statusReason: 'by_owner' })
    expect(await change(id, { status: 'active' })).toMatchObject({ status: 'pending' })
  })
  test('can leave critical alerts on', async () => {
    const id = await confirmed()
    const limited = await limitMailSeverity(room.deps, await stopCode(id), 'critical')
    expect(limited).toMatchObject({ on: true, minSeverity: 'critical' })
    expect(await read(id)).toMatchObject({ status: 'active', minSeverity: 'critical' })
  })
  test('works with the links of old mails until the address changes', async () => {
    const id = await confirmed()
    const code = await stopCode(id)
    room.clock.advance(400 * 86_400)
    expect(await findSubscription(room.deps, code)).toMatchObject({ on: true })
    await change(id, { address: `new-${address}` })
    expect(await unsubscribe(room.deps, code)).toBeUndefined()
  })
})

describe('for every caller', () => {
  const askFor = (to: string, by = stranger()) =>
    createRecipient(room.deps, by, { name: 'Desk', channel: 'email', address: to })

  test('a mailbox gets three mails a day, however many wallets ask for it at once', async () => {
    await Promise.all(Array.from({ length: 8 }, () => refusal(askFor(address))))
    for (let minutes = 0; minutes < 23 * 60; minutes += 15) {
      room.clock.advance(15 * 60)
      await room.sendMails()
    }
    expect(mailsTo(address)).toHaveLength(3)
  })
  test('a mailbox that is deleted while a mail is being sent gets no further mail', async () => {
    const { mailer } = room.mail
    // Mails left by other tests.
    await room.sendMails()
    let { id } = await pending()
    const between = {
      sendMail: async (content: Parameters<typeof mailer.sendMail>[0]) => {
        await deleteRecipient(room.deps, caller, id)
        id = (await pending()).id
        return await mailer.sendMail(content)
      },
    } as unknown as typeof mailer
    const mail = { ...room.mail, mailer: between }
    for (let time = 0; time < 5; time += 1) {
      await sendDueConfirmations({ ...room.deps, mail }, new AbortController().signal)
    }
    expect(mailsTo(address)).toHaveLength(1)
  })
  test('subaddresses of a mailbox count as one mailbox', async () => {
    const tagged = (tag: number) => address.replace('@', `+${tag}@`)
    for (let tag = 0; tag < 4; tag += 1) await askFor(tagged(tag))
    expect(await refusal(askFor(tagged(4)))).toMatchObject({ code: 'rate_limited' })
    room.clock.advance(20 * 60)
    await room.sendMails()
    const sent = Array.from({ length: 5 }, (_, tag) => mailsTo(tagged(tag)).length)
    expect(sent.reduce((sum, mails) => sum + mails)).toBe(3)
  })
  test('a Google mailbox counts as one mailbox, wherever its dots are', async () => {
    const spellings = ['night.desk@gmail.com', 'nightdesk@gmail.com', 'n.ight.desk@googlemail.com']
    for (const spelling of spellings) await askFor(spelling)
    await askFor('Night.Desk+7@Gmail.com')
    expect(await refusal(askFor('nightdes.k@googlemail.com'))).toMatchObject({
      code: 'rate_limited',
    })
    room.clock.advance(20 * 60)
    await room.sendMails()
    const all = room.inbox.mails.filter(({ to }) => /@(gmail|googlemail)\.com$/i.test(to))
    expect(all).toHaveLength(3)
    // At other hosts, dots distinguish mailboxes.
    const elsewhere = ['night', 'n.ight', 'ni.ght', 'nig.ht', 'nigh.t']
    for (const name of elsewhere) await askFor(`${name}@example.org`)
  })
  test('a wallet causes twenty mails a day, however often it changes an address', async () => {
    const { id } = await pending()
    for (let step = 0; step < 30; step += 1) {
      await change(id, { address: `desk${step}-${address}` })
      await room.sendMails()
    }
    const sent = room.inbox.mails.filter(({ to }) => to.startsWith('desk') && to.endsWith(address))
    expect(sent).toHaveLength(20)
  })
  test('a mailbox whose reader declined is not asked again for 90 days, by any wallet', async () => {
    const other = await askFor(address)
    await pending()
    await room.sendMails()
    await refuseEmail(room.deps, room.newestCode(address))
    room.clock.advance(10 * 60)
    await room.sendMails()
    expect(mailsTo(address)).toHaveLength(1)
    expect(other.status).toBe('pending')
    for (const by of [caller, stranger()]) {
      expect(await refusal(askFor(address, by))).toMatchObject({
        kind: 'conflict',
        code: 'mailbox_refused',
      })
    }
    room.clock.advance(90 * 86_400)
    await pruneConfirmations(room.deps)
    await askFor(address)
    await room.sendMails()
    expect(mailsTo(address)).toHaveLength(2)
  })
})
