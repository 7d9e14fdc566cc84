import { concat, type Hex, toRlp } from 'viem'
import { z } from 'zod'
import { HexData, Quantity } from '../endpoints/schemas.ts'
import { rlpNumber, trieRootOf } from './trie.ts'

const List = z.array(z.object({ address: HexData, storageKeys: z.array(HexData) })).default([])
const Common = z.object({
  nonce: Quantity,
  gas: Quantity,
  to: HexData.nullish(),
  value: Quantity,
  input: HexData,
  v: Quantity.optional(),
  yParity: Quantity.optional(),
  r: Quantity,
  s: Quantity,
})
const Legacy = Common.extend({ gasPrice: Quantity })
const WithAccessList = Legacy.extend({ chainId: Quantity, accessList: List })
const WithFees = Common.extend({
  chainId: Quantity,
  accessList: List,
  maxFeePerGas: Quantity,
  maxPriorityFeePerGas: Quantity,
})
const Type = z.object({ type: z.string().default('0x0') })

/**
 * Transactions root of a block: the Merkle-Patricia trie over the serialized transactions, all of them in
 * order, as in a JSON-RPC result.
 *
 * @returns undefined if a transaction has an unsupported type or lacks a field
 * @see Ethereum yellow paper, 4.3.2 and appendix D
 */
export function transactionsRootOf(transactions: readonly unknown[]): Hex | undefined {
  const values: Hex[] = []
  for (const transaction of transactions) {
    const value = serialize(transaction)
    if (value === undefined) return undefined
    values.push(value)
  }
  return trieRootOf(values)
}

/** Serialized form of a transaction in its block's trie; undefined for an unsupported type. */
function serialize(transaction: unknown): Hex | undefined {
  const type = Type.safeParse(transaction).data?.type
  switch (type) {
    case '0x0': {
      const { data } = Legacy.safeParse(transaction)
      if (data?.v === undefined) return undefined
      return toRlp([
        rlpNumber(data.nonce),
        rlpNumber(data.gasPrice),
        ...callOf(data),
        ...[data.v, data.r, data.s].map(rlpNumber),
      ])
    }
    case '0x1': {
      const { data } = WithAccessList.safeParse(transaction)
      if (data === undefined) return undefined
      const fields = [rlpNumber(data.chainId), rlpNumber(data.nonce), rlpNumber(data.gasPrice)]
      return concat([
        '0x01',
        toRlp([...fields, ...callOf(data), accessOf(data), ...signatureOf(data)]),
      ])
    }
    case '0x2': {
      const { data } = WithFees.safeParse(transaction)
      if (data === undefined) return undefined
      const { chainId, nonce, maxPriorityFeePerGas, maxFeePerGas } = data
      const fields = [chainId, nonce, maxPriorityFeePerGas, maxFeePerGas].map(rlpNumber)
      return concat([
        '0x02',
        toRlp([...fields, ...callOf(data), accessOf(data), ...signatureOf(data)]),
      ])
    }
    default:
      return undefined
  }
}

function callOf({ gas, to, value, input }: z.output<typeof Common>): Hex[] {
  return [rlpNumber(gas), to ?? '0x', rlpNumber(value), input]
}

function accessOf({ accessList }: { readonly accessList: z.output<typeof List> }) {
  return accessList.map(({ address, storageKeys }): [Hex, Hex[]] => [address, storageKeys])
}

function signatureOf({ yParity, v, r, s }: z.output<typeof Common>): Hex[] {
  return [yParity ?? v ?? 0n, r, s].map(rlpNumber)
}
