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

/** Id of incident 31 in a mailbox. */
const ROOT = /^<incident-31-[0-9a-f]{24}@watchdog\.example\.org>$/

let world: EmailWorld

function lastMail(): Mail {
  const mail = world.inbox.mails.at(-1)
  if (mail === undefined) throw new Error('no mail arrived')
  return mail
}

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
    expect(mail.messageId).toBe(`<${envelopeOf().deliveryId}@watchdog.example.org>`)
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

  test('names the id of its incident, which each mailbox, wallet and incident has of its own', async () => {
    const address = 'ops@example.org'
    const other = envelopeOf({ message: { incidentId: 32 } })
    const wallet = '0x000000000000000000000000000000000000dEaD'
    await world.channel.send({ address }, envelopeOf(), contextOf())
    await world.channel.send({ address }, other, contextOf())
    await world.channel.send({ address: 'other@example.org' }, envelopeOf(), contextOf())
    await world.channel.send({ address }, envelopeOf(), contextOf({ wallet }))
    const names = world.inbox.mails.flatMap(referencesOf)
    expect(new Set(names).size).toBe(4)
    expect(names[0]).toMatch(ROOT)
    expect(names.join()).not.toContain('other')
    // Written in another case, it is the same mailbox.
    await world.channel.send({ address: 'OPS@example.org' }, envelopeOf(), contextOf())
    expect(referencesOf(lastMail())).toEqual(names.slice(0, 1))
  })

  test('about an incident replies to the first one about it, whatever it is about', async () => {
    const destination = world.destination()
    const { messageId = '' } = await world.channel.send(destination, envelopeOf(), contextOf())
    const [root] = referencesOf(lastMail())
    expect(headerOf(lastMail(), 'In-Reply-To')).toBeUndefined()
    const items = [4713, 4714].map((alertId) => envelopeOf({ message: { alertId } }).message)
    const later: readonly Partial<Parameters<typeof envelopeOf>[0]>[] = [
      { kind: 'raised', answers: 4711, message: { alertId: 4712 } },
      { kind: 'reminder', answers: 4711, message: { alertId: 4711 } },
      { kind: 'alert', message: { alertId: 4713 } },
      { kind: 'group', items },
      {
        answers: 4711,
        message: { alertId: 4715, event: 'provider.recovered', isRecovery: true, title: 'Back' },
      },
    ]
    for (const [place, over] of later.entries()) {
      const deliveryId = `0b8c6a4e-6f0e-4f0e-9a43-0d9b1f3c2b1${place}`
      const context = contextOf({ answersMessageId: messageId, answeredMessageIds: [messageId] })
      await world.channel.send(destination, envelopeOf({ ...over, deliveryId }), context)
      expect(headerOf(lastMail(), 'In-Reply-To')).toBe(messageId)
      expect(referencesOf(lastMail())).toEqual([root, messageId])
      expect(lastMail().messageId).not.toBe(messageId)
    }
    expect(lastMail().subject).toBe('Treasury: Back · Recovered')
  })

  test('is in the thread of its incident although the first one is not known any more', async () => {
    const destination = world.destination()
    await world.channel.send(destination, envelopeOf(), contextOf())
    const [root] = referencesOf(lastMail())
    await world.channel.send(destination, envelopeOf({ answers: 4711 }), contextOf())
    expect(referencesOf(lastMail())).toEqual([root])
    expect(headerOf(lastMail(), 'In-Reply-To')).toBeUndefined()
  })

  test('about several incidents is in the thread of each; a roll-up is in none', async () => {
    const destination = world.destination()
    const items = [31, 32].map((incidentId) => envelopeOf({ message: { incidentId } }).message)
    const first = ['<a@watchdog.example.org>', '<b@watchdog.example.org>']
    const several = envelopeOf({ kind: 'group', items })
    await world.channel.send(destination, several, contextOf({ answeredMessageIds: first }))
    expect(referencesOf(lastMail())).toHaveLength(4)
    expect(referencesOf(lastMail())).toEqual(expect.arrayContaining(first))
    expect(headerOf(lastMail(), 'In-Reply-To')).toBe(first[1])
    await world.channel.send(destination, envelopeOf({ kind: 'rollup', items }), contextOf())
    expect(headerOf(lastMail(), 'References')).toBeUndefined()
  })

  test('does not use a malformed Message-ID for its thread', async () => {
    const malformed = '<x@y>\r\nBcc: victim@example.org'
    await world.channel.send(
      world.destination(),
      envelopeOf({ answers: 4711, message: { alertId: 4712 } }),
      contextOf({ answersMessageId: malformed, answeredMessageIds: [malformed] }),
    )
    expect(headerOf(lastMail(), 'Bcc')).toBeUndefined()
    expect(headerOf(lastMail(), 'In-Reply-To')).toBeUndefined()
    expect(referencesOf(lastMail())).toEqual([expect.stringMatching(ROOT)])
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
