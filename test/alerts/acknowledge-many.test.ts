import { afterAll, beforeAll, expect, test } from 'vitest'
import { alertUrl } from '#src/alerts/alert-urls.ts'
import { OPEN_OTHERS_MAX } from '#src/alerts/model.ts'
import { listAllRecipients, readRecipientsById } from '#src/recipients/service.ts'
import { type AlertWorld, alertWorld } from './alert-world.ts'

let world: AlertWorld

beforeAll(async () => {
  world = await alertWorld()
})
afterAll(() => world.close())

/** Number of open alerts besides the acknowledged one: two more than one press can take. */
const OTHERS = OPEN_OTHERS_MAX + 2

test('more open alerts than one press can take are acknowledged by the next press', async () => {
  const watchId = await world.watch('Alpha')
  await world.record(watchId, { event: 'fsp.ftso-commit' })
  // Each reward epoch without registration is an episode of its own.
  await world.record(watchId, { event: 'fsp.registration', data: { rewardEpochId: 400 } })
  await world.copyAlert({ watchId, event: 'fsp.registration' }, OTHERS - 1)
  await world.sql`
    update deliveries set status = 'delivered', delivered_at = ${world.clock.now()}
    where watch_id = ${watchId} and channel = 'email'`
  const ids = (await listAllRecipients(world.app.db, world.alice.caller.wallet)).map(({ id }) => id)
  const readers = [...(await readRecipientsById(world.app.db, ids)).values()]
  const recipientId = readers.find(({ channel }) => channel === 'email')?.id ?? null
  const [commit] = await world.sql<{ id: number }[]>`
    select id from alerts where watch_id = ${watchId} and event = 'fsp.ftso-commit'`
  const link = { alertId: commit?.id ?? 0, recipientId }
  const url = new URL(alertUrl(world.app, link)).pathname
  const read = async () => (await world.server.inject({ url })).payload
  const press = async (page: string) => {
    const seen = / name="seen" value="([\d ]*)"/.exec(page)?.[1] ?? ''
    await world.server.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ answer: 'ackAll', seen }).toString(),
    })
  }
  await press(await read())
  const page = await read()
  expect(page).toContain('2 other alerts of this watch are still active and not acknowledged.')
  await press(page)
  const open = await world.sql`
    select from alerts where watch_id = ${watchId} and acknowledged_at is null`
  expect(open).toHaveLength(0)
})
