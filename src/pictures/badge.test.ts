import { expect, test } from 'vitest'
import type { ProviderView } from '#src/watches/provider-view.ts'
import { drawBadge } from './badge.ts'

const GREY = '#566070'

function view(rounds: number, badRounds: number): ProviderView {
  return {
    provider: '0x12ab4F1111111111111111111111111111cd3412',
    ...{ addresses: null, rewardEpoch: 452, registered: true, registeredNext: null },
    ...{ registrationOpensAt: null, inPolicy: true, weight: null, currentRound: null },
    rounds: [],
    last30Days: { days: 1, rounds, badRounds, rate: (rounds - badRounds) / rounds },
    others: null,
    fastUpdates: null,
    minimalConditions: { anchor: null, fdc: null, uptime: null, fastUpdates: null },
    ...{ validators: null, balances: [], asOf: null, stale: false },
  }
}

test('a badge is grey until a day of rounds is known, whatever their share', () => {
  for (const badRounds of [0, 1, 400]) expect(drawBadge(view(959, badRounds), 'A')).toContain(GREY)
  const colours = [0, 20, 400].map((badRounds) => drawBadge(view(960, badRounds), 'A'))
  for (const badge of colours) expect(badge).not.toContain(GREY)
  expect(new Set(colours.map((badge) => /#(1B7F4F|8A4B00|B3261E)/.exec(badge)?.[0])).size).toBe(3)
})
