import { z } from 'zod'
import { cleanOutsideText } from '#src/kernel/outside-text.ts'
import { Hash } from '#src/kernel/units.ts'
import { type BlockRef, OTHER_LOG_INDEX, type Payment } from '../chain.ts'

const Digits = z.string().regex(/^[0-9A-Fa-f]{64}$/)

/** Decimals of stored amounts of other currencies. */
const OTHER_DECIMALS = 15

/** An amount of another currency or token: stored with its name, to 15 decimals, rounded down. */
const OtherAmount = z
  .union([
    z.object({ currency: z.string(), issuer: z.string(), value: z.string() }),
    z.object({ mpt_issuance_id: z.string(), value: z.string() }),
  ])
  .transform((amount) => {
    const asset =
      'currency' in amount ? `${amount.currency}.${amount.issuer}` : amount.mpt_issuance_id
    return { asset: cleanOutsideText(asset, 100), amountUnits: scaled(amount.value) }
  })

/**
 * Converts a decimal number, also with an exponent, to units of 10⁻¹⁵; 0 if the text is malformed or the
 * number too large.
 */
function scaled(text: string): bigint {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^(\d{1,40})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text) ?? []
  const places = OTHER_DECIMALS + Number(exponent) - fraction.length
  if (places > 40) return 0n
  const digits = BigInt(`0${whole}${fraction}`)
  return places >= 0 ? digits * 10n ** BigInt(places) : digits / 10n ** BigInt(-places)
}

/** The used fields of a transaction. */
const Fields = z.looseObject({
  TransactionType: z.string(),
  Account: z.string(),
  Destination: z.string().optional(),
  DestinationTag: z.int().min(0).max(0xffff_ffff).optional(),
  hash: Digits.optional(),
  ledger_index: z.int().optional(),
})
type Fields = z.output<typeof Fields>

const Meta = z.object({
  TransactionResult: z.string(),
  TransactionIndex: z.int(),
  delivered_amount: z.unknown().optional(),
  AffectedNodes: z.array(z.record(z.string(), z.unknown())).default([]),
})

/** A ledger entry that a transaction changed: an account, an escrow or a payment channel. */
const Node = z.looseObject({
  LedgerEntryType: z.string(),
  FinalFields: z
    .looseObject({
      Account: z.string().optional(),
      Balance: z.unknown().optional(),
      Destination: z.string().optional(),
      DestinationTag: z.int().min(0).max(0xffff_ffff).optional(),
    })
    .optional(),
  PreviousFields: z.looseObject({ Balance: z.unknown().optional() }).optional(),
})
const Drops = z.string().regex(/^\d{1,19}$/)

/**
 * A result of `tx`, or an entry of `account_tx`. Version 2 of the API has the transaction in `tx_json`, version 1
 * in `tx` or among the fields of the result.
 */
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

/** A ledger's header. */
export const XrplLedgerHeader = z.object({
  ledger: z.object({ close_time: z.int(), ledger_hash: Digits }),
  validated: z.literal(true),
})
export type XrplLedgerHeader = z.output<typeof XrplLedgerHeader>

/** A transaction in a validated ledger. */
export interface ValidatedTransaction {
  readonly fields: z.output<typeof Fields>
  readonly meta: z.output<typeof Meta>
  readonly txHash: string
  readonly ledgerIndex: number
  /** The ledger in the response; undefined where it is incomplete. */
  readonly block: BlockRef | undefined
}

/** Reason why a payment is ignored. */
export type IgnoreReason = 'amount not known'

const SUCCESS = 'tesSUCCESS'
/**
 * Transaction types that pay. `AccountDelete` sends the XRP of a deleted account to another account, with
 * an optional tag.
 */
const PAYING_TYPES = ['Payment', 'AccountDelete']
/** 2000-01-01T00:00:00Z, the epoch of the ledger's seconds. */
const LEDGER_EPOCH_SECONDS = 946_684_800

