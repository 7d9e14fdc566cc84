import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import Fastify, { type FastifyInstance } from 'fastify'
import nodemailer, { type SendMailOptions } from 'nodemailer'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  confirmLinkOf,
  headerOf,
  type Mail,
  oneClickUrlOf,
  unsubscribe,
} from '#sandbox/inbox/mail.ts'
import { inboxPage } from '#sandbox/inbox/page.ts'
import { type Inbox, startMailServer } from '#sandbox/inbox.ts'

const NOW = new Date('2026-01-02T03:04:05.678Z')

const ALERT = {
  from: 'Watchdog <alerts@watchdog.test>',
  to: 'Ops <ops@example.org>',
  subject: 'Warning: ⚠ تنبيه for <Node A>',
  text: 'Asked for by 0x3f12.\n\nhttps://watch.test/a/1\nhttps://watch.test/confirm/abc.def\n',
  html: '<html><head><title>x</title></head><body>Hello <b>Ops</b></body></html>',
}

let inbox: Inbox

beforeEach(async () => {
  inbox = await startMailServer({ clock: { now: () => NOW } })
})

afterEach(() => inbox.close())

function send(mail: SendMailOptions = {}) {
  return nodemailer.createTransport(inbox.url).sendMail({ ...ALERT, ...mail })
}

async function sendAndRead(mail: SendMailOptions = {}): Promise<Mail> {
  const count = inbox.mails.length
  await send(mail)
  return inbox.waitFor(({ id }) => id > count)
}

describe('inbox', () => {
  it('keeps a mail as it was sent', async () => {
    const mail = await sendAndRead({
      envelope: { from: 'bounce@watchdog.test', to: ['ops@example.org', 'two@example.org'] },
      messageId: '<two@watchdog.test>',
      inReplyTo: '<one@watchdog.test>',
      headers: { 'Auto-Submitted': 'auto-generated', 'X-Long': 'word '.repeat(40).trim() },
    })
    expect(mail).toMatchObject({
      id: 1,
      receivedAt: NOW,
      envelope: { from: 'bounce@watchdog.test', to: ['ops@example.org', 'two@example.org'] },
      from: '"Watchdog" <alerts@watchdog.test>',
      to: '"Ops" <ops@example.org>',
      subject: ALERT.subject,
      messageId: '<two@watchdog.test>',
      inReplyTo: '<one@watchdog.test>',
      html: expect.stringContaining('Hello <b>Ops</b>'),
    })
    expect(mail.text?.trim()).toBe(ALERT.text.trim())
    expect(headerOf(mail, 'auto-submitted')).toBe('auto-generated')
    expect(headerOf(mail, 'X-Long')).toBe('word '.repeat(40).trim())
    expect(headerOf(mail, 'X-Absent')).toBeUndefined()
    expect(mail.raw.toString()).toContain('Message-ID: <two@watchdog.test>\r\n')
  })

  it('does not invent a missing part', async () => {
    expect(await sendAndRead({ html: undefined })).toMatchObject({ html: undefined })
    expect(await sendAndRead({ text: undefined })).toMatchObject({ text: undefined })
  })

  it('waits for a mail, whether it has arrived or is still to arrive', async () => {
    const coming = inbox.waitFor(({ subject }) => subject === 'Second')
    await send({ subject: 'First' })
    expect(await inbox.waitFor(({ subject }) => subject === 'First')).toBe(inbox.mails[0])
    await send({ subject: 'Second' })
    expect(await coming).toBe(inbox.mails[1])
  })

  it('reports which mails arrived if the expected one does not', async () => {
    await send({ subject: 'First' })
    await expect(inbox.waitFor(() => false, 20)).rejects.toThrow(
      'no such mail within 20 ms; there is\n  to "Ops" <ops@example.org>: First',
    )
  })

  it('deletes mails on request', async () => {
    await send()
    inbox.clear()
    expect(inbox.mails).toEqual([])
    await expect(inbox.waitFor(() => true, 20)).rejects.toThrow('there is none')
  })

  it('refuses mails with 450 or 550, and stores none', async () => {
    await inbox.setMode('temporary')
    await expect(send()).rejects.toMatchObject({ responseCode: 450 })
    await inbox.setMode('permanent')
    await expect(send()).rejects.toMatchObject({ responseCode: 550 })
    expect(inbox.mails).toEqual([])
    await inbox.setMode('ok')
    expect(await send()).toMatchObject({ accepted: ['ops@example.org'] })
  })

  it('can respond differently for one mailbox', async () => {
    inbox.setMailbox('Gone@Example.org', 'permanent')
    inbox.setMailbox('busy@example.org', 'temporary')
    const to = ['ops@example.org', 'gone@example.org', 'busy@example.org']
    const { accepted, rejectedErrors } = await send({ to })
    expect(accepted).toEqual(['ops@example.org'])
    expect(rejectedErrors).toMatchObject([{ responseCode: 550 }, { responseCode: 450 }])
    inbox.setMailbox('gone@example.org', undefined)
    expect(await send({ to: 'gone@example.org' })).toMatchObject({ rejected: [] })
  })

  it('does not accept connections while it is down, and has the same address afterwards', async () => {
    const idle = connect(Number(new URL(inbox.url).port), '127.0.0.1')
    await once(idle, 'data')
    const dropped = once(idle, 'close')
    await inbox.setMode('down')
    await dropped
    await expect(send()).rejects.toMatchObject({ code: 'ESOCKET' })
    await inbox.setMode('ok')
    await send()
    expect(inbox.mails).toHaveLength(1)
  })

  it('offers neither encryption nor a login', async () => {
    const socket = connect(Number(new URL(inbox.url).port), '127.0.0.1')
    await once(socket, 'data')
    socket.write('EHLO test\r\n')
    const [greeting] = await once(socket, 'data')
    expect(String(greeting)).toMatch(/^250/m)
    expect(String(greeting)).not.toMatch(/STARTTLS|AUTH/)
    socket.destroy()
  })

  it('ends all connections and waiting callers when it closes', async () => {
    const idle = connect(Number(new URL(inbox.url).port), '127.0.0.1')
    await once(idle, 'data')
    const dropped = once(idle, 'close')
    const waiting = expect(inbox.waitFor(() => false)).rejects.toThrow('before it closed')
    await Promise.all([inbox.close(), inbox.close()])
    await Promise.all([dropped, waiting])
    await expect(send()).rejects.toMatchObject({ code: 'ESOCKET' })
  })
})

