import { getAddress } from 'viem/utils'
import { z } from 'zod'
import type { FieldProblem } from './errors.ts'
import { memoized } from './memoized.ts'
import { textFormat } from './text-format.ts'
import { addressProblemOf, fieldProblemOf } from './typed-address.ts'

/** Codecs of values that are text in JSON and typed in code: `z.decode` on input, `z.encode` on output. */

/**
 * Maximum number of addresses whose checksum is cached. A checksum needs a hash, and observation needs the
 * checksum of each target.
 */
const REMEMBERED_ADDRESSES = 16_384
const checksummed = memoized(REMEMBERED_ADDRESSES, (address) => getAddress(address))

/**
 * An address, checksummed (EIP-55). Input may be all lower case, all upper case (also `0X`) or correctly
 * checksummed; any other mix of cases is a typing error.
 */
export const Address = z.codec(
  textFormat(/^0[xX][0-9a-fA-F]{40}$/, (text) => fieldProblemOf(addressProblemOf(text)))
    // The published schema is that of the output.
    .meta({
      pattern: '^0x[0-9a-fA-F]{40}$',
      examples: ['0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C'],
    }),
  z.custom<`0x${string}`>((value) => typeof value === 'string'),
  {
    decode: (text, context) => {
      const address = checksummed(asHex(text).toLowerCase())
      if (isPlainCase(text) || asHex(text) === address) return address
      context.issues.push({ code: 'custom', input: text, params: { code: 'checksum' } })
      return z.NEVER
    },
    encode: (address) => checksummed(address.toLowerCase()),
  },
)
export type Address = z.output<typeof Address>

/** The zero address, which stands for "no contract". */
export const ZERO_ADDRESS: Address = '0x0000000000000000000000000000000000000000'

/** Number of hexadecimal digits of a hash. */
const HASH_DIGITS = 64

/** What is wrong with a text that is no hash. */
export function hashProblem(text: string): FieldProblem {
  const [, digits] = /^(?:0x)?([0-9a-f]+)$/i.exec(text) ?? []
  if (digits === undefined || digits.length === HASH_DIGITS) return { code: 'hash' }
  return { code: 'hash', detail: 'hash_length', values: { number: digits.length } }
}

/** A 32-byte hash, lower case. */
export const Hash = z.codec(
  textFormat(/^0x[0-9a-fA-F]{64}$/, hashProblem),
  z.custom<`0x${string}`>((value) => typeof value === 'string'),
  { decode: (text) => asHex(text.toLowerCase()), encode: (hash) => hash },
)
export type Hash = z.output<typeof Hash>

/** A whole number of smallest units: a decimal string in JSON, a bigint in code. */
export const Units = z.codec(z.string().regex(/^(0|[1-9]\d{0,77})$/), z.bigint(), {
  decode: (text) => BigInt(text),
  encode: (units) => units.toString(),
})
export type Units = z.output<typeof Units>

/** Maximum number of decimals of an asset: with more, even the largest amount (2^256 - 1) is less than one whole unit. */
export const ASSET_DECIMALS_MAX = 77
/** Number of decimals of an asset. It is bounded, because an amount with a million of them takes minutes to format. */
export const AssetDecimals = z.int().min(0).max(ASSET_DECIMALS_MAX)

/** First and last millisecond of the accepted years, 1970 to 9999. */
const INSTANT_MS_MIN = 0
export const INSTANT_MS_MAX = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Begins a time of the years 0000 to 1969. */
const YEARS_BEFORE = '^(0|1[0-8]|19[0-6])'

/**
 * An instant of the years 1970 to 9999 (UTC): RFC 3339 in UTC with milliseconds in JSON, a Date in code.
 */
export const Instant = z.codec(
  // JSON Schema has no keyword for the first time, and generated clients would try a `pattern` on dates. Validators know
  // `not`, which generators pass over. It is about the written year: a first day with an offset may still be too early.
  textFormat(z.regexes.datetime({ offset: true }), () => ({ code: 'instant' })).meta({
    format: 'date-time',
    pattern: undefined,
    not: { pattern: YEARS_BEFORE },
  }),
  z.date(),
  {
    decode: (text, context) => {
      const date = new Date(text)
      const ms = date.getTime()
      if (ms >= INSTANT_MS_MIN && ms <= INSTANT_MS_MAX) return date
      context.issues.push({ code: 'custom', input: text, params: { code: 'instant' } })
      return z.NEVER
    },
    encode: (date) => date.toISOString(),
  },
)
export type Instant = z.output<typeof Instant>

/** A whole number of credits. */
export const Credits = z.int()

/** Maximum id of a row. */
export const ID_MAX = 2_147_483_647

/** Id of a row. */
export const Id = z.int().min(1).max(ID_MAX)

/** JSON that PostgreSQL and webhooks can contain. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

/** A JSON object of any shape, from this service's tables or messages. */
export const JsonObject = z
  .custom<JsonObject>((value) => value?.constructor === Object)
  .meta({ type: 'object', additionalProperties: true })

function isPlainCase(text: string): boolean {
  const digits = text.slice(2)
  return digits === digits.toLowerCase() || digits === digits.toUpperCase()
}

/** Casts a text that is known to be hexadecimal. */
function asHex(text: string): `0x${string}` {
  return `0x${text.slice(2)}`
}

/** An address from this service's tables; the codec checksummed the address before it was written. */
export function storedAddress(text: string): Address {
  return asHex(text)
}
