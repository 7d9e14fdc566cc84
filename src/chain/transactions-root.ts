import { concat, type Hex, keccak256, toRlp } from 'viem'
import { z } from 'zod'
import { Quantity } from './quantity.ts'

const Data = z.templateLiteral(['0x', z.string().regex(/^([0-9a-fA-F]{2})*$/)])
const List = z.array(z.object({ address: Data, storageKeys: z.array(Data) })).default([])
const Common = z.object({
  nonce: Quantity,
  gas: Quantity,
  to: Data.nullish(),
  value: Quantity,
  input: Data,
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
 * The root that the head of a block with these transactions has, as JSON-RPC answers them, all of them and
 * in their order: the Merkle-Patricia trie of their serialized forms.
 *
 * @returns undefined where one of them is of a type that cannot be written here, or lacks a field
 * @see Ethereum yellow paper, 4.3.2 and appendix D
 */
export function transactionsRootOf(transactions: readonly unknown[]): Hex | undefined {
  const leaves: Leaf[] = []
  for (const [index, transaction] of transactions.entries()) {
    const value = serialize(transaction)
    if (value === undefined) return undefined
    leaves.push({ path: nibblesOf(toRlp(number(BigInt(index)))), value })
  }
  if (leaves.length === 0) return keccak256(toRlp('0x'))
  return keccak256(toRlp(nodeOf(leaves, 0) as Parameters<typeof toRlp>[0]))
}

/** The form of a transaction that its block counts; undefined for a type that is not known here. */
function serialize(transaction: unknown): Hex | undefined {
  const type = Type.safeParse(transaction).data?.type
  switch (type) {
    case '0x0': {
      const { data } = Legacy.safeParse(transaction)
      if (data?.v === undefined) return undefined
      return toRlp([
        number(data.nonce),
        number(data.gasPrice),
        ...callOf(data),
        ...[data.v, data.r, data.s].map(number),
      ])
    }
    case '0x1': {
      const { data } = WithAccessList.safeParse(transaction)
      if (data === undefined) return undefined
      const fields = [number(data.chainId), number(data.nonce), number(data.gasPrice)]
      return concat([
        '0x01',
        toRlp([...fields, ...callOf(data), accessOf(data), ...signatureOf(data)]),
      ])
    }
    case '0x2': {
      const { data } = WithFees.safeParse(transaction)
      if (data === undefined) return undefined
      const { chainId, nonce, maxPriorityFeePerGas, maxFeePerGas } = data
      const fields = [chainId, nonce, maxPriorityFeePerGas, maxFeePerGas].map(number)
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
  return [number(gas), to ?? '0x', number(value), input]
}

function accessOf({ accessList }: { readonly accessList: z.output<typeof List> }) {
  return accessList.map(({ address, storageKeys }): [Hex, Hex[]] => [address, storageKeys])
}

function signatureOf({ yParity, v, r, s }: z.output<typeof Common>): Hex[] {
  return [yParity ?? v ?? 0n, r, s].map(number)
}

/** As RLP has numbers: without leading zeros, nothing for 0. */
function number(value: bigint): Hex {
  if (value === 0n) return '0x'
  const digits = value.toString(16)
  return `0x${digits.length % 2 === 0 ? digits : `0${digits}`}`
}

interface Leaf {
  readonly path: readonly number[]
  readonly value: Hex
}

/** As viem's `toRlp` takes it. */
type Item = Hex | readonly Item[]

/** The node over leaves that have the same path up to `depth`. */
function nodeOf(leaves: readonly Leaf[], depth: number): Item {
  const [first, ...others] = leaves
  if (first === undefined) return '0x'
  if (others.length === 0) return [pathOf(first.path.slice(depth), true), first.value]
  let shared = depth
  while (others.every(({ path }) => path[shared] === first.path[shared])) shared += 1
  if (shared > depth) {
    return [pathOf(first.path.slice(depth, shared), false), refTo(nodeOf(leaves, shared))]
  }
  const byNibble = Map.groupBy(leaves, ({ path }) => path[depth])
  const branches = Array.from({ length: 16 }, (_, nibble): Item => {
    const below = byNibble.get(nibble)
    return below === undefined ? '0x' : refTo(nodeOf(below, depth + 1))
  })
  // No index is the beginning of another one, so that no branch has a value.
  return [...branches, '0x']
}

/** How a node names another: by its hash, or by itself where it is shorter. */
function refTo(node: Item): Item {
  const encoded = toRlp(node as Parameters<typeof toRlp>[0])
  return encoded.length < 2 + 2 * 32 ? node : keccak256(encoded)
}

function pathOf(nibbles: readonly number[], isLeaf: boolean): Hex {
  const isOdd = nibbles.length % 2 === 1
  const flag = (isLeaf ? 2 : 0) + (isOdd ? 1 : 0)
  const all = isOdd ? [flag, ...nibbles] : [flag, 0, ...nibbles]
  return `0x${all.map((nibble) => nibble.toString(16)).join('')}`
}

function nibblesOf(key: Hex): readonly number[] {
  return [...key.slice(2)].map((digit) => Number.parseInt(digit, 16))
}
