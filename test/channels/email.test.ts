import { createTransport } from 'nodemailer'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { headerOf, type Mail, oneClickUrlOf } from '#sandbox/inbox/mail.ts'
import type { SendContext } from '#src/channels/define.ts'
import type { Message } from '#src/channels/envelope.ts'
import { email, type MailDeps, sendConfirmation } from '#src/channels/mail/email.ts'
import { MAIL_CONNECTIONS } from '#src/channels/mail/mailer.ts'
import { inertText } from '#src/kernel/inert-text.ts'
import { envelopeOf } from '../support/envelopes.ts'
import { contextOf, type EmailWorld, emailWorld, NOW, WALLET } from './worlds.ts'

let world: EmailWorld

beforeEach(async () => {
  world = await emailWorld()
})

afterEach(() => world.close())

describe('a mail', () => {
  test('has its sender, subject, date and language, and links to unsubscribe', async () => {
    const unsubscribeUrl = 'https://watchdog.example.org/unsubscribe/abc'
    const mail = await sent({}, { unsubscribeUrl })
    expect(mail.from).toContain('watchdog@example.org')
    expect(mail.subject).toBe('Treasury: Balance changed: -12,500 FLR · Info')
    expect(mail.messageId).toMatch(/^<alert-4711-[0-9a-f]{24}@watchdog\.example\.org>$/)
    expect(headerOf(mail, 'Auto-Submitted')).toBe('auto-generated')
    expect(headerOf(mail, 'Date')).toContain('20 Nov 2026 12:00:00')
    expect(oneClickUrlOf(mail)).toBe(unsubscribeUrl)
    expect(mail.html).toContain('<html lang="en" dir="ltr">')
    expect(mail.text).toContain(unsubscribeUrl)
  })

  test('has the same Message-ID on every attempt', async () => {
    const destination = world.destination()
    for (const attempt of [1, 2]) {
      const now = new Date(NOW.getTime() + attempt * 300_000)
      await world.channel.send(destination, envelopeOf(), contextOf({ attempt, now }))
    }
    const [first, second] = world.inbox.mails
    expect(second?.messageId).toBe(first?.messageId)
  })

  test('has a Message-ID of its own for each recipient and each alert', async () => {
    const address = 'ops@example.org'
    const other = envelopeOf({ message: { alertId: 4712 } })
    await world.channel.send({ address }, envelopeOf(), contextOf())
    await world.channel.send({ address }, other, contextOf())
    await world.channel.send({ address: 'other@example.org' }, envelopeOf(), contextOf())
    const names = world.inbox.mails.map(({ messageId }) => messageId)
    expect(new Set(names).size).toBe(3)
    expect(names.join()).not.toContain('other')
  })

  test('that replies to an alert is in its thread', async () => {
    const destination = world.destination()
    const { messageId } = await world.channel.send(destination, envelopeOf(), contextOf())
    const recovery = envelopeOf({
      answers: 4711,
      answered: { severity: 'info', title: 'Balance changed: -12,500 FLR' },
      message: { alertId: 4712, event: 'provider.recovered', isRecovery: true, title: 'Back' },
    })
    await world.channel.send(destination, recovery, contextOf())
    const [alert, answer] = world.inbox.mails
    expect(alert?.messageId).toBe(messageId)
    expect(answer && headerOf(answer, 'In-Reply-To')).toBe(messageId)
    expect(answer && headerOf(answer, 'References')).toBe(messageId)
    expect(answer?.subject).toBe('Treasury: Back · Recovered')
    expect(answer?.messageId).not.toBe(messageId)
  })

  test('that replies to an alert of a group is in the thread of the group', async () => {
    const destination = world.destination()
    const items = [4711, 4712].map((alertId) => envelopeOf({ message: { alertId } }).message)
    const group = envelopeOf({ kind: 'group', items })
    const { messageId = '' } = await world.channel.send(destination, group, contextOf())
    const recovery = envelopeOf({ answers: 4712, message: { alertId: 4713 } })
    const context = contextOf({ answersMessageId: messageId })
    await world.channel.send(destination, recovery, context)
    const [first, answer] = world.inbox.mails
    expect(answer && headerOf(answer, 'In-Reply-To')).toBe(messageId)
    const inGroup = first === undefined ? [] : referencesOf(first)
    expect(inGroup).toHaveLength(2)
    expect(answer && referencesOf(answer)).toEqual([inGroup[1], messageId])
  })

  test('with several recoveries is in the thread of their alerts', async () => {
    const destination = world.destination()
    const { messageId = '' } = await world.channel.send(destination, envelopeOf(), contextOf())
    const items = [4713, 4714].map((alertId) => {
      const message = { alertId, event: 'credits.recovered', isRecovery: true }
      return envelopeOf({ message }).message
    })
    const recoveries = envelopeOf({
      ...{ kind: 'group', items, answersEach: [4711, 4712] },
      deliveryId: '0b8c6a4e-6f0e-4f0e-9a43-0d9b1f3c2a12',
      message: { alertId: 4713, event: 'credits.recovered', isRecovery: true },
    })
    await world.channel.send(destination, recoveries, contextOf())
    const alone = world.inbox.mails.at(-1)
    expect(alone && headerOf(alone, 'In-Reply-To')).toBe(messageId)
    expect(alone && referencesOf(alone)).toHaveLength(2)
    // The second alert came in a message with others.
    const answersMessageId = '<0b8c6a4e@watchdog.example.org>'
    await world.channel.send(destination, recoveries, contextOf({ answersMessageId }))
    const grouped = world.inbox.mails.at(-1)
    expect(grouped && headerOf(grouped, 'In-Reply-To')).toBe(answersMessageId)
  })

  test('that reminds of a severity increase replies to the mail about that', async () => {
    const destination = world.destination()
    const raised = envelopeOf({ kind: 'raised', answers: 4711, message: { alertId: 4712 } })
    const { messageId } = await world.channel.send(destination, raised, contextOf())
    const reminder = envelopeOf({ kind: 'reminder', answers: 4712, message: { alertId: 4712 } })
    await world.channel.send(destination, reminder, contextOf())
    const mail = world.inbox.mails.at(-1)
    expect(mail && headerOf(mail, 'In-Reply-To')).toBe(messageId)
    expect(mail?.messageId).not.toBe(messageId)
  })

  test('does not use a malformed Message-ID for its thread', async () => {
    const answersMessageId = '<x@y>\r\nBcc: victim@example.org'
    await world.channel.send(
      world.destination(),
      envelopeOf({ answers: 4711, message: { alertId: 4712 } }),
      contextOf({ answersMessageId }),
    )
    const mail = world.inbox.mails.at(-1)
    expect(mail && headerOf(mail, 'Bcc')).toBeUndefined()
    expect(mail && headerOf(mail, 'In-Reply-To')).toMatch(/^<alert-4711-[0-9a-f]{24}@/)
  })

  test('goes to one address only, whatever its texts contain', async () => {
    const evil = 'Hi\r\nBcc: victim@example.org\r\nContent-Type: text/html\r\n\r\n<b>x</b>'
    const mail = await sent({ title: evil, body: evil, watchLabel: evil, event: 'x' })
    expect(mail.envelope.to).toEqual([mail.to])
    expect(headerOf(mail, 'Bcc')).toBeUndefined()
    expect(mail.headers.filter(({ name }) => /^content-type$/i.test(name))).toHaveLength(1)
    expect(mail.subject).toContain('Bcc: victim@example.org')
    expect(mail.html).not.toContain('<b>x</b>')
  })

  test.each([
    'ops@example.org, other@example.org',
    'ops@example.org>\r\nRCPT TO:<x@example.org',
    '"a b"@example.org',
    'Ops <ops@example.org>',
    'ops',
    '@example.org',
  ])('is never written to %j', async (address) => {
    const send = world.channel.send({ address }, envelopeOf(), contextOf())
    await expect(send).rejects.toThrow()
    expect(world.inbox.mails).toHaveLength(0)
  })

  test('to a server that is down fails temporarily, and not as a fault of the mailbox', async () => {
    await world.inbox.setMode('down')
    const send = world.channel.send(world.destination(), envelopeOf(), contextOf())
    await expect(send).rejects.toMatchObject({ permanent: false, isOurFault: true })
  })

  test('masks a mailbox as its first character and its host', () => {
    expect(world.channel.mask({ address: 'ops@example.org' })).toBe('o…@example.org')
    expect(world.channel.partitionKey({ address: 'ops@EXAMPLE.org' })).toBe('example.org')
  })
})

