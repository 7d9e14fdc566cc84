import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packed } from '#src/actions/codec.ts'
import { readLinkedAlertPage } from '#src/alerts/history/public-view.ts'
import type { Scope } from '#src/kernel/caller.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { listAlerts } from '#src/operations/rest/alerts.ts'
import { type BotWorld, botWorld, type TestChat, walletOf } from '../support/bot.ts'
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

async function countOf(name: Name): Promise<number> {
  const caller = { wallet: walletOf(name), scopes: ['read'], via: 'http' } as const
  const { output } = await invoke(world.app, listAlerts, caller, { query: { limit: '250' } })
  return output.data.length
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
    expect(carol.last().text).toBe(
      'Alerts · active and past · all watches · 7 days\nNo alerts in the last 7 days.',
    )
    expect(carol.labels()).toEqual([['All time'], ['Filter'], ['‹ Menu']])
    await carol.press('All time')
    expect(carol.last().text).toContain('No alerts yet.')
    expect(carol.labels()).toEqual([['Filter'], ['‹ Menu']])
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
    expect(bob.labels()).toEqual([['Filter', 'Delete…', 'CSV'], ['‹ Menu']])

    const { url } = bob.last().entities.find(({ type }) => type === 'text_link') ?? {}
    const start = new URL(url ?? '').searchParams.get('start')
    await bob.say(`/start ${start}`)
    expect(bob.last().text).toMatch(/^🔵 .*Treasury.* sent 12,500.FLR/)
    await bob.press('Acknowledge')
    await bob.press('‹ Alerts')
    expect(linesOf(bob.last().text)[0]).toMatch(/✓ Ann$/)
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
    await crew.say(`/alerts ${id}`)
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

  test('opens one alert by its number, of one’s own wallet only', async () => {
    const bob = await linked('bob')
    await bob.say('/alerts 1')
    expect(bob.last().text).toContain('FTSO commit')
    const carol = await linked('carol')
    await carol.say('/alerts 1')
    expect(carol.last().text).toBe('This item no longer exists, or it belongs to another wallet.')
    await carol.say('/start a1')
    expect(carol.last().text).toBe('This item no longer exists, or it belongs to another wallet.')
  })
})

describe('the filter', () => {
  test('filters by state, severity, time and watch, with one button for each', async () => {
    const bob = await linked('bob')
    world.clock.advance(1)
    await bob.say('/alerts')
    await bob.press('Filter')
    expect(bob.last().text).toContain('active and past · all watches · 7 days')
    await bob.press('Time: 7 days')
    await bob.press('Time: 30 days')
    await bob.press('Time: all')
    await bob.press('Time: 24 hours')
    await bob.press('Time: 7 days')
    await bob.press('Time: 30 days')
    expect(bob.labels().flat()).toContain('Show 3')
    await bob.press('State: all')
    expect(bob.last().text).toContain('active · all watches · all time')
    await bob.press('State: active')
    expect(bob.labels().flat()).toContain('Show 1')
    await bob.press('Show 1')
    expect(linesOf(bob.last().text)).toHaveLength(1)
    expect(bob.last().text).toContain('FTSO commit')
    await bob.press('Filter')
    await bob.press('State: recovered')
    await bob.press('State: acknowledged')
    await bob.press('State: closed')
    await bob.press('Severity: all')
    expect(bob.labels().flat()).toContain('Show 1')
    expect(bob.last().text).toContain('Critical')
    await bob.press('Critical only')
    await bob.press('Warnings only')
    await bob.press('Info only')
    await bob.press('All watches')
    expect(bob.last().text).toMatch(/of \u2068(Node <b>A|Treasury)\u2069/)
    const [chosen = ''] = bob.labels()[2] ?? []
    await bob.press('›')
    expect(bob.labels()[2]).not.toEqual([chosen])
    await bob.press('‹')
    expect(bob.labels()[2]).toEqual([chosen])
    await bob.press(chosen)
    expect(bob.labels()[2]).toEqual(['All watches'])
  })

  test('shows the first page for a cursor of another list', async () => {
    const bob = await linked('bob')
    await bob.say('/alerts')
    const filter = { state: 'all', severity: 'all', time: 'all', watchId: undefined } as const
    world.telegram.pressRaw(
      bob.id,
      bob.last().id,
      packed('alert.list', { filter, cursor: '1.2.abcdef' }),
    )
    await world.settle()
    expect(linesOf(bob.last().text)).toHaveLength(3)
  })
})

