import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { acknowledgeAlert } from '#src/alerts/acknowledge/acknowledge.ts'
import { getAlert } from '#src/alerts/history/card.ts'
import { listAlertLines } from '#src/alerts/history/lines.ts'
import { readLinkedAlertPage } from '#src/alerts/history/public-view.ts'
import { type AlertWorld, alertWorld } from './alert-world.ts'

/** What is said of an open alert later has the figures of then. */

const DUTIES = ['ftso-commit', 'ftso-reveal', 'ftso-signature', 'fdc-bitvote', 'fdc-signature']
const READER = { locale: 'en', timezone: 'UTC' } as const

let world: AlertWorld
let watchId: number
let pager: number
/** Start of the outage. */
let startedAt: Date

beforeAll(async () => {
  world = await alertWorld()
  const input = { name: 'Pager', channel: 'webhook', url: world.receiver.url('pager') }
  pager = (await world.alice.request('POST', '/recipients', input)).body.id
})
beforeEach(async () => {
  world.clock.advance(86_400)
  watchId = await world.watch('Alpha')
  startedAt = world.clock.now()
  const since = startedAt.toISOString()
  await world.record(
    watchId,
    ...DUTIES.map((duty) => ({
      event: `fsp.${duty}`,
      severity: 'critical' as const,
      data: { reason: 'missing', since, streak: 2 },
    })),
  )
  await world.deliver()
  await missed(17)
})
afterAll(() => world.close())

/** Rounds that all five duties have missed by now. */
async function missed(rounds: number): Promise<void> {
  const state = {
    lastRound: 1_000_000,
    streak: rounds,
    firstRound: 1_000_000 - rounds + 1,
    firstAt: Math.floor(startedAt.getTime() / 1000),
    missed: rounds,
    isBroken: true,
    bad: [],
    silent: rounds,
    others: { total: 97, failed: 1 },
    usual: [],
    earnings: {
      roundsPerEpoch: 3360,
      newest: { rewardEpoch: 451, amountWei: `1680${'0'.repeat(18)}`, weightRatio: null },
    },
  }
  await world.sql`
    update signal_states set state = ${world.sql.json(state)} where watch_id = ${watchId}`
}
async function minutes(count: number): Promise<void> {
  world.clock.advance(count * 60)
  await world.remind()
  await world.deliver()
}
const oneLine = (text = '') => text.replaceAll(/\s+/g, ' ')
const newest = async () => {
  const [alert] = await world.alerts(`?limit=1&watchId=${watchId}`)
  if (alert === undefined) throw new Error('there is no alert')
  return alert
}

describe('an outage that goes on', () => {
  test('is told by its reminder with the rounds that are lost by then, in the chat and by mail', async () => {
    world.forgetMessages()
    await minutes(15)
    const [reminder] = world.chatTexts()
    expect(oneLine(reminder)).toMatch(
      /^🔴 Alpha has sent no votes since \d\d:\d\d \(17 rounds\) · not resolved /,
    )
    expect(reminder).not.toContain('(2 ')
    expect(world.subjects()).toEqual([
      expect.stringMatching(
        /^Re: Alpha has sent no votes since \S+ \(17 rounds\) · not resolved ·/,
      ),
    ])
  })

  test('is notified to the recipients of its escalation with the rounds that are lost by then', async () => {
    const changes = { escalateAfterMinutes: 10, escalateTo: [pager] }
    await world.alice.request('PATCH', `/watches/${watchId}`, changes)
    await world.sql`
      update alerts set escalate_at = ${world.clock.now()} where watch_id = ${watchId}`
    world.forgetMessages()
    await minutes(10)
    const notified = world.receiver.deliveries
      .filter(({ hook }) => hook === 'pager')
      .map(({ json }) => JSON.stringify(json))
    expect(notified).toHaveLength(5)
    for (const text of notified) expect(text).toContain('17 consecutive rounds')
  })

  test('has these figures in lists, in the bot and on its page', async () => {
    const { caller } = world.alice
    const { id } = await newest()
    const input = { wanted: { watchId }, limit: 10, reader: READER }
    const { data } = await listAlertLines(world.app, caller, input)
    expect(data.map(({ title }) => title)).toEqual([expect.stringContaining('(17 rounds)')])
    const card = await getAlert(world.app, caller, { id, reader: READER, recipientId: null })
    expect(card.envelope.message.title).toContain('in 17 consecutive rounds')
    const [kept] = await world.sql`
      select envelope -> 'message' ->> 'link' as link from deliveries
      where alert_id = ${id} and channel = 'telegram'`
    const page = await readLinkedAlertPage(world.app, String(kept?.['link']).split('/a/')[1] ?? '')
    expect(page?.message.title).toContain('in 17 consecutive rounds')
    expect(page?.incident?.alerts).toHaveLength(5)
    for (const { message } of page?.incident?.alerts ?? []) {
      expect(message.title).toContain('in 17 consecutive rounds')
    }
    // The history and the webhooks keep what was recorded.
    expect((await newest()).data).toMatchObject({ streak: 2 })
  })

  test('has these figures in its first message, which is shown again when somebody takes it', async () => {
    const message = () => oneLine(world.telegram.messages(world.chat).at(-1)?.text)
    expect(message()).toContain('(2 rounds)')
    const { id } = await newest()
    await acknowledgeAlert(world.app, world.alice.caller, { id, by: 'Ann' })
    await world.deliver()
    expect(message()).toContain('(17 rounds)')
  })

  test('counts on in its first message without a sound, every three minutes at most, until it is over', async () => {
    const planned = async () =>
      await world.sql`
        select 1 from sent_messages where watch_id = ${watchId} and revise_at is not null`
    const wait = async (seconds: number) => {
      world.clock.advance(seconds)
      await world.deliver()
      return world.telegram.messages(world.chat).at(-1)?.text
    }
    const sent = world.telegram.messages(world.chat).length
    expect(oneLine(await wait(179))).toContain('(2 rounds)')
    expect(oneLine(await wait(1))).toContain('(17 rounds)')
    await missed(25)
    expect(oneLine(await wait(179))).toContain('(17 rounds)')
    expect(await planned()).toHaveLength(1)
    expect(oneLine(await wait(1))).toContain('(25 rounds)')
    expect(world.telegram.messages(world.chat)).toHaveLength(sent)
    await world.record(watchId, ...DUTIES.map((duty) => ({ event: `fsp.${duty}.recovered` })))
    await world.deliver()
    expect(await planned()).toEqual([])
  })

  test('has the figures of its end in the chat and in lists once it is over', async () => {
    const message = () => oneLine(world.telegram.messages(world.chat).at(-1)?.text)
    world.clock.advance(360)
    const roundStart = world.clock.now().toISOString()
    const data = { roundStart, since: roundStart, gapSeconds: 360, missedRounds: 19 }
    const { id } = await newest()
    await world.record(watchId, { event: 'fsp.fdc-signature.recovered', data })
    const over = (await world.alerts(`?watchId=${watchId}`)).find(({ event, state }) => {
      return event === 'fsp.fdc-signature' && state === 'recovered'
    })
    const about = { id: over?.id ?? id, reader: READER, recipientId: null }
    const card = await getAlert(world.app, world.alice.caller, about)
    expect(card.envelope.message.title).toContain('19 consecutive rounds')
    await world.deliver()
    expect(message()).not.toContain(' 2 consecutive rounds')
  })
})
