import { createHash } from 'node:crypto'
import { toClassicAddress } from '#src/chain/xrpl/xrpl-address.ts'
import type { Clock } from '#src/kernel/clock.ts'

/** An amount that is not XRP. */
export interface IssuedAmount {
  readonly currency: string
  readonly issuer: string
  readonly value: string
}

/** A payment to the deposit address, to be created. */
export interface Deposit {
  /** The destination tag; none by default. */
  readonly tag?: number | undefined
  /** Delivered amount in drops. */
  readonly drops: bigint
  /** Stated amount of a partial payment (`tfPartialPayment`); `drops` is the delivered one. */
  readonly statedDrops?: bigint
  /** Delivered instead of XRP; `drops` then does not count. */
  readonly issued?: IssuedAmount
  /** Type of the transaction; a payment by default. */
  readonly transactionType?: 'EscrowFinish' | 'PaymentChannelClaim'
  /** Sender; made up by default. */
  readonly from?: string
  /** Result code, such as `tecPATH_PARTIAL`; `tesSUCCESS` by default. */
  readonly result?: string
}

/** A transaction, in a ledger or pending. */
export interface LedgerTransaction {
  readonly hash: string
  readonly deposit: Deposit
  readonly from: string
  readonly sequence: number
}

/** A transaction with its position in its ledger. */
export interface PlacedTransaction {
  readonly transaction: LedgerTransaction
  readonly ledger: Ledger
  readonly index: number
}

/** A closed and validated ledger. */
export interface Ledger {
  readonly index: number
  readonly hash: string
  readonly parentHash: string
  readonly closedAt: Date
}

/** The history of an XRP Ledger, for one account. */
export interface LedgerHistory {
  readonly address: string
  /** The newest validated ledger. */
  newest(): Ledger
  find(index: number): Ledger | undefined
  /** Validated transactions, oldest first. */
  readonly placed: readonly PlacedTransaction[]
  readonly waiting: readonly LedgerTransaction[]
  /** Balance of the account at the end of a ledger, in drops. */
  balanceAt(index: number): bigint
  /** Submits a pending transaction. */
  submit(deposit: Deposit): LedgerTransaction
  /** Closes a ledger with all pending transactions. */
  close(): Ledger
}

const FIRST_INDEX = 90_000_000
const SOMEBODY = toClassicAddress(sha('somebody').subarray(0, 20))

/**
 * Creates a history with one ledger.
 *
 * @param balanceDrops initial balance of the account; with 0 it does not exist until it is paid
 */
export function createHistory(address: string, balanceDrops: bigint, clock: Clock): LedgerHistory {
  const ledgers: Ledger[] = []
  const placed: PlacedTransaction[] = []
  let waiting: LedgerTransaction[] = []
  let sequence = 1
  const newest = () => {
    const ledger = ledgers.at(-1)
    if (ledger === undefined) throw new Error('no ledger yet')
    return ledger
  }
  const close = () => {
    const index = FIRST_INDEX + ledgers.length
    const parentHash = ledgers.at(-1)?.hash ?? hashOf('genesis')
    const hash = hashOf(
      `ledger ${parentHash} ${waiting.map((transaction) => transaction.hash).join()}`,
    )
    const closedAt = new Date(Math.floor(clock.now().getTime() / 1000) * 1000)
    const ledger: Ledger = { index, hash, parentHash, closedAt }
    ledgers.push(ledger)
    placed.push(...waiting.map((transaction, at) => ({ transaction, ledger, index: at })))
    waiting = []
    return ledger
  }
  close()
  return {
    address,
    newest,
    find: (index) => ledgers[index - FIRST_INDEX],
    placed,
    get waiting() {
      return waiting
    },
    balanceAt: (index) =>
      placed
        .filter(({ ledger, transaction }) => ledger.index <= index && bringsXrp(transaction))
        .reduce((sum, { transaction }) => sum + transaction.deposit.drops, balanceDrops),
    submit: (deposit) => {
      sequence += 1
      const from = deposit.from ?? SOMEBODY
      const transaction = { hash: hashOf(`tx ${sequence} ${from}`), deposit, from, sequence }
      waiting.push(transaction)
      return transaction
    },
    close,
  }
}

function bringsXrp({ deposit }: LedgerTransaction): boolean {
  return deposit.issued === undefined && (deposit.result ?? 'tesSUCCESS') === 'tesSUCCESS'
}

function sha(text: string): Buffer {
  return createHash('sha512').update(text).digest()
}

/** The first half of SHA-512, in capitals, as in all ids of the ledger. */
function hashOf(text: string): string {
  return sha(text).subarray(0, 32).toString('hex').toUpperCase()
}
