/** What a message about a top-up shows, for whoever shows it: a handler, or what changes it later. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Topup } from '#src/billing/topups/model.ts'
import { hasOpenPayment, listReceipts } from '#src/billing/topups/receipt.ts'
import { restOf } from '#src/billing/topups/remainder.ts'
import type { Db } from '#src/db/connection.ts'
import { DAY_MS, HOUR_MS } from '#src/kernel/durations.ts'
import type { Hash } from '#src/kernel/units.ts'
import { getAccount } from '#src/operations/account.ts'
import type { Answering, App } from '#src/operations/define.ts'
import type { RawInput } from '#src/operations/invoke.ts'
import { getTopup } from '#src/operations/topups.ts'
import { type LiveRow, listChatsFollowing, putLive } from '../../core/live-store.ts'
import { findDraft } from '../../core/session-store.ts'
import type { View } from '../../views/view.ts'
import { nextStepAt } from './amounts-view.ts'
import { assetKeyOf } from './assets.ts'
import type { ShownTopup } from './view.ts'

/** A way through the gate. */
export type AskOperation = <Output>(
  operation: Answering<Output>,
  input: RawInput,
) => Promise<Output>

/** Kinds of live messages that follow a top-up: its screen, its QR code. */
export const TOPUP_KINDS = { screen: 'topup', qr: 'topup-qr' } as const

/**
 * A top-up of the wallet, with what is known beside its record.
 *
 * @param stage how far it was when it was shown last
 * @throws AppError not_found
 */
export async function readTopup(
  app: App,
  ask: AskOperation,
  of: { readonly handle: Hash; readonly chatId: number; readonly stage?: string | null },
): Promise<ShownTopup> {
  const { handle, chatId, stage } = of
  const topup = await ask(getTopup, { params: { handle } })
  const { status } = topup
  const isCredited = status === 'credited'
  const isOpen = status === 'draft' || status === 'submitted'
  return {
    topup,
    asset: assetKeyOf(app, topup.asset),
    balanceCredits: isCredited ? await balanceAfter(ask, topup) : undefined,
    isLate: isCredited && (await isLate(app, topup)),
    // While another payment is on its way nobody is asked for what it may have paid.
    rest: (await hasOpenPayment(app, handle)) ? undefined : restOf(topup, app.clock.now()),
    isBack: isOpen && (stage === 'confirming' || stage === BACK),
    resume: isCredited ? await waitingDraft(app, chatId) : undefined,
  }
}

/** A payment was seen, and its block was replaced. */
const BACK = 'back'

/** How far a top-up is, as it is written down. */
export function stageOf({ topup, isBack }: ShownTopup): string {
  return isBack ? BACK : topup.status
}

/** What the wallet had after the newest credit of the top-up, if that is not long ago. */
async function balanceAfter(ask: AskOperation, { handle }: Topup): Promise<number | undefined> {
  const { ledger } = await ask(getAccount, { query: {} })
  return ledger.data.find(({ reference }) => reference.includes(handle))?.balanceAfterCredits
}

async function isLate(app: App, { handle, expiresAt }: Topup): Promise<boolean> {
  const receipts = await listReceipts(app, handle)
  return receipts.some(({ paidAt }) => paidAt > expiresAt)
}

const Waiting = z.object({ type: z.string(), watchId: z.null() })

/** A form that the person of a private chat has not finished. */
async function waitingDraft({ db, clock }: App, chatId: number): Promise<ShownTopup['resume']> {
  const draft = await findDraft(db, { chatId, personId: chatId }, clock.now())
  const values = Waiting.safeParse(draft?.values).data
  return draft && values && { rev: draft.rev, type: values.type }
}

/** A first look comes soon, for what happened while the message was made. */
const FIRST_LOOK_MS = 2000
/** Looked at least so often while a payment may come, or is on its way. */
const OPEN_LOOK_MS = 30_000
const CLOSE_LOOK_MS = 5000
/** A late payment changes the message for so long. */
const KEPT_MS = 7 * DAY_MS

/** Private chats in which a message began to follow a top-up in the last hour. */
export function listChatsShowing(db: Db, handle: string, at: Date): Promise<readonly number[]> {
  const since = new Date(at.getTime() - HOUR_MS)
  return listChatsFollowing(db, { handle, kind: TOPUP_KINDS.screen, since })
}

/** Lets a message follow a top-up from now on. @param view what the message shows, if it is a screen */
export async function followTopup(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  message: Pick<LiveRow, 'chatId' | 'messageId'> & { readonly kind: LiveRow['kind'] },
  shown: ShownTopup,
  view?: View,
): Promise<void> {
  const { handle, wallet, expiresAt } = shown.topup
  const now = clock.now()
  await putLive(db, {
    ...message,
    wallet,
    handle,
    stage: stageOf(shown),
    shown: view === undefined ? null : digestOf(view),
    news: 0,
    dueAt: new Date(now.getTime() + FIRST_LOOK_MS),
    leasedUntil: null,
    expiresAt: new Date(Math.max(expiresAt.getTime(), now.getTime()) + KEPT_MS),
    createdAt: now,
  })
}

/**
 * When a top-up is looked at again, if nothing is heard of it before: with each step of what it shows,
 * soon while a payment is on its way, and ever more seldom when it is over.
 */
export function nextLookAt({ topup }: ShownTopup, now: Date): Date {
  const after = (ms: number) => new Date(now.getTime() + ms)
  switch (topup.status) {
    case 'draft':
      return new Date(Math.min(nextStepAt(topup, now).getTime(), after(OPEN_LOOK_MS).getTime()))
    case 'submitted':
    case 'confirming':
      return after(CLOSE_LOOK_MS)
    default: {
      const ageMs = now.getTime() - topup.expiresAt.getTime()
      return after(Math.max(OPEN_LOOK_MS, ageMs / 4))
    }
  }
}

/** What tells one screen from another. */
export function digestOf(view: View): string {
  return createHash('sha256').update(JSON.stringify(view)).digest('base64url')
}
