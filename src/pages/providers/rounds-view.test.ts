import { expect, test } from 'vitest'
import { translator } from '#src/i18n/translate.ts'
import { Address } from '#src/kernel/units.ts'
import { roundsText } from '#src/pictures/rounds-text.ts'
import type { ProviderView } from '#src/watches/provider-view.ts'
import { roundsGrid } from './rounds-view.ts'

type Round = ProviderView['rounds'][number]

const OK = { commit: 'ok', reveal: 'ok', signature: 'ok' } as const
const roundOf = (id: number, commit: Round['ftso']['commit'] = 'ok'): Round => ({
  id,
  startsAt: new Date(0),
  ftso: { ...OK, commit },
  fdc: { bitvote: 'ok', signature: 'ok' },
})
const viewOf = (rounds: readonly Round[]): ProviderView => ({
  provider: Address.parse('0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE'),
  ...{ addresses: null, rewardEpoch: 452, registered: true, registeredNext: null },
  ...{ registrationOpensAt: null, inPolicy: true, weight: null, currentRound: null },
  rounds: [...rounds],
  ...{
    others: null,
    fastUpdates: null,
    last30Days: null,
    minimalConditions: { anchor: null, fdc: null, uptime: null, fastUpdates: null },
  },
  ...{ validators: null, balances: [], asOf: null, stale: false },
})
const t = translator('en')

test('the text counts the rounds in the picture, also those without data', () => {
  const rounds = [roundOf(1000), roundOf(999, 'missing'), roundOf(998), roundOf(990)]
  expect(roundsText(t, viewOf(rounds), 20)).toBe(
    'Last 20 rounds: 3 OK, 1 with problems · 16 without data',
  )
})

test('a round counts only if it is in the picture, also behind a gap', () => {
  const view = viewOf([roundOf(1000), roundOf(900, 'missing')])
  expect(roundsText(t, view, 20)).toBe('Last 20 rounds: 1 OK, 0 with problems · 19 without data')
  expect(roundsText(t, view, 100)).toContain('1 OK, 0 with problems · 99 without data')
  const grid = roundsGrid(t, view, { timezone: 'UTC', label: null })
  expect(grid?.ids).toEqual(['1000'])
})

test('the text says “all OK” if every round has data and no problem', () => {
  const rounds = Array.from({ length: 20 }, (_, index) => roundOf(1000 - index))
  expect(roundsText(t, viewOf(rounds), 20)).toBe('Last 20 rounds: all OK')
})

test('the picture on a page names the duties in the reader’s language', () => {
  const pictureIn = (locale: 'de' | 'ar') =>
    roundsGrid(translator(locale), viewOf([roundOf(1000)]), { timezone: 'UTC', label: null })
      ?.picture ?? ''
  expect(pictureIn('de')).toContain('>Signatur</text>')
  expect(pictureIn('de')).not.toContain('>sign</text>')
  expect(pictureIn('ar')).toContain('التوقيع')
})
