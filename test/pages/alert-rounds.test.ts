import { afterAll, beforeAll, expect, test } from 'vitest'
import { readLinkedAlertPage } from '#src/alerts/history/public-view.ts'
import { translator } from '#src/i18n/translate.ts'
import { alertPageData } from '#src/pages/alert/view.ts'
import { findEventSource } from '#src/watches/events.ts'
import { DUTY_RESULTS, type DutyResult } from '#src/watches/provider-rounds.ts'
import type { ProviderView } from '#src/watches/provider-view.ts'
import { openSite, type Site } from './site.ts'

let site: Site
beforeAll(async () => {
  site = await openSite()
})
afterAll(() => site.close())

function view(cells: readonly DutyResult[]): ProviderView {
  const asOf = new Date('2026-11-20T21:05:00.000Z')
  return {
    provider: '0x1111111111111111111111111111111111111111',
    addresses: null,
    rewardEpoch: 452,
    registered: true,
    registeredNext: null,
    registrationOpensAt: null,
    inPolicy: true,
    weight: 0.02,
    currentRound: 1_519_400,
    rounds: cells.map((cell, index) => ({
      id: 1_519_400 - index,
      startsAt: new Date(asOf.getTime() - index * 90_000),
      ftso: { commit: cell, reveal: 'ok', signature: 'ok' },
      fdc: { bitvote: 'ok', signature: 'unknown' },
    })),
    others: null,
    fastUpdates: null,
    last30Days: null,
    minimalConditions: { anchor: null, fdc: null, uptime: null, fastUpdates: null },
    validators: null,
    balances: [],
    asOf,
    stale: false,
  }
}

test('the rounds of a provider are drawn, and read from the oldest to the newest in words', async () => {
  const { path } = await site.alert()
  const found = await readLinkedAlertPage(site.app, path.replace('/a/', ''))
  if (found === undefined) throw new Error('the alert is not there')
  const page = { ...found, endedAt: null }
  const now = new Date('2026-11-20T21:06:00.000Z')
  const facts = { page, provider: view(DUTY_RESULTS), now }
  const { rounds } = alertPageData(site.app, translator('en'), facts)
  expect(rounds?.title).toContain(' · last voting rounds')
  expect(rounds?.ids.at(0)).toBe('1519394')
  expect(rounds?.ids.at(-1)).toBe('1519400')
  const [commit] = rounds?.rows ?? []
  expect(commit?.label).toBe('FTSO commit')
  expect(commit?.words).toEqual([
    'unknown',
    'offense',
    'mismatch',
    'missing',
    'early',
    'late',
    'OK',
  ])
  expect(rounds?.picture).toMatch(/^<svg .*var\(--picture-missing\).*<\/svg>$/)
  const none = alertPageData(site.app, translator('en'), { page, provider: view([]), now })
  expect(none.rounds).toBeUndefined()
})

test('an outage that is over has the rounds of its time, and none after it', async () => {
  const { sql } = site.database
  const provider = '0x1111111111111111111111111111111111111111'
  const first = Date.parse('2026-11-20T20:00:00.000Z')
  const startOf = (index: number) => new Date(first + index * 90_000)
  const rows = Array.from({ length: 60 }, (_, index) => ({
    round: 1_000_000 + index,
    reward_epoch: 300,
    starts_at: startOf(index),
    block_number: 41_880_000 + index,
    block_hash: `0x${index}`,
    block_at: new Date(startOf(index).getTime() + 135_000),
    providers: sql.json({ [provider]: { c: 'g'.repeat(15) } }),
  }))
  await sql`insert into fsp_rounds ${sql(rows)}`
  const outage = {
    type: 'provider-fsp',
    signal: 'ftso-commit',
    event: 'fsp.ftso-commit',
    data: JSON.stringify({
      ...findEventSource('fsp.ftso-commit')?.signal.examples['fsp.ftso-commit'],
      provider,
      since: startOf(25).toISOString(),
    }),
    state: 'recovered',
    fired_at: startOf(27),
  }
  const over = await site.alert({ ...outage, recovered_at: startOf(30), position: 2 })
  const ids = (html: string) =>
    [...html.matchAll(/<bdi dir="ltr">(\d{7})<\/bdi>/g)].map(([, id]) => Number(id))
  const { html, text } = await site.get(over.path)
  expect(text).toContain('Voting rounds at that time')
  expect(text).not.toContain('As of')
  expect(ids(html)).toEqual(Array.from({ length: 20 }, (_, index) => 1_000_011 + index))
  // Rounds older than two reward epochs are not stored any more.
  const old = { recovered_at: new Date(first - 60_000), fired_at: new Date(first - 300_000) }
  const past = await site.alert({ ...outage, ...old, position: 4 })
  expect((await site.get(past.path)).text).not.toContain('Voting rounds')
  // Nothing is known about a provider that was in no signing policy.
  const data = JSON.stringify({ ...JSON.parse(outage.data), provider: `0x${'2'.repeat(40)}` })
  const stranger = await site.alert({ ...outage, data, recovered_at: startOf(30), position: 5 })
  expect((await site.get(stranger.path)).text).not.toContain('oting rounds')
})

test('an event that nothing ends is past once the newest rounds are all later', async () => {
  const ago = (minutes: number) => new Date(site.app.clock.now().getTime() - minutes * 60_000)
  const endedAt = async (fired_at: Date, position: number) => {
    const { path } = await site.alert({ fired_at, position })
    return (await readLinkedAlertPage(site.app, path.replace('/a/', '')))?.endedAt
  }
  const [recent, past] = [ago(29), ago(31)]
  expect(await endedAt(recent, 6)).toBeNull()
  expect(await endedAt(past, 7)).toEqual(past)
})

test('an alert that is over offers to end its mute, and no acknowledgement and no other mute', async () => {
  const { path } = await site.alert({ position: 3 })
  const open = await readLinkedAlertPage(site.app, path.replace('/a/', ''))
  if (open === undefined) throw new Error('the alert is not there')
  const now = new Date('2026-11-20T21:06:00.000Z')
  const acknowledged = { at: now, by: null }
  const ended = { incidentState: 'over', recoveredAt: now, durationSeconds: 60 } as const
  const over = { ...open, mayAct: true, ...ended, acknowledged }
  const offered = (page: typeof open) =>
    alertPageData(site.app, translator('en'), { page, provider: undefined, now }).acts.map(
      ({ answer }) => answer,
    )
  expect(offered(over)).toEqual([])
  expect(offered({ ...over, muted: { until: now } })).toEqual(['unmute'])
})