describe('deleting', () => {
  test('of one alert asks once before it is done', async () => {
    const chat = await linked('alice')
    const watch = await world.addWatch('alice', { label: 'Node' })
    await alerts.notice(watch, { event: COMMIT }, { event: REVEAL })
    const before = await countOf('alice')
    await chat.say('/alerts')
    const { url } = chat.last().entities.find(({ type }) => type === 'text_link') ?? {}
    const start = new URL(url ?? '').searchParams.get('start') ?? ''
    await chat.say(`/start ${start}`)
    await chat.press('Delete…')
    expect(chat.last().text).toContain('Delete this alert from the history?')
    await chat.press('‹ Keep')
    await chat.press('Delete…')
    await chat.press(`Delete #${start.slice(1)}`)
    expect(chat.last().text).toMatch(/^✓ Deleted: /)
    expect(await countOf('alice')).toBe(before - 1)
  })

  test('removes alerts older than the list shows, and asks again when the list has changed', async () => {
    const chat = await linked('alice')
    await chat.say('/alerts')
    await chat.press('Delete…')
    expect(chat.last().text).toContain('No alerts are older than 7 days.')
    world.clock.advance(8 * 86_400)
    const watch = await world.addWatch('alice', { label: 'Second' })
    await alerts.notice(watch, { event: COMMIT })
    await chat.say('/alerts')
    await chat.press('Delete…')
    expect(chat.last().text).toContain('Delete 1 alert from the history?')
    expect(chat.last().text).toContain('all watches · older than 7 days')
    const filter = { state: 'all', severity: 'all', time: '7d', watchId: undefined } as const
    world.telegram.pressRaw(chat.id, chat.last().id, packed('alert.clearYes', { filter, index: 5 }))
    await world.settle()
    expect(chat.last().text).toContain('Delete 1 alert from the history?')
    await chat.press('Delete 1 alert')
    expect(chat.last().text).toContain('✓ 1 alert deleted.')
    expect(await countOf('alice')).toBe(1)
  })

  test('is refused in a chat that only receives', async () => {
    const reader = await linked('alice', ['read'])
    await reader.say('/alerts')
    expect(reader.labels().flat()).not.toContain('Delete…')
    const filter = { state: 'all', severity: 'all', time: 'all', watchId: undefined } as const
    const data = packed('alert.clearYes', { filter, index: 1 })
    world.telegram.pressRaw(reader.id, reader.last().id, data)
    await world.settle()
    expect(await countOf('alice')).toBe(1)
  })
})

test('the CSV file has the alerts of the list, and is sent at most six times an hour', async () => {
  const bob = await linked('bob')
  await bob.say('/alerts')
  await bob.press('Filter')
  await bob.press('Time: 7 days')
  await bob.press('Time: 30 days')
  await bob.press('Show 3')
  await bob.press('CSV')
  const document = world.telegram.lastCall('sendDocument')
  expect(document?.refused).toBeUndefined()
  const list = bob.all().at(-2)
  expect(list?.text).toContain('Alerts')
  const data = packed('alert.csv', {
    filter: { state: 'all', severity: 'all', time: 'all', watchId: undefined },
  })
  for (let times = 1; times < 6; times += 1) await bob.press(data)
  const answer = await bob.press(data)
  expect(answer.box).toBe(true)
  expect(answer.text).toContain('Limit: 6 exports per hour.')
})

test('the recipients of an alert and their deliveries are shown in private chats only', async () => {
  const ann = await linked('alice')
  const watch = await world.addWatch('alice', { label: 'Node T' })
  await alerts.fire(watch, { event: COMMIT })
  await ann.say('/alerts')
  const link = ann.last().entities.find(({ type }) => type === 'text_link')?.url ?? ''
  await ann.say(`/start ${new URL(link).searchParams.get('start')}`)
  await ann.press('Deliveries')
  expect(ann.last().text).toMatch(/\u2068This chat\u2069: delivered \d\d:\d\d:\d\d/)
  await ann.press('‹ Alert')
  expect(ann.last().text).toContain('Node T')
  world.clock.advance(240)
  await alerts.notice(watch, { event: `${COMMIT}.recovered` })
  await ann.press('Deliveries')
  expect(ann.last().text).toMatch(/🟢 FTSO commit.* · recovered after \u2068?4\smin/)
})

test('a chat that only receives sees its own delivery of an alert, and no other recipient', async () => {
  const boss = world.person('en', 'Boss')
  await boss.say(`/start ${await world.linkCode('carol')}`)
  await boss.press('Link this chat')
  const reader = await linked('carol', ['read'])
  const watch = await world.addWatch('carol', { label: 'Node R' })
  await alerts.fire(watch, { event: COMMIT })
  const [alert] = await world.sql<{ id: number }[]>`
    select id from alerts where watch_id = ${watch}`
  const deliveriesIn = async (chat: TestChat) => {
    await chat.say(`/alerts ${alert?.id}`)
    await chat.press('Deliveries')
    return chat.last().text.split('\n').slice(2).join('\n')
  }
  expect(await deliveriesIn(boss)).toMatch(/Ann.*: delivered/)
  const shown = (await deliveriesIn(reader)).trim().split('\n')
  expect(shown).toEqual([expect.stringMatching(/^\u2068This chat\u2069: delivered /)])
  await reader.say('/recipients')
  expect(reader.last().text).toContain('This chat')
  expect(reader.last().text).not.toContain('Boss')
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
  expect(group.labels().flat()).toContain('Filter')
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
