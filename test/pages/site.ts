import { randomBytes } from 'node:crypto'
import { getAddress } from 'viem/utils'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { confirmLinkOf } from '#sandbox/inbox/mail.ts'
import { startMailServer } from '#sandbox/inbox.ts'
import { alertUrl } from '#src/alerts/alert-urls.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { sendDueConfirmations } from '#src/recipients/confirmations.ts'
import { confirmEmail } from '#src/recipients/consent.ts'
import { decryptDestinations } from '#src/recipients/destinations.ts'
import { unsubscribeUrl } from '#src/recipients/mail-links.ts'
import type { NewRecipient } from '#src/recipients/model.ts'
import { createRecipient } from '#src/recipients/service.ts'
import { walletBalance } from '#src/watches/types/wallet-balance.ts'
import { serviceOnly } from '../support/harness.ts'

/** Owner of the alerts. */
export const OWNER: Caller = {
  wallet: PEOPLE.alice.account.address,
  scopes: ['read', 'write'],
  via: 'http',
}

/**
 * A new owner for one mailbox, because the numbers of a wallet's mailboxes and mails are limited.
 */
function newOwner(): Caller {
  return { ...OWNER, wallet: getAddress(`0x${randomBytes(20).toString('hex')}`) }
}

/** Answer of a page. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly html: string
  /** The body as it was sent. */
  readonly bytes: Buffer
  /** The visible text in one line, with entities decoded. */
  readonly text: string
}

/** The service's pages over a fresh database, and a mail server. */
export async function openSite(over: Readonly<Record<string, string>> = {}) {
  const inbox = await startMailServer()
  const mail = { SMTP_URL: inbox.url, EMAIL_FROM: 'Watchdog <alerts@example.org>' }
  const service = await serviceOnly({ ...mail, ...over })
  const { app, server, database } = service
  const signal = new AbortController().signal
  let mailboxes = 0

  async function ask(
    method: 'GET' | 'POST',
    path: string,
    options: {
      readonly headers?: Record<string, string>
      readonly body?: string
      readonly from?: string
    } = {},
  ): Promise<Answer> {
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const response = await server.inject({
      method,
      url: path,
      ...(options.from !== undefined && { remoteAddress: options.from }),
      headers: { ...(options.body !== undefined && form), ...options.headers },
      ...(options.body !== undefined && { payload: options.body }),
    })
    const { statusCode: status, headers, payload: html } = response
    return { status, headers, html, bytes: response.rawPayload, text: textOf(html) }
  }

  /** Creates a mailbox that was asked for consent, and returns the path of the page that asks. */
  async function askedMailbox(over: Partial<NewRecipient> = {}) {
    mailboxes += 1
    const address = over.address ?? `ops${mailboxes}@example.org`
    const input = { name: 'Desk', channel: 'email', ...over, address } as const
    const owner = newOwner()
    const recipient = await createRecipient(app, owner, input)
    await sendDueConfirmations(app, signal)
    const asked = inbox.mails.findLast(({ to }) => to === address)
    const link = asked && confirmLinkOf(asked)
    if (link === undefined) throw new Error('no confirmation mail has arrived')
    return { id: recipient.id, owner, address, path: new URL(link).pathname }
  }

  return {
    ...service,
    inbox,
    get: (path: string, headers: Record<string, string> = {}, from = '127.0.0.1') =>
      ask('GET', path, { headers, from }),
    post: (path: string, body: string, headers: Record<string, string> = {}) =>
      ask('POST', path, { body, headers }),
    askedMailbox,
    /** Creates a confirmed mailbox, and returns the path of its unsubscribe page. */
    mailbox: async (over: Partial<NewRecipient> = {}) => {
      const { id, owner, address, path } = await askedMailbox(over)
      await confirmEmail(app, path.replace('/confirm/', ''))
      const opened = (await decryptDestinations(app, [id])).get(id)
      const url = (opened && unsubscribeUrl(app, opened)) ?? ''
      return { id, owner, address, path: new URL(url).pathname }
    },
    /** Creates an alert in the history, and returns the path of its page. */
    alert: async (over: AlertOver = {}) => {
      const { recipientId = null, ...rest } = over
      const row = {
        wallet: OWNER.wallet,
        watch_id: 42,
        watch_label: 'Treasury',
        type: walletBalance.name,
        signal: 'balance-change',
        group: 'alerts',
        event: 'wallet-balance.moved',
        severity: 'info',
        state: 'firing',
        is_episode: true,
        incident_id: 31,
        opens_incident: true,
        notified_at: new Date('2026-11-20T21:04:33.000Z'),
        reminders_sent: 0,
        data: JSON.stringify(walletBalance.signals[0]?.examples['wallet-balance.moved']),
        position: 41880123,
        fired_at: new Date('2026-11-20T21:04:31.000Z'),
        created_at: new Date('2026-11-20T21:04:33.000Z'),
        ...rest,
      }
      const { sql } = database
      const [inserted] = await sql`insert into alerts ${sql(row)} returning id`
      const alertId = Number(inserted?.id)
      return { alertId, path: new URL(alertUrl(app, { alertId, recipientId })).pathname }
    },
    /** Listens on loopback, for a browser. */
    listen: (port = 0) => server.listen({ host: '127.0.0.1', port }),
    close: async () => {
      await service.close()
      await inbox.close()
    },
  }
}

interface AlertOver {
  readonly recipientId?: number
  readonly wallet?: string
  readonly watch_label?: string
  readonly watch_id?: number
  readonly severity?: string
  readonly state?: string
  readonly fired_at?: Date
  readonly recovered_at?: Date
  readonly started_at?: Date
  readonly recovery_of?: number
  readonly is_episode?: boolean
  readonly type?: string
  readonly signal?: string
  readonly event?: string
  readonly data?: string
  readonly position?: number
}

export type Site = Awaited<ReturnType<typeof openSite>>

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
}

/** The visible text of a page in one line, with entities decoded. */
export function textOf(html: string): string {
  const body = html.replace(/^[\s\S]*<main[^>]*>|<\/main>[\s\S]*$/g, '')
  return body
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(?:lt|gt|quot|#39|amp);/g, (entity) => ENTITIES[entity] ?? entity)
    .replace(/[\u2066-\u2069]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}
