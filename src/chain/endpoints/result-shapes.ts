import { z } from 'zod'
import type { Clock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { checkHeader, unknownFieldsOf } from '../blocks/block-header.ts'
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

/** Methods whose result is a block. */
const BLOCK_METHODS = ['eth_getBlockByHash', 'eth_getBlockByNumber']

/** A request, as far as its result is checked against it. */
interface Request {
  readonly method: string
  readonly params?: unknown
}

/**
 * Creates the check of every result, before it is parsed: it must have the shape that its method returns, and a block
 * must be the one that was asked for and believable.
 *
 * @returns function that throws EndpointError for other results: the endpoint is at fault, not the caller
 */
export function createResultCheck({
  clock,
  log,
}: {
  readonly clock: Clock
  readonly log: Logger
}): (request: Request, answer: unknown) => void {
  /** Combinations of fields of blocks whose hash could be computed. */
  const provable = new Set<string>()
  let isReported = false

  function checkBlock(params: unknown, block: Readonly<Record<string, unknown>>): void {
    const asked = Array.isArray(params) ? params[0] : undefined
    const name = Number(block['number'])
    const isNamed = typeof asked === 'string' && asked.startsWith('0x')
    if (isNamed && asked !== block['hash'] && Number(asked) !== name) {
      throw new EndpointError(`block ${name} instead of ${asked}`)
    }
    const fields = Object.keys(block).toSorted().join()
    if (typeof block['hash'] !== 'string' || Number.isNaN(name)) {
      throw new EndpointError('malformed response')
    }
    const proof = checkHeader(block, clock.now(), provable.has(fields))
    if (proof === 'hash') provable.add(fields)
    else if (!isReported) {
      isReported = true
      log.warn(
        { block: name, fields: unknownFieldsOf(block) },
        'blocks have fields that this version does not know, so their hash is not checked',
      )
    }
  }

  return ({ method, params }, answer) => {
    const fits = RESULT_SCHEMAS[method]?.safeParse(answer).success ?? answer !== undefined
    if (!fits) throw new EndpointError('malformed response')
    if (BLOCK_METHODS.includes(method) && typeof answer === 'object' && answer !== null) {
      checkBlock(params, { ...answer })
    }
  }
}
