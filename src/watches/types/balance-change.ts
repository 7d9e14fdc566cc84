/** Data of alerts about a changed balance, and how people see them. */
import { parseUnits } from 'viem/utils'
import { z } from 'zod'
import { shortAddress } from '#src/i18n/format.ts'
import { assetSymbol } from '#src/kernel/chains.ts'
import type { DisplayValues, Presentation } from '#src/kernel/display-values.ts'
import { Address, AssetDecimals, Hash, Instant, type JsonObject, Units } from '#src/kernel/units.ts'
import { WalletAsset } from './own-coin.ts'

/**
 * Relation of the other account of a transfer to the watch. `own-wallet`: it is the wallet that owns the watch.
 * `watched`: it is the target of another balance watch of that wallet. `seen`: one of the newest alerts of the watch
 * names it. `new`: none of them does. `unknown`: there are several other accounts, or none was found.
 */
const COUNTERPARTY_ROLES = ['own-wallet', 'watched', 'seen', 'new', 'unknown'] as const

/** Maximum number of transactions that an alert lists. */
export const TRANSACTIONS_MAX = 10
/** Number of transactions that a message shows. */
const TRANSACTIONS_SHOWN = 3

/** A transaction behind a change; `amount` is in the smallest unit, negative for outgoing amounts. */
const MovedBy = z.object({
  transactionHash: Hash,
  amount: z.string().regex(/^-?\d{1,78}$/),
  /** The other account; null if there are several, or none. */
  counterparty: Address.nullable(),
})

/**
 * `data` of `wallet-balance.moved`. Amounts are in the asset's smallest unit; `threshold` is in whole units. `usd`
 * is the value of the change in US dollars, without a sign, as decimal text with two decimals; null without a price. Of
 * a watch of all assets `asset` is the one that moved most, and `threshold` is in US dollars.
 */
export const BalanceChangeData = z.object({
  address: Address,
  asset: WalletAsset,
  symbol: z.string(),
  decimals: AssetDecimals,
  previousAmount: Units,
  currentAmount: Units,
  changeAmount: z.string().regex(/^-?\d{1,78}$/),
  threshold: z.string(),
  direction: z.enum(['incoming', 'outgoing']),
  /** The other account; null if there are several, or none was found. */
  counterparty: Address.nullable(),
  transactionHash: Hash.nullable(),
  /** The first ten transactions that moved the asset, in both directions; empty if they are unknown. */
  transactions: z.array(MovedBy).max(TRANSACTIONS_MAX),
  /** Number of all these transactions. */
  transactionCount: z.int().nonnegative(),
  usd: z
    .string()
    .regex(/^\d+\.\d{2}$/)
    .nullable(),
  blockNumber: z.int(),
  blockTime: Instant,
  /** Other assets that moved in the same blocks, the most valuable first; only of a watch of all assets. */
  otherChanges: z
    .array(
      z.object({
        asset: WalletAsset,
        symbol: z.string(),
        decimals: AssetDecimals,
        changeAmount: z.string().regex(/^-?\d{1,78}$/),
      }),
    )
    .exactOptional(),
  /** True for a payment for a top-up of the watch's owner; `src/alerts` adds it. */
  isTopUp: z.literal(true).exactOptional(),
  /** The top-up that it pays for, if that is known; `src/alerts` adds it. */
  topupHandle: Hash.exactOptional(),
  /** Relation of the other account to the watch; `src/alerts` adds it, except for top-ups. */
  counterpartyRole: z.enum(COUNTERPARTY_ROLES).exactOptional(),
})
/** The data as readers see it: a group is told that the owner pays, in place of the top-up. */
const ShownBalanceChange = BalanceChangeData.extend({
  isOwnPayment: z.literal(true).exactOptional(),
})
export type CounterpartyRole = (typeof COUNTERPARTY_ROLES)[number]

/**
 * Sentences about the other account, as keys of `messages:advice.…`. A transfer to the own wallet needs none: its whole
 * text says where the amount went (`sentOwn`).
 */
