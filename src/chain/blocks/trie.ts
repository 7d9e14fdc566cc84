import { type Hex, toRlp } from 'viem'
import { keccakOfHex } from './keccak.ts'

/**
 * Root of the Merkle-Patricia trie of values by index, as in a block header.
 *
 * @see Ethereum yellow paper, appendix D
 */
export function trieRootOf(values: readonly Hex[]): Hex {
  const leaves = values.map(
    (value, index): Leaf => ({ path: nibblesOf(toRlp(rlpNumber(BigInt(index)))), value }),
  )
  if (leaves.length === 0) return keccakOfHex(toRlp('0x'))
  return keccakOfHex(toRlp(nodeOf(leaves, 0) as Parameters<typeof toRlp>[0]))
}

/** A number in RLP: without leading zeros, empty for 0. */
export function rlpNumber(value: bigint): Hex {
  if (value === 0n) return '0x'
  const digits = value.toString(16)
  return `0x${digits.length % 2 === 0 ? digits : `0${digits}`}`
}

interface Leaf {
  readonly path: readonly number[]
  readonly value: Hex
}

/** Input of viem's `toRlp`. */
type Item = Hex | readonly Item[]

/** Builds the node above leaves that share their path up to `depth`. */
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
  // No index is a prefix of another index, so no branch has a value.
  return [...branches, '0x']
}

/** Reference to a node: its hash, or the node itself if it is shorter than a hash. */
function refTo(node: Item): Item {
  const encoded = toRlp(node as Parameters<typeof toRlp>[0])
  return encoded.length < 2 + 2 * 32 ? node : keccakOfHex(encoded)
}

function pathOf(nibbles: readonly number[], isLeaf: boolean): Hex {
  const isOdd = nibbles.length % 2 === 1
  const flag = (isLeaf ? 2 : 0) + (isOdd ? 1 : 0)
  const prefixed = isOdd ? [flag, ...nibbles] : [flag, 0, ...nibbles]
  return `0x${prefixed.map((nibble) => nibble.toString(16)).join('')}`
}

function nibblesOf(key: Hex): readonly number[] {
  return [...key.slice(2)].map((digit) => Number.parseInt(digit, 16))
}
