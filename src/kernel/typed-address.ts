import { getAddress, isAddress } from 'viem/utils'
import type { FieldProblem } from './errors.ts'

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
):
  | { readonly ok: true; readonly value: `0x${string}` }
  | ({ readonly ok: false } & AddressProblem) {
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

/** Why a text is no address; `no_address` also if an address is only a part of it. */
export function addressProblemOf(text: string): AddressProblem {
  const read = readAddress(text)
  return read.ok ? { reason: 'no_address' } : read
}

/** The sentence about an address that cannot be used: the same at every front door. */
export function fieldProblemOf(problem: AddressProblem): FieldProblem {
  switch (problem.reason) {
    case 'no_address':
      return { code: 'address' }
    case 'length':
      return { code: 'address', detail: 'address_length', values: { number: problem.digits } }
    case 'two_addresses':
    case 'checksum':
      return { code: problem.reason }
  }
}
