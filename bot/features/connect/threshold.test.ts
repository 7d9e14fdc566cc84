import { expect, test } from 'vitest'
import { suggestedThreshold } from './threshold.ts'

test.each([
  ['0', '1'],
  ['99', '1'],
  ['100', '1'],
  ['160', '2'],
  ['700', '5'],
  ['12345.678', '100'],
  ['30000', '200'],
  ['42000', '500'],
  ['1000000000000', '10000000000'],
])('a balance of %s gets the threshold %s', (balance, threshold) => {
  const [whole = '', part = ''] = balance.split('.')
  const units = BigInt(whole + part.padEnd(6, '0'))
  expect(suggestedThreshold(units, 6)).toBe(threshold)
})
