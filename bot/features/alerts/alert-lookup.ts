/** Finds the alert and wallet of a pressed button and redraws its message. */

import { type Press, unpacked } from '#src/actions/codec.ts'
import type { AlertCard } from '#src/alerts/history/card.ts'
import type { OpenPart } from '#src/channels/envelope.ts'
import { PART_OF_CODE } from '#src/channels/telegram/buttons.ts'
import { findMessage, getAlert, openPart } from '#src/operations/chat/alerts.ts'
import { hasButtons } from '../../core/chat.ts'
import type { BotContext, Membership } from '../../core/context.ts'
import { firstLink } from '../../core/first-link.ts'
import { isDelivered, redraw, show } from '../../core/show.ts'
import { isHiddenWatch, PrivateOnly } from '../../core/watches.ts'
import type { View } from '../../views/view.ts'
import { alertCard, deliveredMessage } from './card-view.ts'
import { followAlert } from './live.ts'

/** An alert of one of the chat's wallets. */
export interface FoundAlert {
  readonly card: AlertCard
  readonly link: Membership
}

/**
 * Finds an alert by id among the chat's wallets, in the chat's language.
 *
 * @throws AppError not_found
 */
export async function getAlertOfChat(ctx: BotContext, id: number): Promise<FoundAlert> {
  const { t, reader } = ctx
  const { isGroup, timezone } = reader
  return await firstLink(ctx, async (link) => {
    const { recipientId } = link
    const body = { id, recipientId, locale: t.locale, timezone, isGroup }
    const card = await ctx.call(getAlert, { body }, link)
    if (isHiddenWatch(ctx, card.alert)) throw new PrivateOnly(`a${id}`)
    return { card, link }
  })
}

/**
 * Shows an alert of the history.
 * @throws AppError not_found
 */
export async function showAlert(
  ctx: BotContext,
  id: number,
  options: { readonly open?: OpenPart | undefined } = {},
): Promise<void> {
  const { card, link } = await getAlertOfChat(ctx, id)
  const canWrite = link.manages && link.caller.scopes.includes('write')
  const rights = canWrite ? 'write' : hasButtons(ctx) ? 'read' : 'none'
  const view = alertCard(ctx.reader, card, { ...options, rights, now: ctx.app.clock.now() })
  const messageId = await show(ctx, view)
  await followAlert(ctx, messageId, { card, wallet: link.wallet, rights, open: options.open })
}

/** Buttons of the pressed message, with their labels. */
function offered(ctx: BotContext): readonly { readonly label: string; readonly press: Press }[] {
  const rows = ctx.callbackQuery?.message?.reply_markup?.inline_keyboard ?? []
  return rows.flat().flatMap((button) => {
    const press = 'callback_data' in button ? unpacked(button.callback_data) : undefined
    return press === undefined ? [] : [{ label: button.text, press }]
  })
}

/** Id of the alert that a message is about, from its buttons; undefined for a group of alerts. */
export function alertIdOfMessage(ctx: BotContext): number | undefined {
  for (const { press } of offered(ctx)) {
    switch (press.verb) {
      case 'alert.ack':
      case 'alert.unack':
      case 'alert.mute':
      case 'alert.open':
        return press.args.id
    }
  }
  return undefined
}

/** What is open below the pressed card: the ways to mute, or the section of the help whose button has a tick. */
function openBelow(ctx: BotContext): OpenPart | undefined {
  const offers = offered(ctx)
  if (offers.some(({ press }) => press.verb === 'alert.mute' && press.args.duration !== '0')) {
    return 'mute'
  }
  for (const { label, press } of offers) {
    if (press.verb === 'alert.open' && label.startsWith('✓')) return PART_OF_CODE[press.args.part]
  }
  return undefined
}

/** The delivery in the pressed message, if it is an alert that was sent for one of the chat's wallets. */
export async function findPressedAlert(ctx: BotContext) {
  const messageId = ctx.callbackQuery?.message?.message_id
  if (messageId === undefined || !(await isDelivered(ctx))) return undefined
  for (const link of ctx.links) {
    const body = { recipientId: link.recipientId, messageId: String(messageId) }
    const message = await ctx.call(findMessage, { body }, link)
    if (message !== undefined) return { ...message, link, messageId: body.messageId }
  }
  return undefined
}

/**
 * Runs an action on the alerts of the pressed message. If that was sent by the delivery worker, the worker alone changes it
 * afterwards: every action of a chat marks the messages that show its alerts as outdated.
 *
 * @returns the result of the action, and whether the message is left to the worker
 */
export async function runOnPressed<Result>(
  ctx: BotContext,
  run: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly isSent: boolean }> {
  const isSent = await isDelivered(ctx)
  // The former buttons must not be restored over those that the worker draws.
  if (isSent) await ctx.takeOver()
  try {
    return { result: await run(), isSent }
  } catch (error) {
    if (isSent) ctx.handBack()
    throw error
  }
}

/** A sent message in its present state; the rights of the chat are the same for all who press a button there. */
function sentMessage(
  { app, reader }: BotContext,
  shown: Parameters<typeof deliveredMessage>[1],
  { scopes }: Membership,
): View {
  return deliveredMessage(reader, shown, {
    isReceiveOnly: !scopes.includes('write'),
    preview: app.channels.telegram.pictureUrl?.(shown.envelope),
  })
}

/** Opens a part below the pressed message, or closes it. */
export async function toggle(ctx: BotContext, id: number, part: OpenPart): Promise<void> {
  if (await toggleBelowSent(ctx, part)) return
  await updatePressedCard(ctx, id, openBelow(ctx) === part ? null : part)
}

/**
 * The same for a sent message: an alert, or the test of one.
 * @returns false if the pressed message is none, or is no longer stored
 */
export async function toggleBelowSent(ctx: BotContext, part: OpenPart): Promise<boolean> {
  const delivered = await findPressedAlert(ctx)
  if (delivered === undefined) return false
  const { link, state, messageId } = delivered
  const body = {
    recipientId: link.recipientId,
    messageId,
    part: state.open === part ? null : part,
  }
  const shown = await ctx.call(openPart, { body }, link)
  if (shown !== undefined) {
    await redraw(ctx, sentMessage(ctx, shown, link))
  }
  return true
}

/** Closes what is open below the pressed message, if that was sent. The worker draws it with the action that follows. */
export async function closeBelowSent(ctx: BotContext): Promise<void> {
  const delivered = await findPressedAlert(ctx)
  if (delivered?.state.open === undefined) return
  const { link, messageId } = delivered
  await ctx.call(openPart, { body: { recipientId: link.recipientId, messageId, part: null } }, link)
}

/**
 * Updates the pressed message after an action on an alert, if the message is the card of an alert.
 * @param open what is open below it; by default the open section of the help
 */
export async function updatePressedCard(
  ctx: BotContext,
  id: number,
  open: OpenPart | null = helpBelow(ctx),
): Promise<void> {
  if (alertIdOfMessage(ctx) !== undefined) await showAlert(ctx, id, { open: open ?? undefined })
}

function helpBelow(ctx: BotContext): OpenPart | null {
  const open = openBelow(ctx)
  return open === undefined || open === 'mute' ? null : open
}
