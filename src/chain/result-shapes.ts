import { z } from 'zod'
import { EndpointError } from './failures.ts'

const Bytes = z
  .string()
  .regex(/^0x[0-9a-fA-F]*$/)
  .refine(({ length }) => length % 2 === 0)
const Amount = z.string().regex(/^0x[0-9a-fA-F]{1,64}$/)
const Item = z.looseObject({}).nullable()

/** Schema of the result of each method that is used. Parts of an item are validated where they are used. */
const RESULT_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  eth_blockNumber: Amount,
  eth_call: Bytes,
  eth_chainId: Amount,
  eth_getBalance: Amount,
  eth_getBlockByHash: Item,
  eth_getBlockByNumber: Item,
  eth_getBlockReceipts: z.array(z.looseObject({})).nullable(),
  eth_getCode: Bytes,
  eth_getLogs: z.array(z.looseObject({})),
  eth_getTransactionByHash: Item,
  eth_getTransactionReceipt: Item,
}

/**
 * Checks that a result has the shape that its method returns, before it is parsed.
 *
 * @throws EndpointError when the result is malformed: the endpoint is at fault, not the caller
 */
export function checkResultShape(method: string, answer: unknown): void {
  const fits = RESULT_SCHEMAS[method]?.safeParse(answer).success ?? answer !== undefined
  if (!fits) throw new EndpointError('malformed response')
}
