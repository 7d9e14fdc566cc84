import type { Hash } from '#src/kernel/units.ts'
import type { Header } from './blocks.ts'
import type { ReadBlock } from './read-block.ts'

/**
 * The newest blocks with their transactions. Readers of a process share them, so that each block is requested
 * once. Only proven blocks are kept: their header states exactly their transactions.
 */
export interface RecentBlocks {
  /** Adds the newest block. Forgets all blocks if it does not follow the block before it. */
  add(header: Header, read: () => ReadBlock | undefined): void
  /**
   * Returns a block, or reads it; callers of one of the newest blocks share the reading.
   *
   * @param withTransactions whether `read` returns whole transactions; a block with hashes only is not kept
   */
  get(number: number, withTransactions: boolean, read: () => Promise<ReadBlock>): Promise<ReadBlock>
  /** Forgets all blocks, because some of them were replaced. */
  clear(): void
}

/** Limits of what is kept: blocks, and transactions of all of them. */
const BLOCKS_MAX = 32
const TRANSACTIONS_MAX = 20_000

interface Entry {
  readonly block: Promise<ReadBlock>
  /** Undefined while the block is being read. */
  hash: Hash | undefined
  transactions: number
}

/**
 * Creates an empty store.
 *
 * @param onRead called with the header of each block that was read
 */
export function createRecentBlocks(onRead?: (header: Header) => void): RecentBlocks {
  const entries = new Map<number, Entry>()
  let highest = 0

  function keep(number: number, entry: Entry): void {
    entries.set(number, entry)
    highest = Math.max(highest, number)
    let transactions = 0
    for (const at of [...entries.keys()].sort((a, b) => b - a)) {
      transactions += entries.get(at)?.transactions ?? 0
      const isTooMuch = transactions > TRANSACTIONS_MAX && at < highest
      if (at <= highest - BLOCKS_MAX || isTooMuch) entries.delete(at)
    }
  }

  function share(number: number, read: () => Promise<ReadBlock>): Promise<ReadBlock> {
    const block = read()
    const entry: Entry = { block, hash: undefined, transactions: 0 }
    keep(number, entry)
    const forget = () => {
      if (entries.get(number) === entry) entries.delete(number)
    }
    block.then(({ proof, isSure, ref, parentHash, transactions }) => {
      if (proof !== 'full' || !isSure || ref.number !== number) return forget()
      entry.hash = ref.hash
      entry.transactions = transactions.length
      onRead?.({ ...ref, parentHash })
    }, forget)
    return block
  }

  return {
    add({ number, hash, parentHash }, read) {
      const parent = entries.get(number - 1)?.hash
      const known = entries.get(number)?.hash
      if (known === hash) return
      // The blocks before were replaced, or the chain was set back.
      if ((parent !== undefined && parent !== parentHash) || number < highest - BLOCKS_MAX) clear()
      const block = read()
      if (block?.proof !== 'full') return
      const { length } = block.transactions
      keep(number, { block: Promise.resolve(block), hash, transactions: length })
    },
    get(number, withTransactions, read) {
      const known = entries.get(number)
      if (known !== undefined) return known.block
      return withTransactions && number > highest - BLOCKS_MAX ? share(number, read) : read()
    },
    clear,
  }

  function clear(): void {
    entries.clear()
    highest = 0
  }
}
