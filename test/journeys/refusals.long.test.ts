import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Inbox, type InboxRefusal, startMailServer } from '#sandbox/inbox.ts'
import { startTelegramApi, type TelegramApi } from '#sandbox/telegram-api.ts'
import { createChannels } from '#src/channels/index.ts'
import { enqueue, newDeliveryId } from '#src/delivery/service.ts'
import { toStoredDestination } from '#src/recipients/destination-box.ts'
import * as recipientRows from '#src/recipients/store.ts'
import { type Outbox, openOutbox } from '../delivery/outbox.ts'
import { stranger } from '../recipients/room.ts'
import { envelopeOf } from '../support/envelopes.ts'
import { BOT_NAME, BOT_TOKEN } from '../support/harness.ts'
import { seriesOf } from '../support/metrics.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'

/** Running processes whose Telegram or mail server refuses them for a while. Nobody restarts them. */

let outbox: Outbox
let telegram: TelegramApi
let inbox: Inbox

beforeAll(async () => {
  outbox = await openOutbox()
  outbox.clock.set(new Date(Date.now()))
  telegram = await startTelegramApi({ token: BOT_TOKEN, username: BOT_NAME })
  inbox = await startMailServer({ offersLogin: true })
}, 60_000)
afterAll(async () => {
  await Promise.all([telegram.close(), inbox.close()])
  await outbox.close()
})

async function running(
  over: Readonly<Record<string, string>>,
  play: (service: ServiceProcess) => Promise<void>,
): Promise<void> {
  const service = await startServiceProcess({ DATABASE_URL: outbox.database.url, ...over })
  try {
    await play(service)
  } finally {
    await service.kill()
  }
}

/** The problem of a check of `/readyz`; undefined if it has none. */
async function problemOf(
  { internalUrl }: ServiceProcess,
  check: string,
): Promise<string | undefined> {
  const answer = await fetch(`${internalUrl}/readyz`)
  const { problems } = (await answer.json()) as {
    problems: readonly { readonly name: string; readonly problem: string }[]
  }
  return problems.find(({ name }) => name === check)?.problem
}

async function metricOf(
  { internalUrl }: ServiceProcess,
  name: string,
): Promise<number | undefined> {
  const text = await (await fetch(`${internalUrl}/metrics`)).text()
  return seriesOf(text).get(name)
}

const BOT = { TELEGRAM_BOT_TOKEN: BOT_TOKEN, ROLES: 'bot' }

test('a bot whose token Telegram refuses says so, and answers as soon as Telegram accepts it again', async () => {
  const refusal = { error_code: 401, description: 'Unauthorized' }
  await running({ ...BOT, TELEGRAM_API_ROOT: telegram.url }, async (service) => {
    const { id } = telegram.person({ firstName: 'Ann', languageCode: 'en' })
    const answers = () => telegram.messages(id).filter(({ from }) => from === telegram.bot.id)
    telegram.send(id, '/help')
    await telegram.waitFor(() => answers().length === 1, 20_000)
    expect(await problemOf(service, 'bot')).toBeUndefined()

    telegram.failNext({ method: 'getUpdates', times: 4 }, refusal)
    telegram.send(id, '/help')
    telegram.send(id, '/help')
    await expect
      .poll(() => problemOf(service, 'bot'), { timeout: 20_000 })
      .toBe('Telegram refuses the bot token: getUpdates: Unauthorized')
    await telegram.waitFor(() => answers().length === 3, 60_000)
    await expect.poll(() => problemOf(service, 'bot'), { timeout: 20_000 }).toBeUndefined()
    expect(await metricOf(service, 'watchdog_telegram_updates_total')).toBe(3)
    expect(await metricOf(service, 'watchdog_telegram_answer_age_seconds')).toBeLessThan(60)
  })
}, 150_000)

