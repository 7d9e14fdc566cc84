import fc from 'fast-check'
import { getAddress } from 'viem/utils'
import { describe, expect, test } from 'vitest'
import { readAddress } from './typed-address.ts'

describe('an address', () => {
  const address = '0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C'.toLowerCase()
  const value = getAddress(address as `0x${string}`)

  test('is found in any letter case and inside other text', () => {
    for (const text of [
      address,
      value,
      `0x${address.slice(2).toUpperCase()}`,
      `Send it to ${address}, please`,
      `https://flare-explorer.flare.network/address/${address}?tab=txs`,
      `${address} ${value}`,
    ]) {
      expect(readAddress(text), text).toEqual({ ok: true, value })
    }
  })

  test('is refused when it is missing, ambiguous or mistyped', () => {
    const other = `0x${'1'.repeat(40)}`
    expect(readAddress('hello')).toEqual({ ok: false, reason: 'no_address' })
    for (const [text, digits] of [
      ['0x7099', 4],
      [address.slice(0, 41), 39],
      [`To ${address}0, please`, 41],
      [`0X${'A'.repeat(64)}`, 64],
    ] as const) {
      expect(readAddress(text), text).toEqual({ ok: false, reason: 'length', digits })
    }
    const others = ['0x12@example.org', 'my 0xdead provider', `tx 0x${'a'.repeat(64)}`]
    for (const text of ['0x', '0xyz', '0x12g4', 'a0x12', ...others]) {
      expect(readAddress(text), text).toEqual({ ok: false, reason: 'no_address' })
    }
    expect(readAddress(`${address} or ${other}`)).toEqual({ ok: false, reason: 'two_addresses' })
    const wrong = value.replace(/[a-f]/, (letter) => letter.toUpperCase())
    expect(readAddress(wrong)).toEqual({ ok: false, reason: 'checksum' })
  })

  test('is found or not in any text, without an error', () => {
    fc.assert(fc.property(fc.string(), (text) => void readAddress(text)))
  })
})
