import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packed } from '#src/actions/codec.ts'
import { readLinkedAlertPage } from '#src/alerts/history/public-view.ts'
import type { Scope } from '#src/kernel/caller.ts'
import { type BotWorld, botWorld } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'
import { BOT_NAME } from '../support/harness.ts'

const COMMIT = 'fsp.ftso-commit'
const REVEAL = 'fsp.ftso-reveal'

let world: BotWorld
let alerts: ReturnType<typeof alertsIn>

beforeAll(async () => {
  world = await botWorld()
  alerts = alertsIn(world)
})
afterAll(() => world.close())

type Name = 'alice' | 'bob' | 'carol'

async function linked(name: Name, scopes: readonly Scope[] = ['read', 'write'], locale = 'en') {
  const chat = world.person(locale)
  await chat.say(`/start ${await world.linkCode(name, scopes)}`)
  await chat.press(chat.labels()[0]?.[0] ?? '')
  return chat
}

/** The lines of a list that are alerts. */
function linesOf(text: string): string[] {
  return text
    .replaceAll(/[\u2066-\u2069]/g, '')
    .split('\n')
    .filter((line) => /^[🔴🟠🔵🟢]/u.test(line))
}

describe('the history', () => {
  test('says that there are no alerts in the period, and offers all time', async () => {
    const carol = await linked('carol')
    await carol.say('/alerts')
    expect(carol.last().text).toBe('Alerts · all watches · 7 days\nNo alerts in the last 7 days.')
    expect(carol.labels()).toEqual([['All time'], ['‹ Menu']])
    await carol.press('All time')
    expect(carol.last().text).toContain('No alerts yet.')
    expect(carol.labels()).toEqual([['‹ Menu']])
  })

  let treasury = 0

  test('lists each incident once, newest first, with its number, and marks those that are over or acknowledged', async () => {
    const bob = await linked('bob')
    const node = await world.addWatch('bob', { label: 'Node <b>A' })
    treasury = await world.addWatch('bob', { label: 'Treasury' })
    await alerts.notice(node, { event: COMMIT })
    world.clock.advance(240)
    await alerts.notice(node, { event: `${COMMIT}.recovered` })
    world.clock.advance(60)
    await alerts.notice(node, { event: REVEAL, severity: 'critical' })
    world.clock.advance(60)
    const data = { direction: 'incoming' }
    await alerts.notice(treasury, { event: 'wallet-balance.moved', severity: 'info', data })
    await bob.say('/alerts')
    const lines = linesOf(bob.last().text)
    expect(lines).toHaveLength(3)
    expect(lines[0]).toMatch(
      /^🔵 \d\d:\d\d\u00a0UTC #\d+ Treasury sent 12,500.FLR to your own wallet/,
    )
    expect(lines[1]).toMatch(/^🔴 \d\d:\d\d\u00a0UTC #\d+ Node <b>A: FTSO reveal too late/)
    expect(lines[2]).toMatch(
      /^🟢 \d\d:\d\d\u00a0UTC #\d+ Node <b>A: FTSO commit missing.* · recovered after 4 min$/,
    )
    expect(bob.labels()).toEqual([['‹ Menu']])

    const { url } = bob.last().entities.find(({ type }) => type === 'text_link') ?? {}
    const start = new URL(url ?? '').searchParams.get('start')
    await bob.say(`/start ${start}`)
    expect(bob.last().text).toMatch(/^🔵 .*Treasury.* sent 12,500.FLR/)
    expect(bob.labels().flat()).not.toContain('Acknowledge')
    const [reveal] = await world.sql<{ number: number }[]>`
      select incident_id as number from alerts where watch_id = ${node} order by id desc limit 1`
    await bob.say(`/alerts ${reveal?.number}`)
    await bob.press('Acknowledge')
    await bob.press('‹ Alerts')
    expect(linesOf(bob.last().text)[1]).toMatch(/✓ Ann$/)
  })

  test('links a page that can acknowledge and mute only in a private chat that may write', async () => {
    const bob = await linked('bob')
    const pageOf = async ({ text, keyboard, entities }: ReturnType<typeof bob.last>) => {
      const code = /\/a\/([\w.~-]+)/.exec(JSON.stringify([text, keyboard, entities]))?.[1] ?? ''
      return await readLinkedAlertPage(world.app, code)
    }
    const [row] = await world.sql<{ id: number }[]>`
      select id from alerts where watch_id = ${treasury} limit 1`
    const id = row?.id
    await bob.say(`/start a${id}`)
    expect(await pageOf(bob.last())).toMatchObject({ mayAct: true })

    const reader = await linked('bob', ['read'])
    await reader.say(`/start a${id}`)
    expect(await pageOf(reader.last())).toMatchObject({ mayAct: false })

    const group = world.telegram.group({ title: 'Crew', members: [bob.id], admins: [bob.id] })
    const crew = world.chat(group.id, bob.id)
    await crew.say(`/start ${await world.groupCode('bob')}`)
    await crew.press('Link this chat')
    await crew.say(`/start a${id}`)
    expect(await pageOf(crew.last())).toMatchObject({ mayAct: false })
  })

  test('speaks the language of the chat', async () => {
    const chat = await linked('bob', ['read', 'write'], 'de')
    await chat.say('/alerts')
    expect(chat.last().text).toContain('Node <b>A')
    expect(linesOf(chat.last().text).join('\n')).not.toContain('left the wallet')
    await chat.say(`/watches ${treasury}`)
    expect(chat.last().text).toContain('Letzter Alarm: ')
    expect(chat.last().text).not.toContain('left the wallet')
  })

  test('has pages, and shows only the last seven days by default', async () => {
    const chat = await linked('carol')
    const watch = await world.addWatch('carol', { label: 'Many' })
    for (let at = 0; at < 20; at += 1) {
      world.clock.advance(60)
      await alerts.notice(watch, { event: 'wallet-balance.moved', severity: 'info' })
    }
    await chat.say('/alerts')
    const first = chat.last().text
    expect(linesOf(first)).toHaveLength(8)
    expect(chat.labels()[0]).toEqual(['Older ›'])
    await chat.press('Older ›')
    expect(linesOf(chat.last().text)).toHaveLength(8)
    expect(chat.last().text).not.toBe(first)
    expect(chat.labels()[0]).toEqual(['Older ›', '« Newest'])
    world.clock.advance(60)
    await chat.press('Older ›')
    expect(linesOf(chat.last().text)).toHaveLength(4)
    expect(chat.labels()[0]).toEqual(['« Newest'])
    await chat.press('« Newest')
    expect(chat.last().text).toBe(first)
    world.clock.advance(8 * 86_400)
    await chat.say('/alerts')
    expect(chat.last().text).toContain('No alerts in the last 7 days.')
  })

  test('opens one incident by the number that the list shows, of one’s own wallet only', async () => {
    const bob = await linked('bob')
    await bob.say('/alerts 1')
    expect(bob.last().text).toContain('FTSO commit')
    const carol = await linked('carol')
    await carol.say('/alerts 999')
    expect(carol.last().text).toBe('This item no longer exists, or it belongs to another wallet.')
    await carol.say('/start a1')
    expect(carol.last().text).toBe('This item no longer exists, or it belongs to another wallet.')
  })
})

describe('the list of one watch', () => {
  test('is opened from its card, leads back there, and on to all watches', async () => {
    const bob = await linked('bob')
    const [row] = await world.sql<{ id: number }[]>`select id from watches where label = 'Treasury'`
    await bob.say(`/watches ${row?.id}`)
    await bob.press('Alerts')
    expect(bob.last().text).toContain('of \u2068Treasury\u2069 · all time')
    expect(bob.labels()).toEqual([['‹ \u2068Treasury\u2069', 'All watches']])
    await bob.press('All watches')
    expect(bob.last().text).toContain('all watches · all time')
    expect(linesOf(bob.last().text)).toHaveLength(3)
  })

  test('shows the first page for a cursor of another list', async () => {
    const bob = await linked('bob')
    await bob.say('/alerts')
    const filter = { time: 'all', watchId: undefined } as const
    world.telegram.pressRaw(
      bob.id,
      bob.last().id,
      packed('alert.list', { filter, cursor: '1.2.abcdef' }),
    )
    await world.settle()
    expect(linesOf(bob.last().text)).toHaveLength(3)
  })
})

test('in a group all members read the list, and only administrators who linked the wallet use its buttons', async () => {
  const [owner = 0, member = 0] = ['Ann', 'Cy'].map(
    (firstName) => world.telegram.person({ firstName, languageCode: 'en', started: true }).id,
  )
  const { id } = world.telegram.group({
    title: 'Crew',
    members: [owner, member],
    admins: [owner],
  })
  const group = world.chat(id, owner)
  await group.say(`/start@${BOT_NAME} ${await world.groupCode('bob')}`)
  await group.press('Link this chat')
  const cy = world.chat(id, member)
  await cy.say('/alerts')
  expect(cy.last().text).toContain('Alerts')
  expect(cy.last().keyboard).toEqual([])
  await group.say('/alerts')
  expect(group.labels().at(-1)).toEqual(['‹ Menu'])
})

test('the history shows the start of an outage, as its message does, and not when it was detected', async () => {
  const alice = await linked('alice')
  const watch = await world.addWatch('alice', { label: 'Signer' })
  const at = (minutes: number) => new Date(began.getTime() + minutes * 60_000)
  const began = world.clock.now()
  const since = began.toISOString()
  const time = (minutes: number) => at(minutes).toISOString().slice(11, 16)
  world.clock.advance(300)
  await alerts.notice(watch, { event: COMMIT, data: { since } })
  await alice.say('/alerts')
  expect(linesOf(alice.last().text)[0]).toMatch(
    new RegExp(`^🟠 ${time(0)}\u00a0UTC #\\d+ Signer: `),
  )
  await alice.say(`/watches ${watch}`)
  expect(alice.last().text).toContain(`Last alert: ${time(0)}\u00a0UTC, FTSO commit`)
  world.clock.advance(1200)
  const data = { since, gapSeconds: 1440, roundStart: at(24).toISOString() }
  await alerts.notice(watch, { event: `${COMMIT}.recovered`, data })
  await alice.say('/alerts')
  expect(linesOf(alice.last().text)[0]).toMatch(
    new RegExp(`^🟢 ${time(0)}\u00a0UTC #\\d+ Signer: .* · recovered after 24 min$`),
  )
})
