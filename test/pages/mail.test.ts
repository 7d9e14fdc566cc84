import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shortAddress } from '#src/i18n/format.ts'
import { findRecipient, updateRecipient } from '#src/recipients/service.ts'
import { deliverAll } from '../support/deliver-all.ts'
import { openSite, type Site } from './site.ts'

let site: Site
beforeAll(async () => {
  site = await openSite()
})
afterAll(() => site.close())

type Mailbox = Awaited<ReturnType<Site['mailbox']>>
const read = ({ owner, id }: Mailbox) => findRecipient(site.app, owner, id)
const statusOf = async (mailbox: Mailbox) => (await read(mailbox))?.status

describe('/confirm/<code>', () => {
  test('asks for confirmation, and changes nothing by a visit', async () => {
    const mailbox = await site.askedMailbox()
    const { path, address } = mailbox
    for (let looks = 0; looks < 3; looks += 1) {
      const { status, text } = await site.get(path)
      expect(status).toBe(200)
      expect(text).toContain(`Send Watchdog alerts to ${address}?`)
      expect(text).toContain(
        `Requested by the wallet ${shortAddress(mailbox.owner.wallet)} on Nov 20, 2026, 12:00 UTC.`,
      )
    }
    await site.server.inject({ method: 'HEAD', url: path })
    expect(await statusOf(mailbox)).toBe('pending')
  })
  test('confirms when the reader agrees, and later answers change nothing', async () => {
    const mailbox = await site.askedMailbox()
    const { path, address } = mailbox
    const agreed = await site.post(path, 'answer=yes')
    expect(agreed.status).toBe(200)
    expect(agreed.text).toMatch(/^Confirmed /)
    expect(agreed.text).toContain(`will be sent to ${address}`)
    expect(await statusOf(mailbox)).toBe('active')
    expect((await site.post(path, 'answer=yes')).status).toBe(200)
    expect((await site.get(path)).text).toMatch(/^Already confirmed /)
    expect((await site.post(path, 'answer=no')).text).toMatch(/^Already confirmed /)
    expect(await statusOf(mailbox)).toBe('active')
  })
  test('sends one test to the mailbox that agreed', async () => {
    const mailbox = await site.askedMailbox()
    const mails = () => site.inbox.mails.filter(({ to }) => to === mailbox.address)
    for (let presses = 0; presses < 2; presses += 1) await site.post(mailbox.path, 'answer=yes')
    await deliverAll(site.app)
    expect(mails()).toHaveLength(2)
    expect(mails()[1]?.subject).toMatch(/^Test: /)
  })
  test('removes the recipient when the reader refuses', async () => {
    const mailbox = await site.askedMailbox()
    const { path, address } = mailbox
    const refused = await site.post(path, 'answer=no')
    expect(refused.text).toMatch(/^Declined /)
    expect(refused.text).toContain(`Nothing is sent to ${address}.`)
    expect(await read(mailbox)).toBeUndefined()
    expect((await site.get(path)).status).toBe(404)
  })
  test('expires after a day', async () => {
    const mailbox = await site.askedMailbox()
    const { path } = mailbox
    site.clock.advance(86_400)
    expect((await site.get(path)).text).toMatch(/^This link has expired /)
    expect((await site.post(path, 'answer=yes')).text).toMatch(/^This link has expired /)
    expect(await statusOf(mailbox)).toBe('pending')
  })
  test('refuses a multipart form that cannot be read', async () => {
    const mailbox = await site.mailbox()
    const type = { 'content-type': 'multipart/form-data; boundary=x' }
    for (const body of [
      `${'content-disposition:'.repeat(150)}${'name="'.repeat(865)}\r\n`,
      '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click',
      '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"; filename="a"\r\n\r\nOne-Click\r\n--x--\r\n',
    ]) {
      expect((await site.post(mailbox.path, body, type)).status).toBe(400)
    }
    expect(await statusOf(mailbox)).toBe('active')
  })
  test('refuses any other answer', async () => {
    const mailbox = await site.askedMailbox()
    const { path } = mailbox
    for (const body of ['', 'answer=', 'answer=maybe', 'yes=answer']) {
      expect((await site.post(path, body)).status).toBe(400)
    }
    expect(await statusOf(mailbox)).toBe('pending')
  })
})

