import type { Deposit, Ledger, LedgerTransaction, PlacedTransaction } from './ledger.ts'

/** JSON in the server's notation. */
export type JsonObject = Readonly<Record<string, unknown>>

const TF_PARTIAL_PAYMENT = 0x0002_0000
const TF_FULLY_CANONICAL_SIG = 0x8000_0000
/** 2000-01-01T00:00:00Z, the epoch of the ledger's seconds. */
const RIPPLE_EPOCH_SECONDS = 946_684_800

/** A ledger's close time in ledger seconds. */
export function closeTimeOf({ closedAt }: Ledger): number {
  return closedAt.getTime() / 1000 - RIPPLE_EPOCH_SECONDS
}

/** A ledger's close time as text, in whole seconds. */
export function isoTime({ closedAt }: Ledger): string {
  return closedAt.toISOString().replace('.000Z', 'Z')
}

/** A transaction in an account's list. */
export function entryOf(
  placed: PlacedTransaction,
  destination: string,
  apiVersion: number,
): JsonObject {
  const { transaction, ledger } = placed
  const { index } = ledger
  const date = closeTimeOf(ledger)
  const fields = fieldsOf(transaction, destination, apiVersion)
  const meta = metaOf(placed, destination)
  if (apiVersion === 1) {
    const tx = { ...fields, date, hash: transaction.hash, inLedger: index, ledger_index: index }
    return { meta, tx, validated: true }
  }
  return {
    meta,
    tx_json: { ...fields, date, ledger_index: index },
    hash: transaction.hash,
    ledger_index: index,
    ledger_hash: ledger.hash,
    close_time_iso: isoTime(ledger),
    validated: true,
  }
}

/** A single transaction; a pending one has no ledger and is not validated. */
export function transactionOf(
  found: PlacedTransaction | LedgerTransaction | undefined,
  destination: string,
  apiVersion: number,
): JsonObject {
  if (found === undefined) return {}
  if ('transaction' in found) {
    const entry = entryOf(found, destination, apiVersion)
    if (apiVersion > 1) return entry
    const { tx, ...rest } = entry
    return { ...(tx instanceof Object ? tx : {}), ...rest }
  }
  const fields = fieldsOf(found, destination, apiVersion)
  const hash = { hash: found.hash, validated: false }
  return apiVersion === 1 ? { ...fields, ...hash } : { tx_json: fields, ...hash }
}

/** The payment's fields. Version 2 renames its amount, so that it is not taken for the delivered one. */
function fieldsOf(
  { deposit, from, sequence }: LedgerTransaction,
  destination: string,
  apiVersion: number,
): JsonObject {
  const isPartial = deposit.statedDrops !== undefined
  if (deposit.transactionType !== undefined) {
    const head = { Account: from, Fee: '12', Flags: 0, Sequence: sequence, SigningPubKey: '' }
    return { ...head, TransactionType: deposit.transactionType }
  }
  const amount = deposit.issued ?? (deposit.statedDrops ?? deposit.drops).toString()
  const sendMax = { currency: 'USD', issuer: from, value: '1000' }
  return {
    Account: from,
    ...(apiVersion === 1 && { Amount: amount }),
    DeliverMax: amount,
    Destination: destination,
    ...(deposit.tag !== undefined && { DestinationTag: deposit.tag }),
    Fee: '12',
    Flags: (isPartial ? TF_PARTIAL_PAYMENT : 0) + TF_FULLY_CANONICAL_SIG,
    ...(isPartial && { SendMax: sendMax }),
    Sequence: sequence,
    SigningPubKey: '',
    TransactionType: 'Payment',
  }
}

/**
 * Changes by an escrow or a channel: the account's balance rises, and the entry that held the amount is
 * deleted.
 */
function affectedNodes(
  { transactionType, drops, tag }: Deposit,
  destination: string,
): JsonObject[] {
  if (transactionType === undefined) return []
  const before = 10_000_000n
  const fields = { Account: destination, Balance: (before + drops).toString() }
  return [
    {
      ModifiedNode: {
        LedgerEntryType: 'AccountRoot',
        FinalFields: fields,
        PreviousFields: { Balance: before.toString() },
      },
    },
    {
      DeletedNode: {
        LedgerEntryType: transactionType === 'EscrowFinish' ? 'Escrow' : 'PayChannel',
        FinalFields: {
          Destination: destination,
          Amount: drops.toString(),
          ...(tag !== undefined && { DestinationTag: tag }),
        },
      },
    },
  ]
}

function metaOf(
  { transaction: { deposit }, index }: PlacedTransaction,
  destination: string,
): JsonObject {
  const result = deposit.result ?? 'tesSUCCESS'
  const delivered = deposit.issued ?? deposit.drops.toString()
  const isPartial = deposit.statedDrops !== undefined
  return {
    AffectedNodes: affectedNodes(deposit, destination),
    ...(result === 'tesSUCCESS' && isPartial && { DeliveredAmount: delivered }),
    TransactionIndex: index,
    TransactionResult: result,
    ...(result === 'tesSUCCESS' &&
      deposit.transactionType === undefined && { delivered_amount: delivered }),
  }
}
