import fc from 'fast-check'
import { getAddress, isAddress } from 'viem/utils'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { runs } from '../../test/support/runs.ts'
import { Address } from './units.ts'

const hex = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => Buffer.from(bytes))

/** The digits of an address in some mix of cases. */
const digits = fc
  .tuple(hex, fc.constantFrom('lower', 'upper', 'checksum', 'mixed'), fc.nat())
  .map(([bytes, form, seed]) => {
    const lower = bytes.toString('hex')
    if (form === 'upper') return lower.toUpperCase()
    if (form === 'checksum') return getAddress(`0x${lower}`).slice(2)
    if (form === 'mixed')
      return [...lower]
        .map((letter, at) => ((seed >> (at % 30)) & 1 ? letter.toUpperCase() : letter))
        .join('')
    return lower
  })

test('an address is decoded in the same way the first time and later', () => {
  fc.assert(
    fc.property(digits, fc.constantFrom('0x', '0X'), (text, prefix) => {
      const isOneCase = text === text.toLowerCase() || text === text.toUpperCase()
      const isRight = isOneCase || isAddress(`0x${text}`)
      // Encoding puts the address into the cache. Decoding must check the letter case of a cached address, too.
      expect(z.encode(Address, `0x${text}`)).toBe(getAddress(`0x${text}`))
      for (const _ of [1, 2]) {
        const read = z.safeDecode(Address, `${prefix}${text}`)
        expect(read.success).toBe(isRight)
        expect(read.data).toBe(isRight ? getAddress(`0x${text}`) : undefined)
      }
      expect(z.encode(Address, `0x${text}`)).toBe(getAddress(`0x${text}`))
    }),
    { numRuns: runs(300) },
  )
})
