import { expect, test } from 'vitest'
import { currentData, dataAtEnd } from './current-data.ts'

const FIRST_AT = Date.parse('2026-11-20T09:10:00.000Z') / 1000
const DATA = { reason: 'missing', since: '2026-11-20T09:10:00.000Z', streak: 2 }
const STATE = {
  lastRound: 1016,
  streak: 17,
  firstRound: 1000,
  firstAt: FIRST_AT,
  missed: 17,
  isBroken: true,
  bad: ['commit'],
  silent: 17,
  others: null,
  usual: [],
  earnings: null,
}

test('an open alert has the number of rounds that have failed since its outage began', () => {
  expect(currentData('fsp.ftso-commit', DATA, STATE)).toEqual({ ...DATA, streak: 17 })
  // Rounds without evidence end a streak, and the outage goes on.
  const afterGap = { ...STATE, streak: 0 }
  expect(currentData('fsp.ftso-commit', DATA, afterGap)).toEqual({ ...DATA, streak: 17 })
})

test('a silence of fast updates has the number of its blocks, and the probability of as many', () => {
  const { since } = DATA
  const silent = {
    isSilent: true,
    tooLong: null,
    longSince: null,
    lastUpdateBlock: 40,
    since,
    rule: 'probability',
    others: null,
    usual: [],
  }
  const data = { since, blocksSinceUpdate: 463, probabilityOfSilence: '2.6e-8' }
  const now = (state: object) => currentData('fsp.fast-updates', data, state)
  const grown = { blocks: 1200, chance: '2.1e-20' }
  const figures = { blocksSinceUpdate: 1200, probabilityOfSilence: '2.1e-20' }
  expect(now({ ...silent, ...grown })).toEqual({ since, ...figures })
  expect(now({ ...silent, ...grown, blocks: 400 })).toEqual(data)
  expect(now({ ...silent, ...grown, since: '2026-11-20T09:00:00.000Z' })).toEqual(data)
})

test.each([
  ['of another outage', 'fsp.ftso-commit', { ...STATE, firstAt: FIRST_AT + 90 }],
  ['of a signal that is well', 'fsp.ftso-commit', { ...STATE, firstAt: null, missed: 0 }],
  ['that counts less, as after a restore', 'fsp.ftso-commit', { ...STATE, missed: 1 }],
  ['that cannot be read', 'fsp.ftso-commit', { lastRound: 'x' }],
  [
    'with a time that is no date',
    'fsp.ftso-commit',
    { ...STATE, firstAt: Number.MAX_SAFE_INTEGER },
  ],
  ['that is missing', 'fsp.ftso-commit', undefined],
  ['of a signal without figures that grow', 'fsp.registration', { missingFor: 452 }],
  ['of an event that is unknown', 'fsp.unheard', STATE],
])('data stays as it was recorded beside a state %s', (_, event, state) => {
  expect(currentData(event, DATA, state)).toEqual(DATA)
})

test('an alert that is over has the number of rounds that its outage lost', () => {
  const event = 'fsp.ftso-commit'
  expect(dataAtEnd(event, DATA, { missedRounds: 5 })).toEqual({ ...DATA, streak: 5 })
  for (const recovery of [{ missedRounds: 1 }, { missedRounds: '5' }, {}, null, 'x']) {
    expect(dataAtEnd(event, DATA, recovery)).toEqual(DATA)
  }
  expect(dataAtEnd('fsp.registration', DATA, { missedRounds: 5 })).toEqual(DATA)
})
