/**
 * Transactions, receipts, headers and blocks in JSON-RPC results, each in the widest form that a reader needs. A reader
 * picks the fields that it uses, because endpoints leave out others.
 */
import { z } from 'zod'
import { Address, Hash } from '#src/kernel/units.ts'

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

/** Bytes in the notation of JSON-RPC. */
export const HexData = z.templateLiteral(['0x', z.string().regex(/^([0-9a-fA-F]{2})*$/)])

/** An event in its block. */
export const Log = z.object({
  address: Address,
  topics: z.array(Hash),
  data: HexData,
  logIndex: Quantity,
  transactionIndex: Quantity,
  transactionHash: Hash,
  blockNumber: Quantity,
  blockHash: Hash,
  removed: z.boolean().optional(),
})
export type Log = z.output<typeof Log>

/** A transaction; pending while its block hash is null. Its signed form: `transactions-root.ts`. */
export const Transaction = z.object({
  hash: Hash,
  from: Address,
  to: Address.nullish().transform((to) => to ?? undefined),
  value: Quantity,
  input: HexData,
  gas: Quantity,
  gasPrice: Quantity.optional(),
  maxFeePerGas: Quantity.optional(),
  blockHash: Hash.nullish(),
  blockNumber: Quantity.nullish(),
  transactionIndex: Quantity.nullish(),
})
export type Transaction = z.output<typeof Transaction>

/** The receipt of a transaction. */
export const Receipt = z.object({
  transactionHash: Hash,
  blockHash: Hash,
  blockNumber: Quantity,
  type: Quantity.default(0n),
  /** 0 if the transaction failed. */
  status: Quantity,
  gasUsed: Quantity,
  cumulativeGasUsed: Quantity,
  effectiveGasPrice: Quantity,
  logsBloom: HexData,
  logs: z.array(Log),
})

/** The header of a block. */
export const Header = z.object({
  number: Quantity.refine((number) => number <= BigInt(Number.MAX_SAFE_INTEGER)),
  hash: Hash,
  parentHash: Hash,
  timestamp: Quantity.refine((seconds) => seconds <= SECONDS_MAX),
  logsBloom: HexData,
  transactionsRoot: Hash,
  receiptsRoot: Hash,
})

/** A block, with its transactions or their hashes. */
export const Block = Header.extend({ transactions: z.array(z.unknown()) })
