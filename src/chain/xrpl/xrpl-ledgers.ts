import { z } from 'zod'
import type { XrplRpc } from './xrpl-rpc.ts'
import { type ValidatedTransaction, XrplTransaction } from './xrpl-transactions.ts'

/** The contiguous validated ledgers of a server, up to the newest. */
export interface LedgerRange {
  readonly oldest: number
  readonly newest: number
}

const PAGE_SIZE = 200
/** Maximum number of pages of one reading; the next reading continues. */
const PAGES_MAX = 20

const ServerInfo = z.object({
  info: z.object({
    complete_ledgers: z.string(),
    validated_ledger: z.object({ seq: z.int() }).optional(),
  }),
})
const LedgersPage = z.object({
  ledger_index_min: z.int(),
  ledger_index_max: z.int(),
  transactions: z.array(XrplTransaction),
  marker: z.unknown().optional(),
})
type LedgersPage = z.output<typeof LedgersPage>
const AccountState = z.object({
  account_data: z.object({
    PreviousTxnID: z.string().optional(),
    PreviousTxnLgrSeq: z.int().optional(),
  }),
  validated: z.literal(true),
})

/**
 * Reads the range of a server's validated ledgers.
 *
 * @throws AppError upstream `dependency_unavailable`, also while the server is not synchronized
 */
export async function readLedgerRange(
  rpc: XrplRpc,
  signal: AbortSignal | undefined,
): Promise<LedgerRange> {
  const call = { method: 'server_info', parameters: {}, schema: ServerInfo }
  const { info } = await rpc.ask(call, signal)
  const [, oldest, end = oldest] = /(\d+)(?:-(\d+))?$/.exec(info.complete_ledgers) ?? []
  if (oldest === undefined || info.validated_ledger === undefined) {
    throw rpc.reportUnusable('the server is not synced to the network')
  }
  return { oldest: Number(oldest), newest: Math.min(Number(end), info.validated_ledger.seq) }
}

/**
 * Reads every validated transaction of an account in a range of ledgers, in order, and returns the ledger
 * up to which the list is complete.
 *
 * @throws AppError upstream `dependency_unavailable`, also when the server did not search the whole range
 */
export async function readTransactions(
  rpc: XrplRpc,
  account: string,
  { from, to }: { readonly from: number; readonly to: number },
  signal: AbortSignal | undefined,
): Promise<{ readonly transactions: readonly ValidatedTransaction[]; readonly upTo: number }> {
  const range = { account, ledger_index_min: from, ledger_index_max: to }
  const found: ValidatedTransaction[] = []
  let upTo = to
  let marker: unknown
  for (let page = 1; ; page += 1) {
    const parameters = { ...range, forward: true, binary: false, limit: PAGE_SIZE, marker }
    const call = { method: 'account_tx', parameters, schema: LedgersPage }
    const answer = await rpc.find(call, 'actNotFound', signal)
    if (answer === undefined) return { transactions: [], upTo }
    if (answer.ledger_index_min > from) throw rpc.reportUnusable(`the server lacks ledger ${from}`)
    upTo = Math.min(upTo, answer.ledger_index_max)
    found.push(...validatedOf(rpc, answer))
    marker = answer.marker
    if (marker == null) return { transactions: inOrder(found), upTo }
    const last = Math.max(from, ...found.map(({ ledgerIndex }) => ledgerIndex))
    // The rest of the last ledger may be on the next page.
    if (page >= PAGES_MAX && last > from) {
      const whole = found.filter(({ ledgerIndex }) => ledgerIndex < last)
      return { transactions: inOrder(whole), upTo: last - 1 }
    }
  }
}

/**
 * Checks a list of transactions against the state of the account at the last ledger, which names the account's last
 * transaction: a list without it is incomplete, and a ledger that the server does not have cannot be asked.
 *
 * @throws AppError upstream `dependency_unavailable`, also when the last transaction is missing
 */
export async function requireLastTransaction(
  rpc: XrplRpc,
  account: string,
  list: {
    readonly from: number
    readonly upTo: number
    readonly transactions: readonly ValidatedTransaction[]
  },
  signal: AbortSignal | undefined,
): Promise<void> {
  const parameters = { account, ledger_index: list.upTo }
  const call = { method: 'account_info', parameters, schema: AccountState }
  const state = await rpc.find(call, 'actNotFound', signal)
  const { PreviousTxnID: last, PreviousTxnLgrSeq: index = 0 } = state?.account_data ?? {}
  if (last === undefined || index < list.from) return
  if (list.transactions.some(({ txHash }) => txHash === last.toUpperCase())) return
  throw rpc.reportUnusable(`the server left out a transaction of ledger ${index}`)
}

function validatedOf(rpc: XrplRpc, { transactions }: LedgersPage): readonly ValidatedTransaction[] {
  return transactions.map((transaction) => {
    if (transaction === 'waiting')
      throw rpc.reportUnusable('the server returned a transaction that is not validated')
    return transaction
  })
}

/** Sorts transactions: pages are in order, but the transactions of a page are not always. */
function inOrder(transactions: readonly ValidatedTransaction[]): readonly ValidatedTransaction[] {
  return transactions.toSorted(
    (transaction, other) =>
      transaction.ledgerIndex - other.ledgerIndex ||
      transaction.meta.TransactionIndex - other.meta.TransactionIndex,
  )
}
