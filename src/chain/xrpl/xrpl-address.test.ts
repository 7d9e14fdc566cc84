import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isClassicAddress, toClassicAddress } from './xrpl-address.ts'

describe('a classic address', () => {
  // The ledger's own special addresses.
  test.each([
    ['rrrrrrrrrrrrrrrrrrrrrhoLvTp', '00'.repeat(20)],
    ['rrrrrrrrrrrrrrrrrrrrBZbvji', `${'00'.repeat(19)}01`],
    ['rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh', 'b5f762798a53d543a014caf8b297cff8f2f937e8'],
  ])('%s is made from its account id', (address, account) => {
    expect(toClassicAddress(Buffer.from(account, 'hex'))).toBe(address)
    expect(isClassicAddress(address)).toBe(true)
  })

  test('is valid for any account id and invalid with one letter changed', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 20, maxLength: 20 }),
        fc.nat({ max: 24 }),
        fc.constantFrom(...'rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz'),
        (account, at, letter) => {
          const address = toClassicAddress(Buffer.from(account))
          expect(isClassicAddress(address)).toBe(true)
          fc.pre(address[at] !== letter)
          expect(isClassicAddress(address.slice(0, at) + letter + address.slice(at + 1))).toBe(
            false,
          )
        },
      ),
    )
  })

  test.each([
    '',
    'r',
    '0x3f12b8aC9d2e7F4b6A1c5D8e0F9a7B3c2d1eA91c',
    'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyT',
    ' rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh',
    'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh\n',
    'XVLhHMPHU98es4dbozjVtdWzVrDjtV5fdx1mHp98tDMoQXb',
    'sn259rEFXrQrWyx3Q7XneWcwV6dfL',
  ])('is not %j', (text) => {
    expect(isClassicAddress(text)).toBe(false)
  })
})
