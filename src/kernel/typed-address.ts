import { getAddress, isAddress } from 'viem/utils'
import type { Address } from './units.ts'

/** Reason why `readAddress` returns no address. */
export type AddressProblem =
  | { readonly reason: 'no_address' | 'two_addresses' | 'checksum' }
  /** Something that begins as an address, with this number of digits after `0x`. */
  | { readonly reason: 'length'; readonly digits: number }

/**
 * Finds the address in a text, also inside other text such as a link to an explorer. The address may be all lower
 * case or all upper case. Two different addresses are refused, and so is an address with a wrong checksum or length.
 */
export function readAddress(
  text: string,
): { readonly ok: true; readonly value: Address } | ({ readonly ok: false } & AddressProblem) {
  const addresses = text.match(/(?<![0-9a-z])0x[0-9a-f]{40}(?![0-9a-z])/gi) ?? []
  const [first] = addresses
  if (first === undefined) {
    // Inside other text, something short or long is a name, a mailbox or a transaction.
    const [, digits] =
      /^\s*0x([0-9a-f]+)\s*$/i.exec(text) ??
      /(?<![0-9a-z])0x([0-9a-f]{30,50})(?![0-9a-z])/i.exec(text) ??
      []
    return digits === undefined
      ? { ok: false, reason: 'no_address' }
      : { ok: false, reason: 'length', digits: digits.length }
  }
  if (new Set(addresses.map((address) => address.toLowerCase())).size > 1) {
    return { ok: false, reason: 'two_addresses' }
  }
  const digits = first.slice(2)
  const isPlain = digits === digits.toLowerCase() || digits === digits.toUpperCase()
  if (!isPlain && !isAddress(`0x${digits}`)) return { ok: false, reason: 'checksum' }
  return { ok: true, value: getAddress(`0x${digits.toLowerCase()}`) }
}
