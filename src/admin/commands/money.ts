/** Commands that change balances. Each is written once, however often it is repeated. */
import { z } from 'zod'
import { correctBalance, refundEntryAt } from '#src/billing/account/corrections.ts'
import { readBalance } from '#src/billing/account/service.ts'
import { listRunningOut } from '#src/billing/running-out.ts'
import { listUnmatched, matchPayment, worthNow } from '#src/billing/topups/match.ts'
import { OperatorError } from '#src/kernel/operator-error.ts'
import { defineCommand } from '../define.ts'
import * as typed from './input.ts'

const UNMATCHED_MAX = 100
const DAYS = '14'

export const credit = defineCommand({
  name: 'credit',
  values: ['wallet', 'credits'],
  about:
    'Adds credits, or takes them if the number is negative. --reference names the cause, once; --note is shown to the owner.',
  input: z.strictObject({
    wallet: typed.wallet,
    credits: typed.signedCredits,
    reference: typed.reference,
    note: typed.note,
  }),
  async run({ app, at }, { wallet, credits, reference, note }) {
    const before = await readBalance(app.db, wallet)
    const done = await correctBalance(app.db, { wallet, credits, reference, note, at })
    return {
      changed: done.isNew,
      lines: [
        ...(before.entry === 0
          ? [`${wallet} had no ledger yet: look whether it is the right wallet`]
          : []),
        done.isNew
          ? `ledger entry ${done.reference}: ${done.deltaCredits} credits; balance ${before.balanceCredits} → ${done.balanceCredits}`
          : `ledger entry ${done.reference} was written before; nothing changed, the balance is ${done.balanceCredits}`,
      ],
    }
  },
})

export const refund = defineCommand({
  name: 'refund',
  values: ['wallet', 'entry'],
  about:
    'Gives back what one ledger entry took. The entry is its number in “wallet”. Slots that it bought stay.',
  input: z.strictObject({ wallet: typed.wallet, entry: typed.number, note: typed.note }),
  async run({ app, at }, { wallet, entry: position, note }) {
    const done = await refundEntryAt(app.db, { wallet, position, note, at })
    return {
      changed: done.isNew,
      lines: [
        done.isNew
          ? `ledger entry ${done.reference}: ${done.deltaCredits} credits; balance ${done.balanceCredits}`
          : `entry ${position} was refunded before; nothing changed, the balance is ${done.balanceCredits}`,
      ],
    }
  },
})

export const unmatched = defineCommand({
  name: 'unmatched',
  values: [],
  about: 'Lists the payments that were not credited, oldest first.',
  isRead: true,
  input: z.strictObject({}),
  async run({ app }) {
    const rows = await listUnmatched(app.db, UNMATCHED_MAX)
    const lines = rows.map(({ payment, reason, foundAt }) =>
      [
        `${foundAt.toISOString()} ${payment.txHash} ${payment.logIndex}`,
        `${reason}: ${payment.amountUnits} units of ${payment.asset} from ${payment.payer}`,
        `names ${payment.reference ?? 'nothing'}`,
      ].join(', '),
    )
    return { changed: false, lines: lines.length === 0 ? ['no payment is unmatched'] : lines }
  },
})

export const matchPaymentCommand = defineCommand({
  name: 'match-payment',
  values: ['transaction', 'index', 'wallet'],
  about:
    'Credits an unmatched payment to a wallet, by default with what it is worth now. --credits says another number.',
  input: z.strictObject({
    transaction: z.string().regex(/^(0x)?[0-9a-fA-F]{64}$/, 'the hash of a transaction'),
    index: z
      .string()
      .regex(/^-?\d{1,9}$/, 'the number behind the hash in “unmatched”')
      .transform(Number),
    wallet: typed.wallet,
    credits: typed.credits.optional(),
    note: typed.note,
  }),
  async prepare(app, { transaction: txHash, index: logIndex, credits }) {
    if (credits !== undefined) return credits
    const worth = await worthNow(app, { txHash, logIndex })
    if (worth !== undefined && worth > 0) return worth
    throw new OperatorError('the payment has no price now; say its credits: --credits 5000')
  },
  async run({ app, at }, { transaction: txHash, index: logIndex, wallet, note }, credits) {
    const match = { txHash, logIndex, wallet, credits, note, at }
    const done = await matchPayment(app, app.db, match)
    if (!done.isNew) {
      return {
        changed: false,
        lines: ['the payment was credited to this wallet before; nothing changed'],
      }
    }
    return {
      changed: true,
      lines: [
        `${credits} credits for ${done.payment.amountUnits} units of ${done.payment.asset}; balance ${done.balanceCredits}`,
        done.isAnnounced
          ? 'its owner is told'
          : 'its owner is not told: the asset is not one that is sold for',
      ],
    }
  },
})

export const runningOut = defineCommand({
  name: 'running-out',
  values: [],
  about:
    'Lists the wallets that run out of credits next, if they go on as in the last week. --days 14',
  isRead: true,
  input: z.strictObject({ days: typed.number.default(Number(DAYS)) }),
  async run({ app, at }, { days }) {
    const rows = await listRunningOut(app.db, { now: at, days })
    const lines = rows.map((row) =>
      [
        `${row.at.toISOString()} ${row.wallet}: balance ${row.balanceCredits}`,
        `${row.creditsPerDay} credits a day for calls`,
        row.cause === 'renewal'
          ? `${row.missingCredits} are missing for a renewal`
          : 'calls use it up',
      ].join(', '),
    )
    return { changed: false, lines: lines.length === 0 ? [`nobody within ${days} days`] : lines }
  },
})