/** Parses a transaction; `waiting` while no validated ledger contains it. */
export const XrplTransaction = RawEntry.transform(
  (raw, context): ValidatedTransaction | 'waiting' => {
    if (raw.validated !== true) return 'waiting'
    const fields = raw.tx_json ?? raw.tx ?? Fields.safeParse(raw).data
    const txHash = raw.hash ?? fields?.hash
    const ledgerIndex = raw.ledger_index ?? fields?.ledger_index
    if (fields && raw.meta && txHash && ledgerIndex) {
      const { meta, ledger_hash: hash, close_time_iso: time } = raw
      const block = hash && time ? blockOf(ledgerIndex, hash, new Date(time)) : undefined
      return { fields, meta, txHash: txHash.toUpperCase(), ledgerIndex, block }
    }
    context.issues.push({ code: 'custom', input: raw, message: 'the transaction is incomplete' })
    return z.NEVER
  },
)

/** Converts a ledger to a block. */
export function toBlockOfLedger(index: number, { ledger }: XrplLedgerHeader): BlockRef {
  const at = new Date((ledger.close_time + LEDGER_EPOCH_SECONDS) * 1000)
  return blockOf(index, ledger.ledger_hash, at)
}

/** Failure code of a transaction; undefined when it succeeded. */
export function transactionFailureOf({ meta }: ValidatedTransaction): string | undefined {
  return meta.TransactionResult === SUCCESS ? undefined : meta.TransactionResult
}

/** Whether a transaction is a payment to an address. */
export function isPaymentTo(transaction: ValidatedTransaction, address: string): boolean {
  const { fields } = transaction
  const isTo = fields.Destination === address && fields.Account !== address
  return isTo && PAYING_TYPES.includes(fields.TransactionType) && !transactionFailureOf(transaction)
}

/**
 * Converts a transaction to a payment.
 *
 * The amount is the delivered amount; the stated amount of a partial payment can be more.
 *
 * @param block the ledger of the transaction
 */
export function toXrplPayment(
  { fields, meta, txHash }: ValidatedTransaction,
  block: BlockRef,
): Payment | IgnoreReason {
  const delivered = meta.delivered_amount
  const other = OtherAmount.safeParse(delivered).data
  if (other !== undefined) return { ...common(fields, txHash, block), ...other, logIndex: 0 }
  if (typeof delivered !== 'string' || !/^[1-9]\d{0,18}$/.test(delivered)) return 'amount not known'
  const amountUnits = BigInt(delivered)
  return { ...common(fields, txHash, block), asset: 'XRP', amountUnits, logIndex: 0 }
}

/**
 * XRP that an address received without a payment: from an escrow, a payment channel or a check. The amount
 * is the change of the address's account; the tag is the tag of the entry that held the amount. Returns
 * a function that adds the block; undefined if the address received nothing.
 */
export function depositWithoutPayment(
  { fields, meta, txHash }: ValidatedTransaction,
  address: string,
): ((block: BlockRef) => Payment) | undefined {
  const nodes = meta.AffectedNodes.flatMap((affected) =>
    Object.values(affected).flatMap((node) => Node.safeParse(node).data ?? []),
  )
  const account = nodes.find(
    ({ LedgerEntryType: type, FinalFields: final }) =>
      type === 'AccountRoot' && final?.Account === address,
  )
  const after = Drops.safeParse(account?.FinalFields?.Balance).data
  const before = Drops.safeParse(account?.PreviousFields?.Balance).data
  if (after === undefined || before === undefined) return undefined
  const fee = fields.Account === address ? BigInt(Drops.safeParse(fields['Fee']).data ?? 0) : 0n
  const amountUnits = BigInt(after) - BigInt(before) + fee
  if (amountUnits <= 0n) return undefined
  const held = nodes.find(({ FinalFields: final }) => final?.Destination === address)
  const tag = held?.FinalFields?.DestinationTag ?? null
  const logIndex = OTHER_LOG_INDEX
  return (block) => ({ ...common(fields, txHash, block), tag, asset: 'XRP', amountUnits, logIndex })
}

function common(fields: Fields, txHash: string, block: BlockRef) {
  const tag: number | null = fields.DestinationTag ?? null
  return { way: 'xrpl', txHash, handle: null, tag, payer: fields.Account, block } as const
}

function blockOf(index: number, hash: string, at: Date): BlockRef {
  return { number: index, hash: z.decode(Hash, `0x${hash}`), at }
}
