import { z } from 'zod'
import { EndpointError } from './failures.ts'

const Bytes = z
  .string()
  .regex(/^0x[0-9a-fA-F]*$/)
  .refine(({ length }) => length % 2 === 0)
const Amount = z.string().regex(/^0x[0-9a-fA-F]{1,64}$/)
const Item = z.looseObject({}).nullable()

/** What each method that is asked answers; the parts of an item are checked where they are used. */
const ANSWERS: Readonly<Record<string, z.ZodType>> = {
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
 * Makes sure that an answer has the shape its method promises, before anything is read from it.
 *
 * @throws EndpointError when it has not: the endpoint is at fault, not who asked
 */
export function checkAnswer(method: string, answer: unknown): void {
  const fits = ANSWERS[method]?.safeParse(answer).success ?? answer !== undefined
  if (!fits) throw new EndpointError('answer of another shape')
}