/** Creates confirmed mailboxes of different wallets and puts a message to each into the outbox. */
async function notify(addresses: readonly string[]): Promise<void> {
  const now = new Date()
  const from = 'Watchdog <watchdog@example.org>'
  const { email } = createChannels({
    ...{ telegram: undefined, mailer: undefined, from, publicUrl: outbox.publicUrl },
    allowPrivateUrls: true,
  })
  for (const address of addresses) {
    const { wallet } = stranger()
    const row = await recipientRows.insertRow(outbox.db, {
      ...{ wallet, channel: 'email', own: false, name: address },
      ...toStoredDestination(outbox.box, email, { address }),
      ...{ locale: 'en', timezone: 'UTC', status: 'active', minSeverity: 'info', isDefault: true },
      ...{ verifiedAt: now, createdAt: now, updatedAt: now },
    })
    const id = newDeliveryId(now)
    const message = { title: 'Balance changed', firedAt: now.toISOString() }
    await outbox.db.transaction((tx) =>
      enqueue(tx, [
        {
          ...{ id, wallet, alertId: null, recipientId: row.id, channel: 'email' },
          ...{ partitionKey: email.partitionKey({ address }), orderKey: `${row.id} ${id}` },
          ...{ firedAt: now, position: 0, createdAt: now, status: 'pending' },
          envelope: envelopeOf({ deliveryId: id, message }),
        },
      ]),
    )
  }
}

const statuses = async () =>
  await outbox.database.sql`select status, status_reason, failing_since from recipients`
const errors = async () =>
  (await outbox.rows()).map(({ status, lastError }) => `${status} ${lastError}`)

const UNKNOWN = { responseCode: 550, message: '5.1.1 User unknown' }
const REFUSALS: readonly (readonly ['mail' | 'rcpt', InboxRefusal])[] = [
  [
    'rcpt',
    {
      responseCode: 553,
      message: 'sorry, that domain is not in my list of allowed rcpthosts (#5.7.1)',
    },
  ],
  ['mail', UNKNOWN],
  // Three mailboxes of three owners that are unknown at once.
  ['rcpt', UNKNOWN],
]

test.each(REFUSALS)(
  'mailboxes stay on while the mail server refuses this service at %s, and get their mails afterwards',
  async (command, refusal) => {
    await outbox.reset()
    inbox.clear()
    inbox.refuse(command, refusal)
    const env = { SMTP_URL: inbox.url, EMAIL_FROM: 'Watchdog <watchdog@example.org>' }
    await running({ ...env, ROLES: 'delivery' }, async (service) => {
      await notify(['a@example.org', 'b@example.net', 'c@example.com'])
      await expect
        .poll(() => problemOf(service, 'mail'), { timeout: 30_000 })
        .toContain(refusal.message)
      await expect
        .poll(errors, { timeout: 30_000 })
        .toEqual(expect.arrayContaining(['retrying mail_outage']))
      const on = { status: 'active', status_reason: null, failing_since: null }
      // The first two unknown mailboxes may be what they are called.
      const isUnknown = command === 'rcpt' && refusal === UNKNOWN
      const during = isUnknown ? { status: on.status } : on
      expect(await statuses()).toMatchObject([during, during, during])
      inbox.refuse(command, undefined)
      await expect.poll(() => inbox.mails.length, { timeout: 90_000 }).toBe(3)
      await expect.poll(() => problemOf(service, 'mail'), { timeout: 30_000 }).toBeUndefined()
      const arrived = async () => (await errors()).every((text) => text.startsWith('delivered'))
      await expect.poll(arrived, { timeout: 30_000 }).toBe(true)
      expect(await statuses()).toEqual([on, on, on])
    })
  },
  200_000,
)

test('a mail server that refuses the log-in is reported from the start, until it accepts it', async () => {
  inbox.refuse('auth', {
    responseCode: 535,
    message: '5.7.8 Authentication failed for secret-password',
  })
  const { host } = new URL(inbox.url)
  const env = {
    SMTP_URL: `smtp://alerts:secret-password@${host}`,
    EMAIL_FROM: 'alerts@example.org',
  }
  await running({ ...env, ROLES: 'delivery' }, async (service) => {
    await expect
      .poll(() => problemOf(service, 'mail'), { timeout: 30_000 })
      .toBe(`mail server ${host} refuses the log-in: 535 5.7.8 Authentication failed for …`)
    const lines = service.errors.filter((line) => line.includes('mail server takes no e-mails'))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain(host)
    expect(lines[0]).toContain('535 5.7.8 Authentication failed')
    expect(lines[0]).not.toContain('secret-password')
    await expect.poll(() => metricOf(service, 'watchdog_mail_failing_seconds')).toBeGreaterThan(0)
    inbox.refuse('auth', undefined)
    await expect.poll(() => problemOf(service, 'mail'), { timeout: 90_000 }).toBeUndefined()
    expect(await metricOf(service, 'watchdog_mail_failing_seconds')).toBe(0)
  })
}, 150_000)
