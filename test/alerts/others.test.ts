import { afterAll, beforeAll, expect, test } from 'vitest'
import { alertUrl } from '#src/alerts/alert-urls.ts'
import { readLinkedAlertPage } from '#src/alerts/history/public-view.ts'
import { translator } from '#src/i18n/translate.ts'
import { alertPageData } from '#src/pages/alert/view.ts'
import { type AlertWorld, alertWorld } from './alert-world.ts'

const COMMIT = 'fsp.ftso-commit'
const REVEAL = 'fsp.ftso-reveal'

let world: AlertWorld

beforeAll(async () => {
  world = await alertWorld()
})
afterAll(() => world.close())

/** The page behind the button of the mail about several alerts. */
async function pageOfMail() {
  const texts = world.inbox.mails.map(({ text = '' }) => text)
  const link = /https?:\/\/\S+#alerts/.exec(texts.join('\n'))?.[0]
  if (link === undefined) throw new Error('the mail has no button')
  const page = await readLinkedAlertPage(world.app, new URL(link).pathname.replace('/a/', ''))
  if (page === undefined) throw new Error('there is no page')
  return page
}

test('the button of a mail about several alerts opens a page that lists the other alerts and their states', async () => {
  const watch = await world.watch('Node A')
  const other = await world.watch('Node B')
  await world.record(other, { event: REVEAL })
  const since = new Date(world.clock.now().getTime() - 5 * 60_000).toISOString()
  const commit = { event: COMMIT, data: { since } }
  await world.record(watch, commit, { event: REVEAL, severity: 'critical' })
  await world.deliver()
  const { message, others, incident } = await pageOfMail()
  expect(message.severity).toBe('critical')
  expect(others).toEqual([])
  expect(incident?.alerts.map((alert) => alert.message.event)).toEqual([REVEAL, COMMIT])
  expect(incident?.alerts[1]?.state.recoveredAt).toBeUndefined()
  world.clock.advance(60)
  await world.record(watch, { event: `${COMMIT}.recovered` })
  const over = (await pageOfMail()).incident?.alerts[1]
  expect(over?.state.recoveredAt).toEqual(world.clock.now())
  const facts = { page: await pageOfMail(), provider: undefined, now: world.clock.now() }
  const row = alertPageData(world.app, translator('en'), facts).incident?.alerts[1]
  expect(row?.glyph).toBe('🟢')
  expect(row?.title).toMatch(/^FTSO commit.* · recovered after \u2068?6\smin/)
  // It began before it was detected.
  expect(row?.startedAt).toBe(since)
  expect(row?.time).toContain(since.slice(11, 16))
  // Its own link only reads, and leads no further.
  const code = new URL(over?.message.link ?? '').pathname.replace('/a/', '')
  const back = await readLinkedAlertPage(world.app, code)
  expect(back).toMatchObject({ message: { event: COMMIT }, others: [], mayAct: false })
  expect((await pageOfMail()).mayAct).toBe(true)
})

test('a page opened by a link without a recipient lists no other alerts; unreadable alerts are left out', async () => {
  const { message, incident } = await pageOfMail()
  expect(incident?.alerts).toHaveLength(2)
  const link = alertUrl(world.app, { alertId: message.alertId ?? 0, recipientId: null })
  const page = await readLinkedAlertPage(world.app, new URL(link).pathname.replace('/a/', ''))
  expect(page).toMatchObject({ others: [], incident: undefined })
  await world.sql`update alerts set data = '"broken"' where event = ${COMMIT}`
  expect(await pageOfMail()).toMatchObject({ others: [], incident: undefined })
})
