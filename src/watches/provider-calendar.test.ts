import { expect, test } from 'vitest'
import type { PolicySnapshot } from '#src/fsp/reader/policies.ts'
import { datesOf } from './provider-calendar.ts'

/** Rounds of 90 seconds and epochs of 100 rounds, from the year 1970 on. */
const EPOCH_SECONDS = 9000
const clock = { firstRoundAtSeconds: 0, roundSeconds: 90, firstEpochRound: 0, roundsPerEpoch: 100 }

const policy = (rewardEpoch: number, { lateRounds = 0, fixedAt = 0 } = {}) => ({
  ...{ rewardEpoch, startRound: rewardEpoch * 100 + lateRounds, providers: [], weightSum: 1 },
  fixedAt,
})

const snapshot = (changes: Partial<PolicySnapshot> = {}): PolicySnapshot => ({
  clock,
  currentEpoch: 10,
  policies: [policy(9, { fixedAt: 80_900 }), policy(10, { fixedAt: 89_900 })],
  registrations: [],
  schedule: { registrationSeconds: 1800, preparationSeconds: 7200, rewardExpirySeconds: null },
  ...changes,
})

const find = (kind: string, of: string, ...args: Parameters<typeof datesOf>) =>
  datesOf(...args).find((date) => date.kind === kind && date.of === of)
const at = (seconds: number) => new Date(seconds * 1000)

test('an epoch that is not fixed has its expected time, and gets a new sequence with the real one', () => {
  const expected = find('epoch', '11', snapshot(), [])
  expect(expected).toEqual({
    ...{ kind: 'epoch', of: '11', isFixed: false, revision: 0, knownSince: at(89_900) },
    ...{ from: at(11 * EPOCH_SECONDS), to: at(12 * EPOCH_SECONDS) },
  })
  const next = policy(11, { lateRounds: 5, fixedAt: 98_800 })
  const policies = [...snapshot().policies, next]
  const fixed = find('epoch', '11', snapshot({ policies }), [])
  expect(fixed).toMatchObject({ isFixed: true, revision: 1, from: at(11 * EPOCH_SECONDS + 450) })
  // The epoch before it ends then, and says so by a new sequence, too.
  const before = find('epoch', '10', snapshot({ policies }), [])
  expect(before).toMatchObject({ revision: 2, to: fixed?.from, knownSince: at(98_800) })
  expect(find('epoch', '10', snapshot(), [])).toMatchObject({ revision: 1 })
})

test('a registration has its expected opening until it opens, and stays open half an hour at least', () => {
  const start = 11 * EPOCH_SECONDS
  const expected = find('registration', '11', snapshot(), [])
  expect(expected).toMatchObject({ from: at(start - 7200), to: at(start - 5400), revision: 0 })
  const registrations = [{ epoch: 11, openedAt: start - 7000 }]
  const opened = find('registration', '11', snapshot({ registrations }), [])
  expect(opened).toMatchObject({ from: at(start - 7000), isFixed: true, revision: 1 })
  expect(opened?.knownSince).toEqual(at(start - 7000))
  expect(find('registration', '10', snapshot(), [])).toBeUndefined()
})

test('votes begin when their epoch ends', () => {
  expect(find('votes', '9', snapshot(), [])).toMatchObject({ from: at(90_000), isFixed: true })
  expect(find('votes', '10', snapshot(), [])).toMatchObject({ from: at(99_000), isFixed: false })
})

test('only stakes with a known end have a date', () => {
  const nodes = [
    { nodeId: 'NodeID-a', endsAt: 95_000 },
    { nodeId: 'NodeID-b', endsAt: null },
  ]
  const stakes = datesOf(snapshot(), nodes).filter(({ kind }) => kind === 'stakeEnd')
  expect(stakes).toMatchObject([{ of: 'NodeID-a', from: at(95_000), to: at(95_000) }])
})
