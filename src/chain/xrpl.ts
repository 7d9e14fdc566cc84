import { z } from 'zod'
import type { Logger } from '#src/kernel/logger.ts'
import type { BlockRef, Payment, TransactionFacts } from './chain.ts'
import { readLedgerRange, readTransactions } from './xrpl-ledgers.ts'
import { createXrplRpc, type XrplRpc } from './xrpl-rpc.ts'
import {
  Entry,
  failureOf,
  isPaymentTo,
  LedgerHead,
  otherReceipt,
  toBlock,
  toPayment,
  type Validated,
} from './xrpl-transactions.ts'

/**
 * Facts read from the XRP Ledger about one deposit address; validated ledgers only. Every method rejects
 * with AppError upstream `dependency_unavailable` when the server does not answer in time.
 */
export interface Xrpl {
  /**
   * Payments that the deposit address received in validated ledgers after `since`, oldest first, up to
   * and with ledger `upTo`; ask again from there. Without `since`: from the oldest ledger that the
   * server has. Reads a bounded number of pages, so `upTo` can be behind the newest ledger.
   *
   * Rejects too when the server lacks ledgers after `since`: nothing is passed over.
   */
  deposits(since: number | undefined, signal?: AbortSignal): Promise<Deposits>
  /**
   * What a transaction paid to the deposit address; `reverted` when it failed in a validated ledger.
   *
   * @param hash 64 hexadecimal digits in any case, without `0x`; anything else is `unknown`
   */
  transaction(hash: string, signal?: AbortSignal): Promise<TransactionFacts>
  /** What the deposit address holds, in drops; 0 while it is not funded. */
  balanceUnits(signal?: AbortSignal): Promise<bigint>
}

/** Payments found, and how far. */
export interface Deposits {
  readonly payments: readonly Payment[]
  readonly upTo: number
}

/** How the XRP Ledger is reached. */
export interface XrplOptions {
  /** JSON-RPC of a server, http or https. Credentials never reach the log. */
  readonly url: string
  /** The deposit address, a classic one (`r…`). */
  readonly address: string
  readonly log: Logger
  /** How long one call may take; 5000 without it. */
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 5000
const AccountInfo = z.object({
  account_data: z.object({ Balance: z.string().regex(/^\d{1,19}$/) }),
  validated: z.literal(true),
})

/** Facts from the XRP Ledger through JSON-RPC. Connects to nothing before the first question. */
export function createXrpl({ url, address, log, timeoutMs = TIMEOUT_MS }: XrplOptions): Xrpl {
  const rpc = createXrplRpc({ url, log, timeoutMs })

  /** What reached us, or nothing; a payment whose amount is not known is named in the log. */
  async function paymentsOf(
    transaction: Validated,
    signal: AbortSignal | undefined,
  ): Promise<readonly Payment[]> {
    if (!isPaymentTo(transaction, address)) {
      const receipt = failureOf(transaction) ? undefined : otherReceipt(transaction, address)
      return receipt === undefined ? [] : [receipt(await ledgerOf(rpc, transaction, signal))]
    }
    const payment = toPayment(transaction, await ledgerOf(rpc, transaction, signal))
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
        throw rpc.unusable(`lacks ledgers after ${since}`)
      }
      const range = { from, to: ledgers.newest }
      const { transactions, upTo } = await readTransactions(rpc, address, range, signal)
      const payments: Payment[] = []
      for (const one of transactions) payments.push(...(await paymentsOf(one, signal)))
      return { payments, upTo }
    },

    async transaction(hash, signal) {
      if (!/^[0-9A-Fa-f]{64}$/.test(hash)) return { status: 'unknown' }
      const parameters = { transaction: hash.toUpperCase(), binary: false }
      const call = { method: 'tx', parameters, schema: Entry }
      const transaction = await rpc.find(call, 'txnNotFound', signal)
      if (transaction === undefined) return { status: 'unknown' }
      if (transaction === 'waiting') return { status: 'pending' }
      const block = await ledgerOf(rpc, transaction, signal)
      const reason = failureOf(transaction)
      if (reason !== undefined) return { status: 'reverted', block, reason, handle: null }
      return { status: 'mined', block, payments: await paymentsOf(transaction, signal) }
    },

    async balanceUnits(signal) {
      const parameters = { account: address, ledger_index: 'validated' }
      const call = { method: 'account_info', parameters, schema: AccountInfo }
      const found = await rpc.find(call, 'actNotFound', signal)
      return BigInt(found?.account_data.Balance ?? 0)
    },
  }
}

/** The ledger of a transaction; asked for where the transaction does not say enough of it. */
async function ledgerOf(
  rpc: XrplRpc,
  { block, ledgerIndex }: Validated,
  signal: AbortSignal | undefined,
): Promise<BlockRef> {
  if (block !== undefined) return block
  const parameters = { ledger_index: ledgerIndex }
  const head = await rpc.ask({ method: 'ledger', parameters, schema: LedgerHead }, signal)
  return toBlock(ledgerIndex, head)
}
