import { HOUR_MS } from '#src/kernel/durations.ts'

/** Sum of some consecutive entries of one wallet. */
export interface EntrySum {
  /** Positions of the first and the last entry. */
  readonly first: number
  readonly last: number
  readonly entries: number
  readonly totalCredits: number
  /** Balance before the first entry and after the last, as recorded in the entries. */
  readonly startCredits: number
  readonly endCredits: number
  /** Number of entries whose position or balance does not follow from the previous entry. */
  readonly broken: number
}

/** Sum of a wallet's entries from the first one on, as far as they have been read. */
export interface EntryChain {
  readonly last: number
  readonly totalCredits: number
  readonly endCredits: number
  /** Whether no entry is missing, and each follows from the previous entry. */
  readonly isWhole: boolean
}

/** The chain of a wallet without entries. */
export const EMPTY_CHAIN: EntryChain = { last: 0, totalCredits: 0, endCredits: 0, isWhole: true }

/** Extends the chain by its next entries; `isWhole` becomes false if they do not follow. */
export function extendChain(chain: EntryChain, link: EntrySum): EntryChain {
  const follows = link.first === chain.last + 1 && link.startCredits === chain.endCredits
  const hasAll = link.entries === link.last - link.first + 1
  return {
    last: link.last,
    totalCredits: chain.totalCredits + link.totalCredits,
    endCredits: link.endCredits,
    isWhole: chain.isWhole && follows && hasAll && link.broken === 0,
  }
}

/**
 * Whether the chain proves the balance: no entry is missing, each follows from the previous entry, and
 * their sum equals the balance.
 */
export function provesBalance(
  { last, totalCredits, endCredits, isWhole }: EntryChain,
  account: { readonly entryCount: number; readonly balanceCredits: number },
): boolean {
  const { entryCount, balanceCredits } = account
  return (
    isWhole &&
    last === entryCount &&
    totalCredits === balanceCredits &&
    endCredits === balanceCredits &&
    balanceCredits >= 0
  )
}

/** The hour of the UTC day at which the ledger is proved. */
const PROOF_HOUR = 2

/**
 * The UTC day (`YYYY-MM-DD`) whose proof is due at `now`: today's from two o'clock on, yesterday's before
 * that.
 */
export function proofDay(now: Date): string {
  return new Date(now.getTime() - PROOF_HOUR * HOUR_MS).toISOString().slice(0, 10)
}
