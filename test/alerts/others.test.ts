import { afterAll, beforeAll, expect, test } from 'vitest'
import { alertUrl } from '#src/alerts/alert-urls.ts'
import { readLinked } from '#src/alerts/public-view.ts'
import { translator } from '#src/i18n/translate.ts'
import { alertPageData } from '#src/pages/alert-view.ts'
import { type AlertRoom, alertRoom } from './room.ts'

const COMMIT = 'fsp.ftso-commit'
const REVEAL = 'fsp.ftso-reveal'

let room: AlertRoom

beforeAll(async () => {
  room = await alertRoom()
})
afterAll(() => room.close())

/** The page behind the button of the mail about several alerts. */
async function pageOfMail() {
  const texts = room.inbox.mails.map(({ text = '' }) => text)
  const link = /https?:\/\/\S+#alerts/.exec(texts.join('\n'))?.[0]
  if (link === undefined) throw new Error('the mail has no button')
  const page = await readLinked(room.app, new URL(link).pathname.replace('/a/', ''))
  if (page === undefined) throw new Error('there is no page')
  return page
}

test('the button of a mail about several alerts leads to a list of them, with their states', async () => {
  const watch = await room.watch('Node A')
  const other = await room.watch('Node B')
  await room.notice(other, { event: REVEAL })
  await room.notice(watch, { event: COMMIT }, { event: REVEAL, severity: 'critical' })
  await room.deliver()
  const { message, others } = await pageOfMail()
  expect(message.severity).toBe('critical')
  expect(others.map((one) => one.message.event)).toEqual([COMMIT])
  expect(others[0]?.state.recoveredAt).toBeUndefined()
  room.clock.advance(60)
  await room.notice(watch, { event: `${COMMIT}.recovered` })
  const [over] = (await pageOfMail()).others
  expect(over?.state.recoveredAt).toEqual(room.clock.now())
  const facts = { page: await pageOfMail(), provider: undefined, now: room.clock.now() }
  const [row] = alertPageData(room.app, translator('en'), facts).others
  expect(row?.glyph).toBe('🟢')
  expect(row?.title).toMatch(/^FTSO commit.* · recovered after \u2068?1\smin/)
  // Its own link only reads, and leads no further.
  const code = new URL(over?.message.link ?? '').pathname.replace('/a/', '')
  const back = await readLinked(room.app, code)
  expect(back).toMatchObject({ message: { event: COMMIT }, others: [], mayAct: false })
  expect((await pageOfMail()).mayAct).toBe(true)
})

test('a link without a recipient lists none, and an alert that cannot be read is left out', async () => {
  const { message, others } = await pageOfMail()
  expect(others).toHaveLength(1)
  const link = alertUrl(room.app, { alertId: message.alertId ?? 0, recipientId: null })
  const page = await readLinked(room.app, new URL(link).pathname.replace('/a/', ''))
  expect(page?.others).toEqual([])
  await room.sql`update alerts set data = '"broken"' where event = ${COMMIT}`
  expect((await pageOfMail()).others).toEqual([])
})
