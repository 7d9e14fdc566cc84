/** Commands about messages: why one did not arrive, sending it again, recipients that are off, announcements. */
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { explainAlert } from '#src/alerts/explain.ts'
import { resendAlert } from '#src/alerts/notify/resend.ts'
import { sendRetained } from '#src/delivery/service.ts'
import { SCOPES } from '#src/kernel/caller.ts'
import { oneLine } from '#src/kernel/label.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { OperatorError } from '#src/kernel/operator-error.ts'
import type { App } from '#src/operations/define.ts'
import { listOwners } from '#src/recipients/access.ts'
import { changeDestination } from '#src/recipients/destination-list.ts'
import { readRecipientsById } from '#src/recipients/service.ts'
import { defineCommand } from '../define.ts'
import * as typed from './input.ts'

export const explainCommand = defineCommand({
  name: 'explain',
  values: ['alert', 'recipient'],
  about: 'Tells why an alert was delivered to a recipient or not: its whole life, from the tables.',
  isRead: true,
  input: z.strictObject({ alert: typed.number, recipient: typed.number }),
  async run({ app }, { alert: alertId, recipient: recipientId }) {
    return { changed: false, lines: await explainAlert(app, { alertId, recipientId }) }
  },
})

export const resend = defineCommand({
  name: 'resend',
  values: ['alert', 'recipient'],
  about: 'Sends an alert to one recipient again, as its settings are now.',
  input: z.strictObject({ alert: typed.number, recipient: typed.number }),
  async run({ app }, { alert: alertId, recipient: recipientId }) {
    await resendAlert(app, app.db, { alertId, recipientId })
    return { changed: true, lines: [`alert ${alertId} is sent to recipient ${recipientId} again`] }
  },
})

export const wakeRecipient = defineCommand({
  name: 'wake-recipient',
  values: ['recipient'],
  about:
    'Switches a recipient on again, and sends what it missed in the last week; --without-missed drops nothing and sends nothing.',
  input: z.strictObject({ recipient: typed.number, 'without-missed': z.boolean().default(false) }),
  async run({ app }, { recipient: id, 'without-missed': isQuiet }) {
    const row = (await readRecipientsById(app.db, [id])).get(id)
    if (row === undefined) throw new OperatorError(`there is no recipient ${id}`)
    const caller = { wallet: row.wallet, scopes: SCOPES, via: 'http' } as const
    const { status } = await changeDestination(app, caller, { id, changes: { status: 'active' } })
    if (status !== 'active') {
      return {
        changed: true,
        lines: [`recipient ${id} is ${status}: its reader is asked for consent by e-mail`],
      }
    }
    const sent = isQuiet ? 0 : await sendRetained(app, caller, id)
    return {
      changed: row.status !== 'active' || sent > 0,
      lines: [
        `recipient ${id} was ${row.status} and is active; ${sent} messages that it missed are sent`,
      ],
    }
  },
})

/** One text in every language: `{ "en": { "title": "…", "lines": ["…"] }, … }`. */
const Texts = z.record(
  z.enum(LOCALES),
  z.strictObject({ title: oneLine(120), lines: z.array(oneLine(400)).min(1).max(8) }),
)

/** Wallets that one transaction announces to. */
const OWNERS_AT_ONCE = 100

export const announce = defineCommand({
  name: 'announce',
  values: ['name', 'file'],
  about:
    'Tells all owners something, each in one of the seven languages and once for each name: a JSON file of { "en": { "title", "lines" }, … }.',
  input: z.strictObject({
    name: z.string().regex(/^[\w.-]{1,60}$/, '1 to 60 letters, digits or . _ -'),
    file: z.string(),
  }),
  async *parts(app: App, { name, file }) {
    const texts = await readTexts(file)
    for (let after = ''; ; ) {
      const owners = await listOwners(app.db, after, OWNERS_AT_ONCE)
      if (owners.length === 0) return
      after = owners.at(-1) ?? after
      yield async (tx) => {
        let readers = 0
        for (const wallet of owners)
          readers += await app.notices.announce(tx, { wallet, name, texts })
        return readers
      }
    }
  },
  async run(_context, { name }, _prepared, readers) {
    return {
      changed: readers > 0,
      lines: [`announcement “${name}”: ${readers} readers who had not got it yet`],
    }
  },
})

async function readTexts(file: string) {
  let parsed: unknown
  try {
    parsed = JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    throw new OperatorError(
      `${file} cannot be read as JSON: ${error instanceof Error ? error.message : ''}`,
    )
  }
  const texts = Texts.safeParse(parsed)
  if (texts.success) return texts.data
  const [first] = texts.error.issues
  throw new OperatorError(
    `${file} is not complete: ${first?.path.join('.') ?? ''}: ${first?.message ?? ''}`,
  )
}
