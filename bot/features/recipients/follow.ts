import { RETAINED_DAYS } from '#src/delivery/model.ts'
import { DAY_MS, MINUTE_MS } from '#src/kernel/durations.ts'
import type { BotContext } from '../../core/context.ts'
import { putFollowUp } from './follow-up-store.ts'
import { findRecipient } from './recipients.ts'

/**
 * Time until a secret is hidden, for which a mailbox's confirmation is awaited, and for which alerts are
 * retained, so that a question about them can be answered.
 */
const FOLLOWED_MS = {
  secret: 10 * MINUTE_MS,
  confirmation: DAY_MS,
  retained: RETAINED_DAYS * DAY_MS,
} as const
/** Time until the first check of what a message waits for. */
export const FIRST_CHECK_MS = 5000

/** Schedules a follow-up of a message. */
export async function follow(
  ctx: BotContext,
  recipientId: number,
  messageId: number,
  kind: keyof typeof FOLLOWED_MS,
): Promise<void> {
  const { app, knownChat } = ctx
  const { link } = await findRecipient(ctx, recipientId)
  const shownAt = app.clock.now()
  const after = (ms: number) => new Date(shownAt.getTime() + ms)
  await putFollowUp(app.db, {
    chatId: knownChat.id,
    messageId,
    kind,
    wallet: link.wallet,
    recipientId,
    shownAt,
    dueAt: after(kind === 'confirmation' ? FIRST_CHECK_MS : FOLLOWED_MS[kind]),
    // A secret is hidden even after a long outage.
    expiresAt: after(kind === 'secret' ? 2 * DAY_MS : FOLLOWED_MS[kind]),
  })
}
