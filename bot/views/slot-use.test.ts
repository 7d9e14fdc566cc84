import { expect, test } from 'vitest'
import { slotUse } from './slot-use.ts'

test.each([
  [
    { purchased: 0, trial: 0, used: 0 },
    { used: 0, total: 0, free: 0, waiting: 0 },
  ],
  [
    { purchased: 4, trial: 1, used: 3 },
    { used: 3, total: 5, free: 2, waiting: 0 },
  ],
  [
    { purchased: 2, trial: 0, used: 4 },
    { used: 2, total: 2, free: 0, waiting: 2 },
  ],
  [
    { purchased: 0, trial: 0, used: 1 },
    { used: 0, total: 0, free: 0, waiting: 1 },
  ],
])('the slots %o are shown as %o', (capacity, use) => {
  expect(slotUse(capacity)).toEqual(use)
})
