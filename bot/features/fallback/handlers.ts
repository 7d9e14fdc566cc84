import { Composer } from 'grammy'
import { watchBehind } from '#src/actions/codec.ts'
import { AppError } from '#src/kernel/errors.ts'
import { readAddress } from '#src/kernel/typed-address.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature } from '../../core/feature.ts'
import { removeButtons, send } from '../../core/show.ts'
import { answerLookUp, offerLookUp } from '../look-up/handlers.ts'
import { waitingDraft } from '../new/handlers.ts'
import { offerNamed } from '../provider/handlers.ts'
import { offerMailbox } from '../recipients/add.ts'
import { homeScreen } from '../start/home.ts'
import { sendCard } from '../watches/screens.ts'
import { offerPrice } from './price.ts'
import { notUnderstood } from './view.ts'

const composer = new Composer<BotContext>()

/** Handles an unknown, old or forged button: the message keeps its text, and a new screen follows below. */
composer.on('callback_query', async (ctx) => {
  await ctx.answer(ctx.t('bot:toast.oldButton'))
  const messageId = ctx.callbackQuery.message?.message_id
  if (messageId !== undefined) await removeButtons(ctx, messageId)
  await sendFreshScreen(ctx)
})

/** Sends the card of the watch that the button's data names, else the home screen. */
async function sendFreshScreen(ctx: BotContext): Promise<void> {
  const id = watchBehind(ctx.callbackQuery?.data ?? '')
  try {
    if (id !== undefined) return await sendCard(ctx, id)
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'not_found') throw error
  }
  await send(ctx, await homeScreen(ctx))
}

const inPrivate = composer.chatType('private')

/**
 * Handles text when no question is open: an address, a provider's name or the name of a price gets an
 * answer. An unknown command keeps an open question open.
 */
inPrivate.on('message:text', async (ctx) => {
  const { reader, links } = ctx
  const { text } = ctx.message
  if (ctx.askAgain !== undefined) return ctx.askAgain()
  const isLinked = links.length > 0
  const address = readAddress(text)
  if (text.startsWith('/')) {
    await send(ctx, notUnderstood(reader, { why: 'unknown-text', isLinked }))
  } else if (address.ok || address.reason !== 'no_address') {
    await answerLookUp(ctx, text)
  } else if (
    !(isLinked && (await offerMailbox(ctx, text))) &&
    !(await offerPrice(ctx, text, { isWhole: true })) &&
    !(await (isLinked ? offerNamed(ctx, text) : offerLookUp(ctx, text))) &&
    !(await offerPrice(ctx, text, { isWhole: false }))
  ) {
    const draft = isLinked ? await waitingDraft(ctx) : undefined
    const resume = draft && { rev: draft.rev, type: draft.values.type }
    await send(ctx, notUnderstood(reader, { why: 'unknown-text', isLinked, resume }))
  }
})

inPrivate.on(
  [
    'message:file',
    'message:contact',
    'message:location',
    'message:poll',
    'message:dice',
    'message:story',
  ],
  (ctx) => send(ctx, notUnderstood(ctx.reader, { why: 'media', isLinked: ctx.links.length > 0 })),
)

export const fallbackFeature = defineFeature({ commands: [], composer })
