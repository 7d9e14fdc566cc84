import { Composer } from 'grammy'
import { packed } from '#src/actions/codec.ts'
import { REGISTRY as CHANNELS } from '#src/channels/index.ts'
import { AppError } from '#src/kernel/errors.ts'
import {
  changeDestination,
  dropRetained,
  listDeliveries,
  resendConfirmation,
  sendRetained,
} from '#src/operations/chat/destinations.ts'
import { blockedLinks } from '../../core/chat.ts'
import type { BotContext, Membership } from '../../core/context.ts'
import { defineFeature, onPress } from '../../core/feature.ts'
import { show } from '../../core/show.ts'
import { deepLink } from '../../views/view.ts'
import { homeScreen } from '../start/home.ts'
import { askRetained, comeBack, returningScreen } from '../start/returning.ts'
import { deliveryLog, LOG_PAGE } from './delivery-log-view.ts'
import { endRetainedQuestions, follow } from './follow.ts'
import {
  findRecipient,
  type LinkedDestination,
  recipientView,
  sendTest,
  showRecipient,
  testLine,
} from './recipients.ts'
import { hasFirstKey } from './secret-view.ts'
import { showTest } from './test-follow.ts'

/** Presses that are refused in groups, with the payload of the link into the private chat. */
const PRIVATE = { privately: 'menu' } as const

const composer = new Composer<BotContext>()

onPress(composer, 'rec.test', PRIVATE, async (ctx, { id }) => {
  const found = await findRecipient(ctx, id)
  await showTest(ctx, found, isJustAdded(ctx, found) ? 'recipient-added' : 'recipient-test')
})

/**
 * Whether the message shows the secret of a recipient that was just added, and for which watches were not
 * chosen yet.
 */
function isJustAdded({ callbackQuery }: BotContext, { destination }: LinkedDestination): boolean {
  const { id } = destination
  const buttons = callbackQuery?.message?.reply_markup?.inline_keyboard.flat() ?? []
  const isSecret = buttons.some(
    (button) => 'callback_data' in button && button.callback_data === packed('rec.saved', { id }),
  )
  return isSecret && hasFirstKey(destination)
}

onPress(composer, 'rec.revive', async (ctx, { id }) => {
  if (ctx.reader.isGroup) return reviveGroup(ctx, id)
  const recipient = await findRecipient(ctx, id)
  if (recipient.destination.status === 'active') return showRecipient(ctx, id)
  await revive(ctx, recipient)
})

/** Switches the group's alerts on again; in a group other destinations are private. */
async function reviveGroup(ctx: BotContext, id: number): Promise<void> {
  if (isOfOthers(ctx, id)) return ctx.answer(undefined, { url: deepLink(ctx.reader, `r${id}`) })
  const blocked = blockedLinks(ctx)
  await comeBack(ctx)
  await show(ctx, await returningScreen(ctx))
  await askRetained(ctx, blocked)
}

/** Switches a destination on and shows the result. One that programs read must pass a test first. */
async function revive(ctx: BotContext, found: LinkedDestination): Promise<void> {
  const { destination, link } = found
  const { id } = destination
  const { isProgrammatic } = CHANNELS[destination.channel]
  const tried = isProgrammatic ? await sendTest(ctx, found, { evenIfOff: true }) : undefined
  if (tried !== undefined && tried.kind !== 'delivered') {
    const notice = `${testLine(ctx, found, tried)}\n${ctx.t.html('bot:rec.staysOff')}`
    return showRecipient(ctx, id, notice)
  }
  const body = { id, changes: { status: 'active' } }
  const changed = await ctx.call(changeDestination, { body }, link)
  if (changed.status !== 'active') {
    return showAsked(ctx, id, `✓ ${ctx.t.html('bot:rec.confirmationSent')}`)
  }
  if (tried === undefined) return showTest(ctx, found, 'recipient-revived')
  const line = testLine(ctx, found, tried)
  await showRecipient(ctx, id, `✓ ${ctx.t.html('bot:rec.onAgain')}\n${line}`)
}

