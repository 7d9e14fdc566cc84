import { z } from 'zod'
import { Hash } from '#src/kernel/units.ts'
import type { BlockRef, Payment } from './chain.ts'

const Digits = z.string().regex(/^[0-9A-Fa-f]{64}$/)

/** Fields of a transaction that matter to whom it pays. */
const Fields = z.looseObject({
  TransactionType: z.string(),
  Account: z.string(),
  Destination: z.string().optional(),
  DestinationTag: z.int().min(0).max(0xffff_ffff).optional(),
  hash: Digits.optional(),
  ledger_index: z.int().optional(),
})

const Meta = z.object({
  TransactionResult: z.string(),
  TransactionIndex: z.int(),
  delivered_amount: z.unknown().optional(),
})

/** As `tx` and `account_tx` answer it; servers of the first version of the interface put it elsewhere. */
const RawEntry = z.looseObject({
  tx_json: Fields.optional(),
  tx: Fields.optional(),
  meta: Meta.optional(),
  hash: Digits.optional(),
  ledger_index: z.int().optional(),
  ledger_hash: Digits.optional(),
  close_time_iso: z.iso.datetime().optional(),
  validated: z.boolean().optional(),
})

/** A ledger's head. */
export const LedgerHead = z.object({
  ledger: z.object({ close_time: z.int(), ledger_hash: Digits }),
  validated: z.literal(true),
})
export type LedgerHead = z.output<typeof LedgerHead>

/** A transaction in a validated ledger. */
export interface Validated {
  readonly fields: z.output<typeof Fields>
  readonly meta: z.output<typeof Meta>
  readonly txHash: string
  readonly ledgerIndex: number
  /** What the answer says of the ledger; undefined where it does not say enough. */
  readonly block: BlockRef | undefined
}

/** Why a payment to us counts as none. */
export type Ignored = 'not XRP' | 'amount not known'

const SUCCESS = 'tesSUCCESS'
/** An account that is deleted leaves what it has to another, with a tag like any payment. */
const PAYING_TYPES = ['Payment', 'AccountDelete']
/** 2000-01-01T00:00:00Z, from which the ledger counts seconds. */
const LEDGER_EPOCH_SECONDS = 946_684_800

/** A transaction: `waiting` while no validated ledger has it. */
export const Entry = RawEntry.transform((raw, context): Validated | 'waiting' => {
  if (raw.validated !== true) return 'waiting'
  const fields = raw.tx_json ?? raw.tx ?? Fields.safeParse(raw).data
  const txHash = raw.hash ?? fields?.hash
  const ledgerIndex = raw.ledger_index ?? fields?.ledger_index
  if (fields && raw.meta && txHash && ledgerIndex) {
    const { meta, ledger_hash: hash, close_time_iso: time } = raw
    const block = hash && time ? blockOf(ledgerIndex, hash, new Date(time)) : undefined
    return { fields, meta, txHash: txHash.toUpperCase(), ledgerIndex, block }
  }
  context.issues.push({ code: 'custom', input: raw, message: 'not a whole transaction' })
  return z.NEVER
})

/** A ledger as a block. */
export function toBlock(index: number, { ledger }: LedgerHead): BlockRef {
  const at = new Date((ledger.close_time + LEDGER_EPOCH_SECONDS) * 1000)
  return blockOf(index, ledger.ledger_hash, at)
}

/** What came of a transaction: undefined when it did what it was to do, or why not. */
export function failureOf({ meta }: Validated): string | undefined {
  return meta.TransactionResult === SUCCESS ? undefined : meta.TransactionResult
}

/** Whether a transaction brought something to an address. */
export function isPaymentTo(transaction: Validated, address: string): boolean {
  const { fields } = transaction
  const isTo = fields.Destination === address && fields.Account !== address
  return isTo && PAYING_TYPES.includes(fields.TransactionType) && !failureOf(transaction)
}

/**
 * What a payment to us is.
 *
 * Its amount is what was delivered: what it names can be more, when it is a partial payment.
 *
 * @param block its ledger
 */
export function toPayment({ fields, meta, txHash }: Validated, block: BlockRef): Payment | Ignored {
  const delivered = meta.delivered_amount
  if (delivered instanceof Object) return 'not XRP'
  if (typeof delivered !== 'string' || !/^[1-9]\d{0,18}$/.test(delivered)) return 'amount not known'
  return {
    way: 'xrpl',
    txHash,
    logIndex: 0,
    handle: null,
    tag: fields.DestinationTag ?? null,
    payer: fields.Account,
    asset: 'XRP',
    amountUnits: BigInt(delivered),
    block,
  }
}

function blockOf(index: number, hash: string, at: Date): BlockRef {
  return { number: index, hash: z.decode(Hash, `0x${hash}`), at }
}
