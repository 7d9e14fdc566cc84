import { afterAll, beforeAll, expect, test } from 'vitest'
import { startReceiver } from '#sandbox/receiver.ts'
import { createApp, type Service } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { CHECK_EVERYTHING } from '#src/jobs/define.ts'
import { resealSecrets } from '#src/jobs/reseal-secrets.ts'
import { type Logger, silentLogger } from '#src/kernel/logger.ts'
import { readUnsubscribeLink, unsubscribeUrl } from '#src/recipients/mail-links.ts'
import { testClock } from '../support/clock.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { testEnvironment } from '../support/environment.ts'
import { request, signIn } from '../support/people.ts'

const OLD = Buffer.alloc(32, 1).toString('base64')
const NEW = Buffer.alloc(32, 2).toString('base64')
const clock = testClock()
const signal = new AbortController().signal
const errors: unknown[] = []
const log: Logger = { ...silentLogger, error: (fields: unknown) => errors.push(fields) }

let database: FreshDatabase
let receiver: Awaited<ReturnType<typeof startReceiver>>
const services: Service[] = []

/** A process of the service with these keys, on the same database. */
function start(key: string, previous?: string): Service {
  const environment = testEnvironment({
    SECRET_KEY: key,
    ...(previous && { SECRET_KEY_PREVIOUS: previous }),
  })
  const service = createApp(loadConfig(environment), { databaseUrl: database.url, log, clock })
  services.push(service)
  return service
}

beforeAll(async () => {
  ;[database, receiver] = await Promise.all([freshDatabase(), startReceiver({ clock })])
})
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()))
  await Promise.all([database.drop(), receiver.close()])
})

/** Requests of one person to any of the processes. */
function clientOf(token: string) {
  const authorization = `Bearer ${token}`
  const post = (service: Service, path: string, body?: object, headers = {}) =>
    request(service, 'POST', path, body, { authorization, ...headers })
  return {
    /** Adds a webhook once: every repeat gets the first answer, with its secret. */
    addWebhook: (service: Service, hook: string) => {
      const body = { name: hook, channel: 'webhook', url: receiver.url(hook) }
      return post(service, '/recipients', body, { 'idempotency-key': `add-${hook}` })
    },
    /** Sends a test alert, which needs the stored destination. */
    sendTest: (service: Service, id: number) => post(service, `/recipients/${id}/test`),
  }
}

test('a rotation of SECRET_KEY loses no destination, answer or link, without a pause', async () => {
  const before = start(OLD)
  const { token } = await signIn(before, 'alice')
  const { addWebhook, sendTest } = clientOf(token)
  const first = await addWebhook(before, 'first')
  expect(first).toMatchObject({ status: 201, body: { secret: expect.any(String) } })
  const mailbox = { id: first.body.id, destination: { address: 'ops@example.org' } }
  const unsubscribe = unsubscribeUrl(before.app, mailbox)?.split('/').at(-1) ?? ''

  // A rolling restart: every process reads both keys, some write with the old one, some with the new one.
  const [early, late] = [start(OLD, NEW), start(NEW, OLD)]
  const second = await addWebhook(late, 'second')
  for (const service of [early, late]) {
    expect((await addWebhook(service, 'first')).body).toEqual(first.body)
    expect((await sendTest(service, first.body.id)).status).toBe(200)
    expect((await sendTest(service, second.body.id)).status).toBe(200)
    expect(readUnsubscribeLink(service.app.box, unsubscribe)?.recipientId).toBe(mailbox.id)
  }

  // A text that neither key opens stays as it is, and is logged at each run.
  await database.sql`
    insert into idempotency_keys (wallet, operation, key, fingerprint, status, answer, created_at)
    values ('0x', 'x', 'broken', '', 200, 'broken', ${clock.now()})`
  await resealSecrets.run(late.app, signal, CHECK_EVERYTHING)
  await resealSecrets.run(late.app, signal, CHECK_EVERYTHING)
  expect(errors).toHaveLength(2)

  const after = start(NEW)
  for (const [hook, { body }] of [['first', first] as const, ['second', second] as const]) {
    expect((await addWebhook(after, hook)).body).toEqual(body)
    expect((await sendTest(after, body.id)).status).toBe(200)
  }
  expect(receiver.deliveries).toHaveLength(6)
})