onPress(composer, 'rec.resend', PRIVATE, async (ctx, { id }) => {
  const { link } = await findRecipient(ctx, id)
  try {
    await ctx.call(resendConfirmation, { body: { id } }, link)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'rate_limited') throw error
    const seconds = error.details.retryAfterSeconds ?? 0
    const count = Math.max(1, Math.ceil(seconds / 60))
    return showAsked(ctx, id, `⚠️ ${ctx.t.html('bot:rec.resendLater', { count })}`)
  }
  await showAsked(ctx, id, `✓ ${ctx.t.html('bot:rec.confirmationSent')}`)
})

/**
 * Shows the card of a mailbox whose reader is asked for consent. The message changes when the reader agrees.
 * @param notice HTML; omitted if the reader has agreed meanwhile
 */
async function showAsked(ctx: BotContext, id: number, notice: string): Promise<void> {
  const { status } = (await findRecipient(ctx, id)).destination
  const view = await recipientView(ctx, id, status === 'active' ? undefined : notice)
  const messageId = await show(ctx, view)
  if (status === 'pending') await follow(ctx, id, messageId, 'confirmation')
}

onPress(composer, 'rec.kept', async (ctx, { id }) => {
  await settleRetained(ctx, id, async (link) => {
    const { count, over } = await ctx.call(sendRetained, { body: { recipientId: id } }, link)
    return [
      ...(count === 0 && over > 0 ? [] : [ctx.t.html('bot:rec.keptSent', { count })]),
      ...(over === 0 ? [] : [ctx.t.html('bot:rec.keptSummed')]),
    ]
  })
})

onPress(composer, 'rec.keptDrop', async (ctx, { id }) => {
  await settleRetained(ctx, id, async (link) => {
    const count = await ctx.call(dropRetained, { body: { recipientId: id } }, link)
    return [ctx.t.html('bot:rec.keptDropped', { count })]
  })
})

/**
 * Settles what a recipient missed, and shows the result: in its card, in a group above the menu.
 * @param settle returns sentences about the result: HTML
 */
async function settleRetained(
  ctx: BotContext,
  id: number,
  settle: (link: Membership) => Promise<readonly string[]>,
): Promise<void> {
  if (isOfOthers(ctx, id)) return ctx.answer(undefined, { url: deepLink(ctx.reader, `r${id}`) })
  const { link } = await findRecipient(ctx, id)
  const done = `✓ ${(await settle(link)).join(' ')}`
  await endRetainedQuestions(ctx, id)
  if (ctx.reader.isGroup) await show(ctx, await homeScreen(ctx, done))
  else await showRecipient(ctx, id, done)
}

/** Whether the reader is a group, and the destination another one, which is private. */
function isOfOthers({ reader, links }: BotContext, id: number): boolean {
  return reader.isGroup && !links.some(({ recipientId }) => recipientId === id)
}

onPress(composer, 'rec.log', PRIVATE, async (ctx, { id, cursor }) => {
  const recipient = await findRecipient(ctx, id)
  const { data, nextCursor } = await pageOf(ctx, recipient, cursor)
  const view = deliveryLog(ctx.reader, recipient, data, {
    now: ctx.app.clock.now(),
    nextCursor,
    canWrite: recipient.link.caller.scopes.includes('write'),
  })
  await show(ctx, view)
})

/** A page of the log; the first page if the cursor is of another list. */
async function pageOf(
  ctx: BotContext,
  { destination: { id: recipientId }, link }: LinkedDestination,
  cursor: string | undefined,
) {
  const body = { recipientId, limit: LOG_PAGE }
  try {
    const place = cursor === undefined ? {} : { cursor }
    return await ctx.call(listDeliveries, { body: { ...body, ...place } }, link)
  } catch (error) {
    if (cursor === undefined || !(error instanceof AppError) || error.kind !== 'invalid')
      throw error
    return await ctx.call(listDeliveries, { body }, link)
  }
}

export const recipientStateFeature = defineFeature({ commands: [], composer })
