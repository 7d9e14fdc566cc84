import { expect, test } from 'vitest'
import { claimableEpochs } from './rewards.ts'

const DAY = 86_400

function policies(roundsPerEpoch: number, rewardExpirySeconds: number | null, currentEpoch = 400) {
  const clock = { firstRoundAtSeconds: 0, roundSeconds: 90, firstEpochRound: 0, roundsPerEpoch }
  const schedule = { registrationSeconds: 1800, preparationSeconds: 7200, rewardExpirySeconds }
  return { clock, currentEpoch, schedule }
}

test.each([
  ['84 hours and 90 days', 3360, 90 * DAY, 26],
  ['6 hours and 7 days', 240, 7 * DAY, 28],
  ['an expiry shorter than an epoch', 3360, DAY, 1],
])('with %s the rewards of as many reward epochs can be claimed as begin before they expire', (_, rounds, expiry, count) => {
  const epochs = claimableEpochs(policies(rounds, expiry))
  expect(epochs).toHaveLength(count)
  expect([epochs[0], epochs.at(-1)]).toEqual([399, 400 - count])
})

test('no reward epoch before the first is named', () => {
  expect(claimableEpochs(policies(240, 7 * DAY, 3))).toEqual([2, 1, 0])
  expect(claimableEpochs(policies(240, 2 ** 32, 3))).toEqual([2, 1, 0])
  expect(claimableEpochs(policies(240, 7 * DAY, 0))).toEqual([])
})

test('without an expiry from the chain all ended reward epochs count', () => {
  expect(claimableEpochs(policies(3360, null, 4))).toEqual([3, 2, 1, 0])
})
