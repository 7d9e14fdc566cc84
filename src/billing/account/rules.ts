import { HOUR_MS } from '#src/kernel/durations.ts'

/** Some consecutive entries of one wallet, added up. */
export interface Link {
  /** Positions of the first and the last. */
  readonly first: number
  readonly last: number
  readonly entries: number
  readonly totalCredits: number
  /** Balance before the first and after the last, as they say. */
  readonly startCredits: number
  readonly endCredits: number
  /** Entries that do not follow from the one before. */
  readonly broken: number
}

/** What is known of a wallet's chain of entries so far. */
export interface Chain {
  readonly last: number
  readonly totalCredits: number
  readonly endCredits: number
  readonly isWhole: boolean
}

/** The chain of a wallet without entries. */
export const EMPTY_CHAIN: Chain = { last: 0, totalCredits: 0, endCredits: 0, isWhole: true }

/** The chain with its next entries; not whole when they do not follow. */
export function extendChain(chain: Chain, link: Link): Chain {
  const follows = link.first === chain.last + 1 && link.startCredits === chain.endCredits
  const hasAll = link.entries === link.last - link.first + 1
  return {
    last: link.last,
    totalCredits: chain.totalCredits + link.totalCredits,
    endCredits: link.endCredits,
    isWhole: chain.isWhole && follows && hasAll && link.broken === 0,
  }
}

/** Whether the chain accounts for the balance: every entry there, each following, and their sum it. */
export function proves(
  { last, totalCredits, endCredits, isWhole }: Chain,
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

/** The UTC day (`YYYY-MM-DD`) whose proof is due at `now`: today's from two o'clock on. */
export function proofDay(now: Date): string {
  return new Date(now.getTime() - PROOF_HOUR * HOUR_MS).toISOString().slice(0, 10)
}
