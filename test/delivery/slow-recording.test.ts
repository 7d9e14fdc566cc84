import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Outbox, openOutbox } from './outbox.ts'

/** Results that may wait to be recorded before nothing more is claimed, and what is claimed and in progress then. */
const SENT_MAX = 1000 + 300
const DELIVERIES = 2000

let outbox: Outbox
let sent = 0
const receiver = createServer((request, response) => {
  request.resume()
  sent += 1
  response.end()
})
beforeAll(async () => {
  // No request fails on a busy machine: a recipient that backs off ends the run.
  outbox = await openOutbox({ timeoutMs: 60_000 })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
})
afterAll(async () => {
  receiver.closeAllConnections()
  receiver.close()
  await outbox.close()
})

test('while results cannot be recorded, little more is sent, and nothing twice', async () => {
  const { port } = receiver.address() as AddressInfo
  const to = await outbox.addRecipient(`http://127.0.0.1:${port}/`)
  // The success of a recipient that fails is recorded with its deliveries.
  await outbox.db.execute(sql`update recipients set failing_since = now() where id = ${to.id}`)
  await outbox.enqueue(...Array.from({ length: DELIVERIES }, () => ({ to })))
  const [locked, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = outbox.db.transaction(async (tx) => {
    await tx.execute(sql`select from recipients where id = ${to.id} for update`)
    locked.resolve()
    await over.promise
  })
  await locked.promise
  const run = outbox.deliver()
  let before = -1
  while (sent === 0 || sent > before) {
    before = sent
    await wait(1000)
  }
  expect(sent).toBeLessThanOrEqual(SENT_MAX)
  over.resolve()
  await Promise.all([holding, run])
  expect(sent).toBe(DELIVERIES)
})