test('the timeout of a mail begins when a connection is free, not while the mail waits for one', async () => {
  const signals: AbortSignal[] = []
  const release = Promise.withResolvers<void>()
  const mailer = {
    sendMail: async ({ signal }: { signal: unknown }) => {
      signals.push(signal as AbortSignal)
      await release.promise
    },
  } as unknown as NonNullable<MailDeps['mailer']>
  const channel = email.create({
    ...{ mailer, from: 'a@example.org', timeoutMs: 50 },
    publicUrl: 'https://example.org',
  })
  const send = () => channel.send({ address: 'b@example.org' }, envelopeOf(), contextOf())
  const sent = Array.from({ length: MAIL_CONNECTIONS + 1 }, send)
  await expect
    .poll(() => signals.map(({ aborted }) => aborted))
    .toEqual(Array.from({ length: MAIL_CONNECTIONS }, () => true))
  release.resolve()
  await Promise.all(sent)
  expect(signals).toHaveLength(MAIL_CONNECTIONS + 1)
})

test('the channel sends as many mails at a time as it has connections', () => {
  expect(world.channel.limits.capacity).toBe(MAIL_CONNECTIONS)
})

describe('the mail that asks for consent', () => {
  test('asks for consent, and has no link that acts without the page', async () => {
    const mailer = createTransport({ url: world.inbox.url })
    const deps = {
      mailer,
      from: 'Watchdog <watchdog@example.org>',
      publicUrl: 'https://watchdog.example.org',
    }
    await sendConfirmation(
      deps,
      {
        address: 'ops@example.org',
        wallet: WALLET,
        url: 'https://watchdog.example.org/confirm/abc',
        askedAt: NOW,
        expiresAt: new Date('2026-11-21T12:00:00Z'),
        locale: 'en',
        timezone: 'UTC',
      },
      new AbortController().signal,
    )
    const [mail] = world.inbox.mails
    expect(mail?.to).toBe('ops@example.org')
    expect(mail?.text).toContain(inertText('Send Watchdog alerts to ops@example.org?'))
    expect(mail?.text).toContain('https://watchdog.example.org/confirm/abc')
    expect(mail && headerOf(mail, 'Auto-Submitted')).toBe('auto-generated')
    expect(mail && headerOf(mail, 'List-Unsubscribe')).toBeUndefined()
    mailer.close()
  })
})

function referencesOf(mail: Mail): string[] {
  return headerOf(mail, 'References')?.split(/\s+/) ?? []
}

async function sent(message: Partial<Message>, context: Partial<SendContext> = {}): Promise<Mail> {
  await world.channel.send(world.destination(), envelopeOf({ message }), contextOf(context))
  const mail = world.inbox.mails.at(-1)
  if (mail === undefined) throw new Error('no mail arrived')
  return mail
}
