import { setImmediate as turn } from 'node:timers/promises'
import type { SQL } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Db } from '#src/db/connection.ts'
import { createSendingState } from '#src/delivery/sending-state.ts'
import { deliverDue } from '#src/delivery/service.ts'
import { type Outbox, openOutbox } from './outbox.ts'

let outbox: Outbox

beforeAll(async () => {
  outbox = await openOutbox()
})
afterAll(() => outbox.close())

test('a run does not end while a worker claims deliveries that were written after the other workers found none', async () => {
  const target = await outbox.addRecipient()
  const sending = createSendingState(outbox.channels)
  const discordLooked = Promise.withResolvers<void>()
  const isClaiming = Promise.withResolvers<void>()
  const claim = Promise.withResolvers<void>()
  let webhookLooks = 0
  const db = withAnswers(outbox.db, async (text, params) => {
    if (text.includes('with chosen as materialized') && params.includes('webhook'))
      webhookLooks += 1
    if (text.includes('with chosen as materialized') && params.includes('discord'))
      await discordLooked.promise
    if (!text.includes('as blocked')) return
    isClaiming.resolve()
    await claim.promise
  })
  const run = deliverDue({ ...outbox.deps, db, sending }, new AbortController().signal)
  // The worker looks a second time only after its first look found nothing.
  await expect.poll(() => webhookLooks).toBeGreaterThan(1)
  const key = 'one key'
  await outbox.enqueue({ to: target, key }, { to: target, key, firedAfterSeconds: 1 })
  sending.wake('webhook')
  await isClaiming.promise
  // Lets the last other worker learn that it found nothing.
  discordLooked.resolve()
  await turn()
  claim.resolve()
  await run
  expect(await outbox.rows()).toMatchObject([{ status: 'delivered' }, { status: 'delivered' }])
})

/** The database with a hook that holds the answer of each statement outside of transactions. */
function withAnswers(
  db: Db,
  hold: (text: string, params: readonly unknown[]) => Promise<void>,
): Db {
  const dialect = new PgDialect()
  return new Proxy(db, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (name !== 'execute') return value.bind(target)
      return async (query: SQL) => {
        const answer = await target.execute(query)
        const { sql: text, params } = dialect.sqlToQuery(query)
        await hold(text, params)
        return answer
      }
    },
  })
}
