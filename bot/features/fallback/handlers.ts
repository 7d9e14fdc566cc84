import { Composer } from 'grammy'
import { watchBehind } from '#src/actions/codec.ts'
import { AppError } from '#src/kernel/errors.ts'
import { readAddress } from '#src/kernel/typed-address.ts'
import type { App } from '#src/operations/define.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature } from '../../core/feature.ts'
import { ask, removeButtons, send } from '../../core/show.ts'
import { answerLookUp, offerLookUp } from '../look-up/handlers.ts'
import { waitingDraft } from '../new/handlers.ts'
import { offerNamed } from '../provider/handlers.ts'
import { offerMailbox } from '../recipients/add.ts'
import { homeScreen } from '../start/home.ts'
import { sendCard } from '../watches/screens.ts'
import { offerPrice } from './price.ts'
import { showWorded } from './screens.ts'
import { notUnderstood } from './view.ts'
import { asksForCost, screenNamed } from './words.ts'

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
 * Handles text when no question is open: the name of a screen, an address, a provider's name or the name of a price gets
 * an answer, and so does a question about the cost. An unknown command keeps an open question open.
 */
inPrivate.on('message:text', async (ctx) => {
  const { links, t } = ctx
  const { text } = ctx.message
  if (ctx.askAgain !== undefined) return ctx.askAgain()
  const isCommand = text.startsWith('/')
  const screen = screenNamed(isCommand ? text.split(/[\s@]/, 1).join() : text, t.locale)
  if (screen !== undefined) return showWorded(ctx, screen)
  if (isCommand) return showNotUnderstood(ctx, 'unknown-text')
  const address = readAddress(text)
  if (address.ok || address.reason !== 'no_address') return answerLookUp(ctx, text)
  const isLinked = links.length > 0
  const isAnswered =
    (isLinked && (await offerMailbox(ctx, text))) ||
    (await offerPrice(ctx, text, { isWhole: true })) ||
    (await (isLinked ? offerNamed(ctx, text) : offerLookUp(ctx, text))) ||
    (await offerPrice(ctx, text, { isWhole: false }))
  if (isAnswered) return
  if (asksForCost(text, t.locale)) return showWorded(ctx, 'cost')
  await showNotUnderstood(ctx, 'unknown-text')
})

/** Maximum number of chats whose last answer is remembered; the oldest chat is dropped. */
const CHATS_REMEMBERED_MAX = 1000

/**
 * Messages that said that nothing was understood, by chat; not kept across restarts. While such a message is the chat's
 * current one, nothing else was shown since.
 */
const missed = new WeakMap<App, Map<number, number>>()

/** Says that nothing was understood, with what can be sent; the second time in a row in one line. */
async function showNotUnderstood(ctx: BotContext, why: 'unknown-text' | 'media'): Promise<void> {
  const { app, knownChat, links, reader, t } = ctx
  const chats = missed.get(app) ?? new Map<number, number>()
  missed.set(app, chats)
  const before = chats.get(knownChat.id)
  if (before !== undefined && before === knownChat.currentMessages.navigation) {
    await ask(ctx, { html: t.html('bot:unknown.again'), rows: [] })
    return
  }
  const isLinked = links.length > 0
  const draft = isLinked ? await waitingDraft(ctx) : undefined
  const resume = draft && { rev: draft.rev, type: draft.values.type }
  chats.delete(knownChat.id)
  chats.set(knownChat.id, await send(ctx, notUnderstood(reader, { why, isLinked, resume })))
  const [oldest] = chats.keys()
  if (chats.size > CHATS_REMEMBERED_MAX && oldest !== undefined) chats.delete(oldest)
}

inPrivate.on(
  [
    'message:file',
    'message:contact',
    'message:location',
    'message:poll',
    'message:dice',
    'message:story',
  ],
  (ctx) => showNotUnderstood(ctx, 'media'),
)

export const fallbackFeature = defineFeature({ commands: [], composer })
