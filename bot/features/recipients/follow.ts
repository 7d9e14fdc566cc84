/** Messages about recipients that change later; how is in `live.ts`. */
import { RETAINED_DAYS } from '#src/delivery/model.ts'
import { DAY_MS, MINUTE_MS } from '#src/kernel/durations.ts'
import type { BotContext } from '../../core/context.ts'
import { followSubject } from '../../core/live-messages.ts'
import { notifyLive, takeLive } from '../../core/live-store.ts'
import { leave } from '../../core/show.ts'
import { findRecipient } from './recipients.ts'

/** Kinds: a secret, a mailbox whose reader is asked, a link for another chat, a question about retained alerts. */
export const RECIPIENT_KINDS = {
  secret: 'secret',
  confirmation: 'confirmation',
  link: 'chat-link',
  retained: 'retained-alerts',
} as const

/** Time until the first check of what a message waits for. */
const FIRST_CHECK_MS = 5000
/** Time for which the message with a link is checked after the link expired; usually an earlier check is the last. */
const LINK_KEPT_MS = DAY_MS

/** When a message of each kind is checked first, and for how long it is changed. */
const FOLLOWED = {
  // A secret is hidden even after a long outage.
  secret: { checkAfterMs: 10 * MINUTE_MS, keptMs: 2 * DAY_MS },
  confirmation: { checkAfterMs: FIRST_CHECK_MS, keptMs: DAY_MS },
  retained: { checkAfterMs: RETAINED_DAYS * DAY_MS, keptMs: RETAINED_DAYS * DAY_MS },
} as const

/** Has a message about a recipient changed later, or remembers that it asks about retained alerts. */
export async function follow(
  ctx: BotContext,
  recipientId: number,
  messageId: number,
  kind: keyof typeof FOLLOWED,
): Promise<void> {
  const { app, knownChat } = ctx
  const { link } = await findRecipient(ctx, recipientId)
  const { checkAfterMs, keptMs } = FOLLOWED[kind]
  await followSubject(
    app,
    { chatId: knownChat.id, messageId },
    {
      kind: RECIPIENT_KINDS[kind],
      wallet: link.wallet,
      handle: String(recipientId),
      checkAfterMs,
      expiresAt: new Date(app.clock.now().getTime() + keptMs),
    },
  )
}

/** Has the message about a link for another chat changed once a chat was linked by the link. */
export async function followChatLink(
  { app, knownChat, links }: BotContext,
  { messageId, expiresAt }: { readonly messageId: number; readonly expiresAt: Date },
): Promise<void> {
  const [membership] = links
  if (membership === undefined) return
  const { wallet } = membership
  await followSubject(
    app,
    { chatId: knownChat.id, messageId },
    {
      kind: RECIPIENT_KINDS.link,
      wallet,
      handle: wallet,
      stage: expiresAt.toISOString(),
      checkAfterMs: FIRST_CHECK_MS,
      expiresAt: new Date(expiresAt.getTime() + LINK_KEPT_MS),
    },
  )
}

/** Has the messages with links of a wallet checked at once, because a chat was linked by one of them. */
export async function notifyLinked({ app }: BotContext, wallet: string): Promise<void> {
  await notifyLive(app.db, wallet)
}

/**
 * Removes the chat's questions about a recipient's retained alerts, which were answered or are asked again.
 * The pressed question stays, because it shows the answer.
 */
export async function endRetainedQuestions(ctx: BotContext, recipientId: number): Promise<void> {
  const { app, callbackQuery, knownChat } = ctx
  const of = {
    chatId: knownChat.id,
    kind: RECIPIENT_KINDS.retained,
    handle: String(recipientId),
  }
  for (const { messageId } of await takeLive(app.db, of)) {
    if (messageId !== callbackQuery?.message?.message_id) await leave(ctx, messageId)
  }
}
