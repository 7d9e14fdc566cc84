/** Whether the wizard, whose draft waits for a slot, led to a screen on which slots are bought. */
import type { BotContext } from '../../core/context.ts'
import { isDraftRecent, readDraft } from './draft.ts'

/** Whether the pressed message is that of the wizard. Slots for which the wizard waits are bought there. */
export function isInWizard({ callbackQuery, knownChat }: BotContext): boolean {
  const messageId = callbackQuery?.message?.message_id
  return messageId !== undefined && messageId === knownChat.currentMessages.wizard
}

/** The same, and whether the pressed message is a quote of a top-up, which took the place of the wizard's message. */
export async function isAskedByWizard(ctx: BotContext): Promise<boolean> {
  if (isInWizard(ctx)) return true
  const { links, callbackQuery, knownChat } = ctx
  const messageId = callbackQuery?.message?.message_id
  const [link] = links
  if (messageId === undefined || link === undefined) return false
  if (messageId !== knownChat.currentMessages.topup) return false
  if (!(await isDraftRecent(ctx, link.wallet))) return false
  return (await readDraft(ctx))?.values.watchId === null
}
