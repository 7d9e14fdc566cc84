import { afterAll, beforeAll, expect, test } from 'vitest'
import { readLinked } from '#src/alerts/public-view.ts'
import { translator } from '#src/i18n/translate.ts'
import { alertPageData } from '#src/pages/alert-view.ts'
import { type ProviderView, ROUND_CELLS, type RoundCell } from '#src/watches/provider-view.ts'
import { openSite, type Site } from './site.ts'

let site: Site
beforeAll(async () => {
  site = await openSite()
})
afterAll(() => site.close())

function view(cells: readonly RoundCell[]): ProviderView {
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
    fastUpdates: null,
    minimalConditions: { anchor: null, fdc: null, uptime: null },
    validators: null,
    balances: [],
    asOf,
    stale: false,
  }
}

test('the rounds of a provider are drawn, and read from the oldest to the newest in words', async () => {
  const { path } = await site.alert()
  const page = await readLinked(site.app, path.replace('/a/', ''))
  if (page === undefined) throw new Error('the alert is not there')
  const now = new Date('2026-11-20T21:06:00.000Z')
  const facts = { page, provider: view(ROUND_CELLS), now }
  const { rounds } = alertPageData(site.app, translator('en'), facts)
  expect(rounds?.title).toContain(' · last voting rounds')
  expect(rounds?.ids.at(0)).toBe('1519394')
  expect(rounds?.ids.at(-1)).toBe('1519400')
  const [commit] = rounds?.rows ?? []
  expect(commit?.label).toBe('FTSO commit')
  expect(commit?.words).toEqual([
    'unknown',
    'offence',
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

test('the rounds are not shown once the outage was over before the oldest of them', async () => {
  const { path } = await site.alert({ position: 2 })
  const open = await readLinked(site.app, path.replace('/a/', ''))
  if (open === undefined) throw new Error('the alert is not there')
  const now = new Date('2026-11-20T21:06:00.000Z')
  const shown = (recoveredAt: Date) => {
    const page = { ...open, recoveredAt, durationSeconds: 60 }
    return alertPageData(site.app, translator('en'), { page, provider: view(['ok']), now }).rounds
  }
  expect(shown(new Date('2026-11-20T21:05:00.000Z'))).toBeDefined()
  expect(shown(new Date('2026-11-20T21:04:59.000Z'))).toBeUndefined()
})

test('an alert that is over offers to end its mute, and no acknowledgement and no other mute', async () => {
  const { path } = await site.alert({ position: 3 })
  const open = await readLinked(site.app, path.replace('/a/', ''))
  if (open === undefined) throw new Error('the alert is not there')
  const now = new Date('2026-11-20T21:06:00.000Z')
  const acknowledged = { at: now, by: null }
  const over = { ...open, mayAct: true, recoveredAt: now, durationSeconds: 60, acknowledged }
  const offered = (page: typeof open) =>
    alertPageData(site.app, translator('en'), { page, provider: undefined, now }).acts.map(
      ({ answer }) => answer,
    )
  expect(offered(over)).toEqual([])
  expect(offered({ ...over, muted: { until: now } })).toEqual(['unmute'])
})