const ADVICE: Readonly<
  Record<'receiver' | 'sender', Readonly<Partial<Record<CounterpartyRole, string>>>>
> = {
  receiver: {
    watched: 'to-watched',
    seen: 'to-seen',
    new: 'to-new',
    unknown: 'to-unknown',
  },
  sender: { 'own-wallet': 'from-own', watched: 'from-watched', new: 'from-new' },
}

/**
 * Presents a transfer.
 *
 * @throws ZodError if the data is not that of a changed balance
 */
export function presentBalanceChange(_event: string, data: JsonObject): Presentation {
  const moved = ShownBalanceChange.parse(data)
  const symbol = assetSymbol(moved.asset, moved.symbol)
  const amount = { kind: 'amount', decimals: moved.decimals, symbol } as const
  const change = BigInt(moved.changeAmount)
  const isSent = change < 0n
  const { counterparty, transactionHash: hash, usd } = moved
  const several = severalTransactions(moved)
  const party = isSent ? 'receiver' : 'sender'
  const { counterpartyRole: role } = moved
  const advice = moved.isTopUp ? topUpAdvice(moved) : role && ADVICE[party][role]
  return {
    ...(!isSent && { form: 'received' }),
    ...(isSent && role === 'own-wallet' && { form: 'sentOwn' }),
    ...(moved.isTopUp && { form: 'topUp' }),
    ...(moved.isOwnPayment && { form: 'ownPayment' }),
    ...(advice !== undefined && { advice }),
    facts: {
      amount: { ...amount, units: isSent ? -change : change },
      ...(usd !== null && {
        usd: { kind: 'amount', units: parseUnits(usd, 2), decimals: 2, symbol: 'USD' },
      }),
      ...(counterparty !== null && { [party]: { kind: 'address', address: counterparty } }),
      ...(hash !== null && { tx: { kind: 'transaction', hash } }),
      ...several,
      ...(moved.topupHandle !== undefined && {
        reference: { kind: 'identifier', value: shortAddress(moved.topupHandle) },
      }),
      ...otherChanges(moved),
      before: { ...amount, units: moved.previousAmount },
      after: { ...amount, units: moved.currentAmount },
      address: { kind: 'address', address: moved.address },
      block: { kind: 'block', number: moved.blockNumber },
    },
    fields: [
      ...(usd === null ? [] : ['usd']),
      ...(counterparty === null ? [] : [party]),
      ...(hash === null ? [] : ['tx']),
      ...Object.keys(several),
      ...Object.keys(otherChanges(moved)),
      'address',
    ],
  }
}

/** Number of other assets that a message shows. */
const OTHERS_SHOWN = 2

/** Other assets that moved at the same time. */
function otherChanges({
  otherChanges: changes = [],
}: z.output<typeof BalanceChangeData>): DisplayValues {
  return Object.fromEntries(
    changes.slice(0, OTHERS_SHOWN).map(({ asset, symbol, decimals, changeAmount }, index) => [
      `asset${index + 2}`,
      {
        ...({ kind: 'amount', decimals, signed: true } as const),
        symbol: assetSymbol(asset, symbol),
        units: BigInt(changeAmount),
      },
    ]),
  )
}

/** Key of the sentence about the top-up that was paid for, with its payment reference if that is known. */
function topUpAdvice({ topupHandle }: z.output<typeof BalanceChangeData>): string {
  return topupHandle === undefined ? 'topUp' : 'topUpOf'
}

/** The first transactions of a change that has several, and how many more there are. */
function severalTransactions({
  transactionHash,
  transactions,
  transactionCount,
}: z.output<typeof BalanceChangeData>): DisplayValues {
  if (transactionHash !== null || transactions.length < 2) return {}
  const shown = transactions.slice(0, TRANSACTIONS_SHOWN)
  const more = transactionCount - shown.length
  return {
    ...Object.fromEntries(
      shown.map(({ transactionHash: hash }, index) => [
        `tx${index + 1}`,
        { kind: 'transaction', hash } as const,
      ]),
    ),
    ...(more > 0 && { moreTx: { kind: 'number', value: more } as const }),
  }
}
