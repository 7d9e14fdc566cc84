import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CHANNEL_KEYS } from '#src/channels/index.ts'
import { translator } from '#src/i18n/translate.ts'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import { type EpochReport, SIGNAL_OF } from '#src/watches/epoch-report.ts'
import { DUTIES } from '#src/watches/provider-rounds.ts'
import { anyUnicodeCharacter } from '../../test/support/any-character.ts'
import { every } from '../../test/support/every.ts'
import { runs } from '../../test/support/runs.ts'
import { NOTICE_KINDS, type Notice } from './model.ts'
import { renderNotice } from './render.ts'

const AT = new Date('2026-12-20T12:00:00.000Z')
const WALLET = '0x3f12b8aC9d2e7F4b6A1c5D8e0F9a7B3c2d1eA91c'
const timezone = 'Asia/Kathmandu'

const label = fc.string({ unit: anyUnicodeCharacter, minLength: 1, maxLength: 40 })
const labels = fc.array(label, { maxLength: 20 })
const amount = fc.integer({ min: 0, max: 1_000_000_000_000 })
const instant = fc.date({
  min: AT,
  max: new Date('2036-01-01T00:00:00.000Z'),
  noInvalidDate: true,
})
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })

/** What an operator writes, as the command takes it. */
const sentence = fc.stringMatching(/^[A-Za-z]{1,120}$/)
const announced = fc.record({
  title: sentence,
  lines: fc.array(sentence, { minLength: 1, maxLength: 8 }),
})

const renewal = {
  quantity: fc.integer({ min: 1, max: 20 }),
  endsAt: instant,
  credits: amount,
  balanceCredits: amount,
}

const counted = fc.nat(6720).map((known) => ({ known, bad: Math.floor(known / 3) }))
const condition = maybe(
  fc.record({
    rate: fc.float({ min: 0, max: 1, noNaN: true }),
    minimum: fc.constant(0.8),
    used: fc.float({ min: 0, max: 3, noNaN: true }),
  }),
)
const seconds = fc.integer({ min: -30, max: 90 })
const anyReport: fc.Arbitrary<EpochReport> = fc.record({
  provider: fc.constant('0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE'),
  name: maybe(label),
  rewardEpoch: fc.nat(9999),
  isOver: fc.boolean(),
  firstDay: fc.constant('2026-11-16'),
  lastDay: fc.constant('2026-11-20'),
  rounds: fc.nat(3360),
  badRounds: fc.constant(0),
  rate: maybe(fc.float({ min: 0, max: 1, noNaN: true })),
  rank: maybe(fc.record({ place: fc.integer({ min: 1, max: 98 }), of: fc.constant(98) })),
  duties: fc.tuple(...DUTIES.map((duty) => fc.constant(duty))).chain((duties) =>
    fc.tuple(
      ...duties.map((duty) =>
        fc.record({
          duty: fc.constant(duty),
          rounds: fc.constant(3360),
          missed: fc.nat(3360),
          margin: maybe(
            fc.record({
              rounds: fc.nat(3360),
              medianSeconds: seconds,
              leastSeconds: seconds,
              driftSeconds: maybe(seconds),
            }),
          ),
        }),
      ),
    ),
  ),
  minimalConditions: fc.record({
    anchor: condition,
    fdc: condition,
    uptime: condition,
    fastUpdates: condition,
  }),
  eligible: maybe(fc.boolean()),
  passes: maybe(fc.nat(3)),
  failures: fc.array(fc.constant('FTSO-ANCHOR-FEEDS'), { maxLength: 3 }),
  rewards: fc.record({
    state: fc.constantFrom('published', 'not-published', 'not-read'),
    amountWei: maybe(fc.bigInt({ min: 0n, max: 10n ** 30n })),
  }),
  mend: fc
    .subarray([...new Set(Object.values(SIGNAL_OF))])
    .chain((signals) =>
      fc.tuple(
        ...signals.map((signal) =>
          fc.record({ signal: fc.constant(signal), rounds: maybe(fc.nat(3360)) }),
        ),
      ),
    ),
})