describe('/unsubscribe/<code>', () => {
  const ONE_CLICK = 'List-Unsubscribe=One-Click'

  test('asks for confirmation, and changes nothing by a visit', async () => {
    const mailbox = await site.mailbox()
    const { path, address } = mailbox
    const { status, text } = await site.get(path)
    expect(status).toBe(200)
    expect(text).toContain(`Unsubscribe ${address}?`)
    await site.server.inject({ method: 'HEAD', url: path })
    expect(await statusOf(mailbox)).toBe('active')
  })
  test('stops all mail, and can undo that', async () => {
    const mailbox = await site.mailbox()
    const { path } = mailbox
    expect((await site.post(path, 'answer=stop')).text).toMatch(/^Unsubscribed /)
    expect(await read(mailbox)).toMatchObject({ status: 'disabled', statusReason: 'unsubscribed' })
    expect((await site.get(path)).text).toMatch(/^Unsubscribed /)
    expect((await site.post(path, 'answer=undo')).text).toMatch(/^Alerts restored /)
    expect(await statusOf(mailbox)).toBe('active')
  })
  test('limits mail to critical alerts, and can undo that', async () => {
    const mailbox = await site.mailbox({ minSeverity: 'warning' })
    const { path } = mailbox
    const limited = await site.post(path, 'answer=critical')
    expect(limited.text).toMatch(/^Only critical alerts /)
    expect(limited.html).toContain('<input type="hidden" name="was" value="warning">')
    expect(await read(mailbox)).toMatchObject({ status: 'active', minSeverity: 'critical' })
    await site.post(path, 'was=warning&answer=undo')
    expect(await read(mailbox)).toMatchObject({ status: 'active', minSeverity: 'warning' })
  })
  test('unsubscribes by a mail program’s one click, from any origin, with 200 and no redirect', async () => {
    const mailbox = await site.mailbox()
    const { path } = mailbox
    const foreign = { origin: 'https://mail.example', 'sec-fetch-site': 'cross-site' }
    const answer = await site.post(path, ONE_CLICK, foreign)
    expect(answer.status).toBe(200)
    expect(await statusOf(mailbox)).toBe('disabled')
    expect((await site.post(path, ONE_CLICK)).status).toBe(200)
  })
  test('understands the one click in a multipart form', async () => {
    const mailbox = await site.mailbox()
    const { path } = mailbox
    const body = [
      '--b0undary',
      'Content-Disposition: form-data; name="List-Unsubscribe"',
      '',
      'One-Click',
      '--b0undary--',
      '',
    ].join('\r\n')
    const type = { 'content-type': 'multipart/form-data; boundary=b0undary' }
    expect((await site.post(path, body, type)).status).toBe(200)
    expect(await statusOf(mailbox)).toBe('disabled')
  })
  test('refuses any other answer', async () => {
    const mailbox = await site.mailbox()
    const { path } = mailbox
    for (const body of ['', 'answer=all', 'List-Unsubscribe=Two-Clicks']) {
      expect((await site.post(path, body)).status).toBe(400)
    }
    expect(await statusOf(mailbox)).toBe('active')
  })
  test('works for old mails until the address is changed', async () => {
    const mailbox = await site.mailbox()
    const { path } = mailbox
    site.clock.advance(365 * 86_400)
    expect((await site.get(path)).status).toBe(200)
    const { owner, id } = mailbox
    await updateRecipient(site.app, owner, { id, changes: { address: 'new@example.org' } })
    expect((await site.get(path)).status).toBe(404)
    expect((await site.post(path, ONE_CLICK)).status).toBe(404)
  })
  test('refuses the code of another page', async () => {
    const { path } = await site.askedMailbox()
    expect((await site.get(path.replace('/confirm/', '/unsubscribe/'))).status).toBe(404)
  })
})
