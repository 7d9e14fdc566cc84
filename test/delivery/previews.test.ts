import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CHECK_EVERYTHING } from '#src/jobs/define.ts'
import { sendPictures } from '#src/jobs/send-pictures.ts'
import { type BotWorld, botWorld, type TestChat } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'

/** The picture that the message about an outage of a provider shows below its text. */

const PROVIDER = '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE'
const MINUTE = 60

let world: BotWorld
let chat: TestChat
let alerts: ReturnType<typeof alertsIn>
let watchId = 0

beforeAll(async () => {
  world = await botWorld({
    PUBLIC_URL: 'https://watchdog.example.org',
    WEBHOOK_ALLOW_PRIVATE: 'false',
  })
  alerts = alertsIn(world)
})

afterAll(() => world.close())

async function open(languageCode = 'en') {
  chat = await world.linked('alice', ['read', 'write'], languageCode)
  const [row] = await world.app.db.execute<{ id: number }>(
    sql`select max(id) as id from recipients`,
  )
  watchId = await world.addWatch('alice', {
    label: 'My Alpha',
    type: 'provider-fsp',
    target: { provider: PROVIDER },
    settings: {},
    recipientIds: [row?.id ?? 0],
  })
}

beforeEach(() => open())

const fail = (round: number, ...duties: readonly string[]) =>
  alerts.fire(
    watchId,
    ...duties.map((duty) => ({
      event: `fsp.${duty}`,
      severity: 'critical' as const,
      data: { provider: PROVIDER, votingRoundId: round, reason: 'missing', streak: 2 },
    })),
  )
const recover = (round: number, ...duties: readonly string[]) =>
  alerts.fire(
    watchId,
    ...duties.map((duty) => ({
      event: `fsp.${duty}.recovered`,
      data: { provider: PROVIDER, votingRoundId: round, missedRounds: 4, gapSeconds: 360 },
    })),
  )
const shows = (query: string) => ({
  url: `https://watchdog.example.org/providers/${PROVIDER}/share.png?${query}`,
  prefer_large_media: true,
})
const none = { is_disabled: true }
const messages = () => chat.all().slice(-2)

describe('the message about an outage', () => {
  test('shows its picture, and is the newest message of the chat', async () => {
    const before = chat.all().length
    await fail(40, 'ftso-commit', 'ftso-reveal', 'ftso-signature')
    await sendPictures.run(world.service.app, new AbortController().signal, CHECK_EVERYTHING)
    expect(chat.all()).toHaveLength(before + 1)
    expect(chat.last().text).toContain('no valid FTSO votes since')
    expect(chat.last()).toMatchObject({ file: undefined, linkPreview: shows('round=40') })
  })

  test('keeps its picture over every edit, by a press and by an outbox, to its end', async () => {
    await fail(41, 'ftso-commit', 'ftso-reveal', 'ftso-signature')
    const { id } = chat.last()
    const message = () => chat.all().find((each) => each.id === id)
    await chat.press('Acknowledge all')
    expect(message()?.text).toContain('Ann')
    expect(message()?.linkPreview).toEqual(shows('round=41'))
    await chat.press('What to do')
    expect(message()?.linkPreview).toEqual(shows('round=41'))
    world.clock.advance(5 * MINUTE)
    await recover(45, 'ftso-commit', 'ftso-reveal', 'ftso-signature')
    expect(message()?.text).toMatch(/^🟢/)
    expect(message()?.linkPreview).toEqual(shows('round=41'))
    expect(chat.last().text).toContain('is healthy again')
    expect(chat.last().linkPreview).toEqual(shows('round=45'))
    expect(messages().map(({ file }) => file)).toEqual([undefined, undefined])
  })

  test('gets its picture with the second duty, and another one with a later round', async () => {
    await fail(50, 'ftso-commit')
    expect(chat.last().linkPreview).toEqual(none)
    await fail(50, 'ftso-reveal')
    const { id } = chat.last()
    expect(chat.last().linkPreview).toEqual(shows('round=50'))
    await fail(51, 'ftso-signature')
    expect(chat.last()).toMatchObject({ id, linkPreview: shows('round=51') })
  })

  test('shows the picture in the language of its chat', async () => {
    await open('ar')
    await fail(60, 'fdc-bitvote', 'fdc-signature')
    expect(chat.last().linkPreview).toEqual(shows('round=60&lang=ar'))
  })

  test('is sent without its picture if Telegram refuses that', async () => {
    const refused = { error_code: 400, description: 'Bad Request: WEBPAGE_CURL_FAILED' }
    world.telegram.failNext({ method: 'sendMessage' }, refused)
    await fail(70, 'ftso-commit', 'ftso-reveal', 'ftso-signature')
    expect(chat.last().text).toContain('no valid FTSO votes since')
    expect(chat.last().linkPreview).toEqual(none)
    expect(chat.last().entities).toContainEqual(expect.objectContaining({ type: 'bold' }))
  })
})

test('other messages show no picture', async () => {
  await fail(80, 'ftso-commit')
  expect(chat.last().linkPreview).toEqual(none)
  await chat.say('/alerts')
  expect(chat.last().linkPreview).toEqual(none)
})
