import type { Payment, TransactionFacts } from './chain.ts'

/**
 * Facts read from the XRP Ledger about one deposit address; validated ledgers only. Every method rejects
 * with AppError upstream `dependency_unavailable` when the server does not answer in time.
 */
export interface Xrpl {
  /**
   * Payments that the deposit address received in validated ledgers after `since`, oldest first, up to
   * and with ledger `upTo`; ask again from there. Without `since`: from the oldest ledger that the
   * server has. Reads a bounded number of pages, so `upTo` can be behind the newest ledger.
   */
  deposits(
    since: number | undefined,
    signal?: AbortSignal,
  ): Promise<{ readonly payments: readonly Payment[]; readonly upTo: number }>
  /**
   * What a transaction paid to the deposit address; `reverted` when it failed in a validated ledger.
   *
   * @param hash 64 hexadecimal digits in any case, without `0x`
   */
  transaction(hash: string, signal?: AbortSignal): Promise<TransactionFacts>
  /** What the deposit address holds, in drops; 0 while it is not funded. */
  balanceUnits(signal?: AbortSignal): Promise<bigint>
}
