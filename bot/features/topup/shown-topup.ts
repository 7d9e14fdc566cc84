/** State of a top-up's message, read by handlers and by the updater of live messages. */
import { z } from 'zod'
import type { AssetKey } from '#src/billing/price-list.ts'
import { termReference } from '#src/billing/subscriptions/rules.ts'
import type { Topup } from '#src/billing/topups/model.ts'
import { remainderOf } from '#src/billing/topups/view.ts'
import type { Hash } from '#src/kernel/units.ts'
import { getTopupWithPayments, listLedger } from '#src/operations/chat/status.ts'
import type { App } from '#src/operations/define.ts'
import type { InvokeOperation } from '../../core/context.ts'
import { findDraft } from '../../core/session-store.ts'
import { assetKeyOfSymbol } from './assets.ts'

/** A top-up with the further data that its screen shows. */
export interface ShownTopup {
  readonly topup: Topup
  readonly asset: AssetKey
  /**
   * The wallet's credits after the newest credit of the top-up and its purchase; undefined if there is no
   * recent one.
   */
  readonly balanceCredits: number | undefined
  /** Price of the slots that the top-up bought; undefined if there are none, or they are not recent. */
  readonly spentCredits: number | undefined
  /** Whether a payment arrived after the quote expired. */
  readonly isLate: boolean
  /** Remainder of a partly paid top-up, as long as it can be paid. */
  readonly rest: Topup | undefined
  /** Whether the block of a payment was replaced after the payment was seen. */
  readonly isBack: boolean
  /** A pending draft. */
  readonly resume: { readonly rev: number; readonly type: string } | undefined
  /** Whether the message shows the ways to pay by hand. */
  readonly isOnWays: boolean
}

/** Kind of the live messages of a top-up. */
export const TOPUP_KIND = 'topup'

/** Stage of a message that shows the ways to pay by hand. */
export const WAYS = 'ways'

/**
 * A top-up of the wallet, with the further data that its screen shows.
 *
 * @param stage the last shown stage
 * @throws AppError not_found
 */
export async function readTopup(
  app: App,
  ask: InvokeOperation,
  of: { readonly handle: Hash; readonly chatId: number; readonly stage?: string | null },
): Promise<ShownTopup> {
  const { handle, chatId, stage } = of
  const { topup, payments } = await ask(getTopupWithPayments, { params: { handle } })
  const { isOpen: isPaying, receipts } = payments
  const { status, expiresAt } = topup
  const isCredited = status === 'credited'
  const isOpen = status === 'draft' || status === 'submitted'
  return {
    topup,
    asset: assetKeyOfSymbol(app, topup.asset),
    ...(isCredited ? await creditsAfter(ask, topup) : NO_CREDITS),
    isLate: isCredited && receipts.some(({ paidAt }) => paidAt > expiresAt),
    // While another payment is on its way, the remainder is not offered.
    rest: isPaying ? undefined : remainderOf(topup, app.clock.now()),
    isBack: isOpen && (stage === 'confirming' || stage === BACK),
    resume: isCredited ? await waitingDraft(app, chatId) : undefined,
    isOnWays: stage === WAYS,
  }
}

/** Suffix of the stage of a payment whose block was replaced. */
const BACK = 'back'

/** Stage of a top-up, in its stored form. */
export function topupStage(shown: ShownTopup): string {
  if (shown.isOnWays && payableOf(shown) !== undefined) return WAYS
  return shown.isBack ? BACK : shown.topup.status
}

/** What can be paid: an unpaid quote, or the remainder of a partly paid one. */
export function payableOf({ topup, rest }: Pick<ShownTopup, 'topup' | 'rest'>): Topup | undefined {
  return topup.status === 'draft' ? topup : rest
}

const NO_CREDITS = { balanceCredits: undefined, spentCredits: undefined }

/** The wallet's credits after the newest credit of the top-up and its purchase, if they are recent. */
async function creditsAfter(
  ask: InvokeOperation,
  { handle, then }: Topup,
): Promise<Pick<ShownTopup, 'balanceCredits' | 'spentCredits'>> {
  const { data } = await ask(listLedger, { query: {} })
  const id = then?.subscriptionId ?? null
  const bought = id === null ? undefined : termReference(id, 1)
  const entry = data.find(({ reference }) => reference.includes(handle) || reference === bought)
  const spent = data.find(({ reference }) => reference === bought)
  return {
    balanceCredits: entry?.balanceAfterCredits,
    spentCredits: spent && -spent.deltaCredits,
  }
}

const Waiting = z.object({ type: z.string(), watchId: z.null() })

/** A pending draft of the person of a private chat. */
async function waitingDraft({ db, clock }: App, chatId: number): Promise<ShownTopup['resume']> {
  const draft = await findDraft(db, { chatId, personId: chatId }, clock.now())
  const values = Waiting.safeParse(draft?.values).data
  return draft && values && { rev: draft.rev, type: values.type }
}
