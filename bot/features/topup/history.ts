import { Composer } from 'grammy'
import { Hash } from '#src/kernel/units.ts'
import { getTopupWithPayments, listLedger } from '#src/operations/chat/status.ts'
import type { BotContext } from '../../core/context.ts'
import { onPress } from '../../core/feature.ts'
import { show } from '../../core/show.ts'
import { topupAmountText } from './amount-text.ts'
import { type HistoryEntry, ledgerPage } from './choice-view.ts'

const composer = new Composer<BotContext>()

onPress(composer, 'topup.history', { privately: 'topup' }, async (ctx, { cursor }) => {
  const query = { limit: HISTORY_PAGE, ...(cursor !== undefined && { cursor }) }
  const ledger = await ctx.call(listLedger, { query })
  const entries = await Promise.all(
    ledger.data.map(async ({ type, deltaCredits, createdAt, reference }): Promise<HistoryEntry> => {
      const paid = type === 'topup' ? await paidText(ctx, reference) : undefined
      return { type, deltaCredits, createdAt, paid }
    }),
  )
  const next = ledger.nextCursor ?? undefined
  await show(ctx, ledgerPage(ctx.reader, entries, { isFirst: cursor === undefined, next }), 'topup')
})

const HISTORY_PAGE = '10'

/** The paid amount of a ledger entry of a top-up. */
async function paidText(ctx: BotContext, reference: string): Promise<string | undefined> {
  const [, text, txHash] = reference.split(':')
  const handle = Hash.safeParse(text)
  if (!handle.success) return undefined
  const { topup, payments } = await ctx.call(getTopupWithPayments, {
    params: { handle: handle.data },
  })
  const receipt = payments.receipts.find((payment) => payment.txHash === txHash)
  return receipt && topupAmountText(ctx.t, topup, receipt.amountUnits)
}

/** Handler of the ledger's pages. */
export const historyHandlers = composer
