import { z } from 'zod'

/** Codec of a JSON-RPC quantity: hexadecimal text on the wire, a bigint in code. */
export const Quantity = z.codec(z.string().regex(/^0x[0-9a-fA-F]{1,64}$/), z.bigint(), {
  decode: (text) => BigInt(text),
  encode: (quantity) => `0x${quantity.toString(16)}`,
})