const ANY: { readonly [Kind in Notice['kind']]: fc.Arbitrary<Extract<Notice, { kind: Kind }>> } = {
  'slots-end': fc.record({
    kind: fc.constant('slots-end'),
    id: fc.nat(),
    quantity: fc.integer({ min: 1, max: 20 }),
    endsAt: instant,
    renewal: maybe(fc.record({ credits: amount, missingCredits: amount })),
    offer: maybe(fc.record({ credits: amount, periods: fc.integer({ min: 1, max: 12 }) })),
    stopping: labels,
  }),
  'renewal-ahead': fc.record({ kind: fc.constant('renewal-ahead'), ...renewal }),
  renewed: fc.record({ kind: fc.constant('renewed'), ...renewal }),
  'renewal-failed': fc.record({
    kind: fc.constant('renewal-failed'),
    quantity: fc.integer({ min: 1, max: 20 }),
    missingCredits: amount,
    nextTryAt: fc.option(instant, { nil: undefined }),
    lastTryAt: instant,
    goneAt: instant,
    stopping: labels,
  }),
  suspended: fc.record({ kind: fc.constant('suspended'), watches: labels, at: instant }),
  resumed: fc.record({ kind: fc.constant('resumed'), watches: labels }),
  'trial-ends': fc.record({ kind: fc.constant('trial-ends'), endsAt: instant, stopping: labels }),
  'trial-ended': fc.record({ kind: fc.constant('trial-ended'), watches: labels, at: instant }),
  'destination-off': fc.record({
    kind: fc.constant('destination-off'),
    id: fc.nat(),
    channel: fc.constantFrom(...CHANNEL_KEYS),
    name: maybe(label),
    target: label,
    statusReason: maybe(fc.constantFrom('gone', 'blocked', 'status_500', 'other', 'timeout')),
    failingSince: maybe(fc.constant(AT)),
    kept: fc.nat(),
    at: instant,
  }),
  refused: fc.record({ kind: fc.constant('refused'), name: maybe(label), target: label }),
  'topic-gone': fc.record({ kind: fc.constant('topic-gone') }),
  linked: fc.record({
    kind: fc.constant('linked'),
    id: fc.nat(),
    wallet: fc.constant(WALLET),
    channel: fc.constantFrom(...CHANNEL_KEYS),
    name: maybe(label),
    target: label,
    status: fc.constantFrom('active', 'pending'),
    chat: maybe(
      fc.record({
        scopes: fc.subarray(['read', 'write', 'spend'] as const),
        isGroup: fc.boolean(),
      }),
    ),
    accountId: fc.constant(null),
    madeBy: maybe(label),
    at: instant,
  }),
  announcement: fc.record({
    kind: fc.constant('announcement'),
    texts: fc.record(
      Object.fromEntries(LOCALES.map((locale) => [locale, announced])) as {
        [L in Locale]: typeof announced
      },
    ),
  }),
  credited: fc.record({
    kind: fc.constant('credited'),
    asset: fc.constantFrom('service', 'WFLR', 'FXRP', 'FLR', 'XRP'),
    symbol: fc.constantFrom('WDG', 'WFLR'),
    amountUnits: fc.bigInt({ min: 1n, max: 10n ** 40n }),
    credits: amount,
    bonusCredits: amount,
    balanceCredits: amount,
    purchase: maybe(
      fc.record({
        slots: fc.integer({ min: 1, max: 20 }),
        reason: maybe(fc.constantFrom('insufficient_credits', 'slot_limit_reached')),
      }),
    ),
  }),
  'epoch-report': fc.record({
    kind: fc.constant('epoch-report'),
    name: label,
    report: anyReport,
  }),
  weekly: fc.record({
    kind: fc.constant('weekly'),
    watchId: fc.integer({ min: 1 }),
    card: fc.record(
      {
        locale: fc.constantFrom(...LOCALES),
        name: label,
        address: fc.constant('0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE' as const),
        firstDay: fc.constantFrom('2026-11-23', '2026-12-28'),
        incidents: fc.nat(100),
        provider: fc.record({
          days: fc.array(counted, { minLength: 7, maxLength: 7 }),
          rounds: counted,
          duties: counted,
        }),
        balance: fc.record({
          units: fc.bigInt({ min: 0n, max: 10n ** 30n }).map(String),
          decimals: fc.constant(18),
          symbol: fc.constant('FLR'),
        }),
      },
      { requiredKeys: ['locale', 'name', 'address', 'firstDay', 'incidents'] },
    ),
  }),
}

describe.each(LOCALES)('a notice in %s', (locale) => {
  const reader = { t: translator(locale), timezone }

  test('is complete and short, whatever it is about', () =>
    every(Object.keys(NOTICE_KINDS) as Notice['kind'][], (kind) => {
      fc.assert(
        fc.property(ANY[kind], (notice: Notice) => {
          const { title, lines } = renderNotice(notice, reader)
          for (const line of [title, ...lines]) {
            expect(line.trim()).not.toBe('')
            expect(line).not.toMatch(/[\u202a-\u202e]/)
            expect(line.match(/\u2068/g)?.length ?? 0).toBe(line.match(/\u2069/g)?.length ?? 0)
          }
          expect([title, ...lines].join('\n').length).toBeLessThan(2000)
        }),
        { numRuns: runs(100) },
      )
    }))
})

test('names at most five watches', () => {
  const reader = { t: translator('en'), timezone: 'UTC' }
  const watches = Array.from({ length: 20 }, (_, index) => `w${index}`)
  const { lines } = renderNotice({ kind: 'resumed', watches }, reader)
  expect(lines.join().match(/w\d+/g)).toEqual(['w0', 'w1', 'w2', 'w3', 'w4'])
  expect(lines.join()).toContain('and 15 more')
})

test('advises to revoke the API token only if one added the recipient', () => {
  const reader = { t: translator('en'), timezone: 'UTC' }
  const linked = (madeBy: string | null) =>
    renderNotice(
      {
        kind: 'linked',
        id: 7,
        wallet: WALLET,
        channel: 'telegram',
        name: 'Ann',
        target: 'Ann',
        status: 'active',
        chat: null,
        accountId: null,
        madeBy,
        at: AT,
      },
      reader,
    ).lines.join(' ')
  expect(linked(null)).not.toContain('API token')
  expect(linked('CI')).toContain('revoke the API token')
})
