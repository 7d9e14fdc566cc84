import { z } from 'zod'

/**
 * Latest time that is accepted from outside, in epoch seconds: the end of the year 9999, which a `Date` and
 * the database can represent.
 */
export const SECONDS_MAX = 253_402_300_799

/** Codec of a JSON-RPC quantity: hexadecimal text on the wire, a bigint in code. */
export const Quantity = z.codec(z.string().regex(/^0x[0-9a-fA-F]{1,64}$/), z.bigint(), {
  decode: (text) => BigInt(text),
  encode: (quantity) => `0x${quantity.toString(16)}`,
})
