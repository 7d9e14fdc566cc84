import { z } from 'zod'
import { type Clock, systemClock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { BLOCK_AHEAD_MS_MAX } from '../blocks/block-header.ts'
import type { BlockRef, Payment, PaymentTransactionStatus } from '../chain.ts'
import { readLedgerRange, readTransactions, requireLastTransaction } from './xrpl-ledgers.ts'
import { createXrplRpc, type XrplRpc } from './xrpl-rpc.ts'
import {
  depositWithoutPayment,
  isPaymentTo,
  toBlockOfLedger,
  toXrplPayment,
  transactionFailureOf,
  type ValidatedTransaction,
  XrplLedgerHeader,
  XrplTransaction,
} from './xrpl-transactions.ts'

/**
 * Facts from the XRP Ledger about one deposit address, from validated ledgers only. Every method rejects
 * with AppError upstream `dependency_unavailable` when the server does not answer in time.
 */
export interface Xrpl {
  /**
   * Payments received in validated ledgers after `since`, oldest first, up to and including ledger `upTo`,
   * from which the next call continues. Without `since`: from the oldest ledger of the server. Reads a
   * bounded number of pages, so `upTo` can be behind the newest ledger.
   *
   * Also rejects when the server lacks ledgers after `since`, so that none is skipped.
   */
  deposits(since: number | undefined, signal?: AbortSignal): Promise<DepositScan>
  /**
   * Payments of a transaction to the deposit address; `reverted` when it failed in a validated ledger.
   *
   * @param hash 64 hexadecimal digits in any case, without `0x`; anything else is `unknown`
   */
  transaction(hash: string, signal?: AbortSignal): Promise<PaymentTransactionStatus>
  /** Balance of the deposit address, in drops; 0 while the account is not funded. */
  balanceUnits(signal?: AbortSignal): Promise<bigint>
}

/** Payments, and the ledger up to which they are complete. */
export interface DepositScan {
  readonly payments: readonly Payment[]
  readonly upTo: number
}

/** Settings of the client of the XRP Ledger. */
export interface XrplOptions {
  /** JSON-RPC of a server, http or https. Credentials are never logged. */
  readonly url: string
  /** The deposit address, a classic one (`r…`). */
  readonly address: string
  readonly log: Logger
  /** Decides which ledgers are ahead; the machine's clock by default. */
  readonly clock?: Clock
  /** Timeout of one call; 5000 by default. */
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 5000
const AccountInfo = z.object({
  account_data: z.object({ Balance: z.string().regex(/^\d{1,19}$/) }),
  validated: z.literal(true),
})

/**
 * Creates a client of the XRP Ledger over JSON-RPC. It connects with the first call. Long because its methods share
 * the reading of ledgers and payments.
 */
export function createXrpl({
  url,
  address,
  log,
  clock = systemClock,
  timeoutMs = TIMEOUT_MS,
}: XrplOptions): Xrpl {
  const rpc = createXrplRpc({ url, log, timeoutMs })

  /** The ledger of a transaction. @throws AppError upstream, also when its time is ahead of the clock */
  async function ledgerOf(
    transaction: ValidatedTransaction,
    signal: AbortSignal | undefined,
  ): Promise<BlockRef> {
    const ledger = transaction.block ?? (await readLedger(rpc, transaction, signal))
    const aheadMs = ledger.at.getTime() - clock.now().getTime()
    if (aheadMs <= BLOCK_AHEAD_MS_MAX) return ledger
    throw rpc.reportUnusable(`ledger ${ledger.number} is ahead of the clock of this host`)
  }

  /** Finds the payments of a transaction. A payment with an unknown amount is logged and left out. */
  async function paymentsOf(
    transaction: ValidatedTransaction,
    signal: AbortSignal | undefined,
  ): Promise<readonly Payment[]> {
    if (!isPaymentTo(transaction, address)) {
      const toPayment = transactionFailureOf(transaction)
        ? undefined
        : depositWithoutPayment(transaction, address)
      return toPayment === undefined ? [] : [toPayment(await ledgerOf(transaction, signal))]
    }
    const payment = toXrplPayment(transaction, await ledgerOf(transaction, signal))
    if (typeof payment !== 'string') return [payment]
    const { txHash, ledgerIndex } = transaction
    log.warn({ txHash, ledgerIndex, reason: payment }, 'xrp ledger payment ignored')
    return []
  }

  return {
    async deposits(since, signal) {
      const ledgers = await readLedgerRange(rpc, signal)
      if (since !== undefined && since >= ledgers.newest) return { payments: [], upTo: since }
      const from = since === undefined ? ledgers.oldest : since + 1
      if (from < ledgers.oldest) {
        log.error({ since, oldest: ledgers.oldest }, 'xrp ledger server lacks ledgers')
        throw rpc.reportUnusable(`the server lacks ledgers after ${since}`)
      }
      const range = { from, to: ledgers.newest }
      const { transactions, upTo } = await readTransactions(rpc, address, range, signal)
      await requireLastTransaction(rpc, address, { from, upTo, transactions }, signal)
      const payments: Payment[] = []
      for (const transaction of transactions)
        payments.push(...(await paymentsOf(transaction, signal)))
      return { payments, upTo }
    },

    async transaction(hash, signal) {
      if (!/^[0-9A-Fa-f]{64}$/.test(hash)) return { status: 'unknown' }
      const parameters = { transaction: hash.toUpperCase(), binary: false }
      const call = { method: 'tx', parameters, schema: XrplTransaction }
      const transaction = await rpc.find(call, 'txnNotFound', signal)
      if (transaction === undefined) return { status: 'unknown' }
      if (transaction === 'waiting') return { status: 'pending' }
      const block = await ledgerOf(transaction, signal)
      const reason = transactionFailureOf(transaction)
      if (reason !== undefined) return { status: 'reverted', block, reason, handle: null }
      return { status: 'mined', block, payments: await paymentsOf(transaction, signal) }
    },

    async balanceUnits(signal) {
      const parameters = { account: address, ledger_index: 'validated' }
      const call = { method: 'account_info', parameters, schema: AccountInfo }
      const accountInfo = await rpc.find(call, 'actNotFound', signal)
      return BigInt(accountInfo?.account_data.Balance ?? 0)
    },
  }
}

/** Reads the ledger of a transaction whose response lacks it. */
async function readLedger(
  rpc: XrplRpc,
  { ledgerIndex }: ValidatedTransaction,
  signal: AbortSignal | undefined,
): Promise<BlockRef> {
  const parameters = { ledger_index: ledgerIndex }
  const head = await rpc.ask({ method: 'ledger', parameters, schema: XrplLedgerHeader }, signal)
  return toBlockOfLedger(ledgerIndex, head)
}