describe('actions of a mail’s reader', () => {
  it('finds the link that confirms an address', async () => {
    expect(confirmLinkOf(await sendAndRead())).toBe('https://watch.test/confirm/abc.def')
    expect(confirmLinkOf(await sendAndRead({ text: 'https://watch.test/a/1' }))).toBeUndefined()
  })

  it('unsubscribes with the post of RFC 8058', async () => {
    const posted = Promise.withResolvers<IncomingMessage & { body?: string }>()
    const server = createServer(async (request, response) => {
      posted.resolve(Object.assign(request, { body: await text(request) }))
      response.writeHead(302, { location: '/elsewhere' }).end()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('no port')
    const link = `http://127.0.0.1:${address.port}/unsubscribe/signed`
    const mail = await sendAndRead({
      headers: {
        'List-Unsubscribe': `<mailto:stop@watchdog.test>, <${link}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      },
    })
    expect(oneClickUrlOf(mail)).toBe(link)
    expect(await unsubscribe(mail)).toBe(302)
    const request = await posted.promise
    expect(request).toMatchObject({ method: 'POST', url: '/unsubscribe/signed' })
    expect(request.headers).toMatchObject({ 'content-type': 'application/x-www-form-urlencoded' })
    expect(request.headers.cookie).toBeUndefined()
    expect(request.body).toBe('List-Unsubscribe=One-Click')
    server.close()
  })

  it('has no one-click link if the mail does not offer it', async () => {
    const mail = await sendAndRead({
      headers: { 'List-Unsubscribe': '<https://watch.test/unsubscribe/x>' },
    })
    expect(oneClickUrlOf(mail)).toBeUndefined()
    await expect(unsubscribe(mail)).rejects.toThrow('no one-click')
  })
})

describe('inbox page', () => {
  let app: FastifyInstance
  let base: string

  beforeEach(async () => {
    app = Fastify()
    await app.register(inboxPage, { inbox })
    base = await app.listen({ host: '127.0.0.1', port: 0 })
  })

  afterEach(() => app.close())

  const page = async (path = '/inbox') => (await fetch(base + path)).text()
  const post = (path: string, form: Record<string, string> = {}) =>
    fetch(base + path, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' })

  it('shows the newest mail and lists all, newest first', async () => {
    expect(await page()).toContain('No mail yet')
    await send({ subject: 'First' })
    await send({ subject: 'Second' })
    const html = await page()
    expect([...html.matchAll(/<li id="mail-(\d)"/g)].map(([, id]) => id)).toEqual(['2', '1'])
    expect(html).toContain('<h2><bdi>Second</bdi></h2>')
    expect(await page('/inbox?mail=1')).toContain('<h2><bdi>First</bdi></h2>')
  })

  it('escapes whatever a mail contains', async () => {
    const evil = '</pre></iframe>"><script>alert(1)</script>'
    await send({
      ...{ subject: evil, text: evil, html: `<p title='"'>${evil}</p>` },
      headers: { 'X-Evil': evil },
    })
    const html = await page()
    expect(html).not.toContain('<script>')
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  })

  it('lets no script run and loads nothing from other hosts', async () => {
    await send()
    const { headers } = await fetch(`${base}/inbox`)
    expect(headers.get('content-security-policy')).toContain(
      "default-src 'none'; script-src 'self'",
    )
    const html = await page()
    const [, sandbox] = /<iframe [^>]*sandbox="([^"]*)"/.exec(html) ?? []
    expect(sandbox?.split(' ')).toEqual(['allow-popups', 'allow-popups-to-escape-sandbox'])
    expect(html).not.toMatch(/ on[a-z]+=/)
  })

  it('shows the mail in dark or light, in the width of a phone or a computer', async () => {
    await send({
      html:
        '<html><head><meta name="color-scheme" content="light dark"><style>' +
        '@media (prefers-color-scheme: dark) { p { color: red } }</style></head></html>',
    })
    expect(await page()).toMatch(/frame light desktop.*content=&quot;light&quot;.*max-width: 0/s)
    const dark = await page('/inbox?scheme=dark&width=phone')
    expect(dark).toMatch(/frame dark phone.*content=&quot;dark&quot;.*min-width: 0/s)
  })

  it('links a reply to the mail it replies to', async () => {
    await send({ subject: 'Alert', messageId: '<alert@watchdog.test>' })
    await send({ subject: 'Re: Alert', inReplyTo: '<alert@watchdog.test>' })
    expect(await page()).toContain('<dt>Reply to</dt><dd><a href="/inbox?mail=1"><bdi>Alert</bdi>')
  })

  it('offers to follow the confirm link', async () => {
    await send()
    expect(await page()).toMatch(
      /<a [^>]*href="https:\/\/watch.test\/confirm\/abc.def"[^>]*>Follow confirm link/,
    )
  })

  it('unsubscribes with one click, and shows the response', async () => {
    await send({
      headers: {
        'List-Unsubscribe': `<${base}/nobody-here>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      },
    })
    expect(await page()).toContain('One-click unsubscribe')
    const answer = await post('/inbox/mails/1/unsubscribe?scheme=dark')
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      '/inbox?mail=1&scheme=dark',
    ])
    expect(await page()).toMatch(/role="status" class="critical">✗ answered 404/)
    expect((await post('/inbox/mails/9/unsubscribe')).status).toBe(404)
  })

  it('switches how the server responds to mail', async () => {
    expect((await post('/inbox/mode', { mode: 'permanent' })).status).toBe(303)
    expect(inbox.mode).toBe('permanent')
    expect(await page()).toContain('value="permanent" aria-pressed="true"')
    expect((await post('/inbox/mode', { mode: 'sideways' })).status).toBe(400)
  })

  it('returns the source of a mail, and deletes all mails', async () => {
    await send()
    expect(await page('/inbox/mails/1/source')).toBe(inbox.mails[0]?.raw.toString())
    expect((await fetch(`${base}/inbox/mails/9/source`)).status).toBe(404)
    await post('/inbox/clear')
    expect(inbox.mails).toEqual([])
  })

  it('notifies listening pages of a new mail, until the server closes', async () => {
    const { body } = await fetch(`${base}/live`)
    const events = body?.pipeThrough(new TextDecoderStream()).getReader()
    expect((await events?.read())?.value).toContain('retry:')
    await send()
    expect((await events?.read())?.value).toBe('data: {"topic":"inbox","data":"changed"}\n\n')
    const ended = events?.read()
    await app.close()
    expect((await ended)?.done).toBe(true)
  })
})

describe('the files of every page', () => {
  let app: FastifyInstance

  beforeAll(async () => {
    app = Fastify()
    const ownInbox = await startMailServer()
    await app.register(inboxPage, { inbox: ownInbox })
    app.addHook('onClose', () => ownInbox.close())
  })

  afterAll(() => app.close())

  it('are served with the page, and are small enough together', async () => {
    const answers = await Promise.all(
      ['/inbox', '/layout.css', '/arrivals.css', '/layout.js'].map((url) => app.inject({ url })),
    )
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200])
    const bytes = answers.reduce((sum, { rawPayload }) => sum + rawPayload.length, 0)
    expect(bytes).toBeLessThan(100_000)
    expect(answers[0]?.body).toMatch(/<a href="\/inbox" aria-current="page">Inbox<\/a>/)
  })
})
