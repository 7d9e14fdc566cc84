import { expect, test } from 'vitest'
import { NewWatch } from './model.ts'

const provider = '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE'

test.each([
  'provider-fsp',
  'provider-eligibility',
  'reward-signing',
])('a new %s watch, whose type has no settings, may omit them, and is refused with any', (type) => {
  const parsed = NewWatch.parse({ type, target: { provider } })
  expect(parsed).toEqual(NewWatch.parse({ type, target: { provider }, settings: {} }))
  expect(NewWatch.safeParse({ type, target: { provider }, settings: { a: 1 } }).success).toBe(false)
})

test('a new watch must have the settings that its type requires', () => {
  const parsed = NewWatch.safeParse({ type: 'credits-balance', target: {} })
  expect(parsed.error?.issues).toMatchObject([{ path: ['settings'] }])
})
