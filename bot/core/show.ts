import type { InlineKeyboardMarkup } from 'grammy/types'
import { isAlertMessage, isFollowedByMessage } from '#src/delivery/service.ts'
import { inertText } from '#src/kernel/inert-text.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { getFollowed } from '#src/operations/chat/follow.ts'
import { type Button, markupOf, type Rows } from '#src/telegram/buttons.ts'
import { describe, settledAs } from '#src/telegram/errors.ts'
import { type MessageContent, type PostedMessage, post } from '#src/telegram/send.ts'
import { plainOf } from '#src/telegram/text.ts'
import { WARNING } from '../views/refusals.ts'
import type { View } from '../views/view.ts'
import type { BotContext } from './context.ts'
import { deleteLive } from './live-store.ts'
import { type CurrentMessageIds, changeChat, type Task } from './store.ts'
import { isButtonHandled } from './verb-rights.ts'

/**
 * Shows a screen in the message whose button was pressed, in the question's message for a typed answer, or
 * else in a new message. If the message cannot be edited, a new one is sent. A pressed alert or notice stays
 * as it is, and the screen is a new message. A pressed form (a wizard, or the screen of a question) that has
 * an alert or notice below it is deleted and sent again; so is a pressed screen whose next screen is a form.
 *
 * @param task task whose current message the message becomes; only the current message of each task has
 * buttons
 * @param options `isForm`: whether the view is the screen of a form; by default for the task `wizard` only
 * @returns the message's id
 */
export async function show(
  ctx: BotContext,
  view: View,
  task: Task = 'navigation',
  { isForm = task === 'wizard' }: { readonly isForm?: boolean } = {},
): Promise<number> {
  const messageId = (await pressedScreen(ctx, isForm)) ?? (await answeredMessage(ctx))
  if (messageId === undefined || !(await edit(ctx, messageId, view))) return send(ctx, view, task)
  await storeCurrent(ctx, messageId, view, task)
  return messageId
}

/**
 * Sends a screen as a new message, in the topic of the update. It becomes the current message, and the
 * previous current message loses its buttons.
 *
 * @returns the message's id
 */
export async function send(
  ctx: BotContext,
  view: View,
  task: Task = 'navigation',
): Promise<number> {
  const messageId = await ask(ctx, view)
  await storeCurrent(ctx, messageId, view, task)
  return messageId
}

/** Sends a question as a separate message, in addition to the current message. @returns the message's id */
export async function ask(ctx: BotContext, view: View): Promise<number> {
  const { msg } = ctx
  const topic = msg?.is_topic_message === true ? msg.message_thread_id : undefined
  const { messageId } = await post(ctx.api, { ...postOf(ctx, view), topic })
  return messageId
}

/**
 * Id of the pressed message, if it can show the next screen. Undefined without a press, and for an alert or
 * notice. Deletes a form, or a screen whose next screen is a form, that has an alert or notice below it, and
 * returns undefined.
 *
 * @param isNextForm whether the next screen is the screen of a form
 */
async function pressedScreen(ctx: BotContext, isNextForm: boolean): Promise<number | undefined> {
  if (await isDelivered(ctx)) return undefined
  const { callbackQuery, knownChat } = ctx
  const messageId = callbackQuery?.message?.message_id
  if (messageId === undefined) return undefined
  const isPressedForm =
    ctx.isQuestionPressed === true || knownChat.currentMessages.wizard === messageId
  const isForm = isNextForm || isPressedForm
  if (!isForm || !(await isAbove(ctx, messageId))) return messageId
  await release(ctx, messageId)
  await leave(ctx, messageId)
  return undefined
}

/** Whether an alert or notice is below a message of a private chat. */
async function isAbove(ctx: BotContext, messageId: number): Promise<boolean> {
  if (ctx.knownChat.kind !== 'private') return false
  return isFollowedByMessage(ctx.app.db, await recipientIdsOf(ctx), messageId)
}

/** Ids of the recipients whose messages the chat gets: of its wallets, and of the provider that it follows. */
async function recipientIdsOf({ links, knownChat, call }: BotContext): Promise<readonly number[]> {
  const ids = links.map(({ recipientId }) => recipientId)
  if (knownChat.kind !== 'private') return ids
  const { followed } = await call(getFollowed, { body: { chatId: knownChat.id } })
  return followed === undefined ? ids : [...ids, followed.recipientId]
}

/** Whether the pressed message is an alert, a summary or a notice, not a screen of the bot. */
export async function isDelivered(ctx: BotContext): Promise<boolean> {
  const messageId = ctx.callbackQuery?.message?.message_id
  return messageId !== undefined && isSentMessage(ctx, messageId)
}

/** Whether a message of the chat is an alert, a summary or a notice, not a screen of the bot. */
export async function isSentMessage(ctx: BotContext, messageId: number): Promise<boolean> {
  const { app, knownChat } = ctx
  if (Object.values(knownChat.currentMessages).includes(messageId)) return false
  return isAlertMessage(app.db, await recipientIdsOf(ctx), String(messageId))
}

/**
 * Changes the pressed message without making it the current message. As a current message, an alert would
 * lose its buttons to the next screen.
 *
 * @returns false if the message can no longer be changed
 */
export async function redraw(ctx: BotContext, view: View): Promise<boolean> {
  const messageId = ctx.callbackQuery?.message?.message_id
  return messageId !== undefined && (await edit(ctx, messageId, view))
}

/**
 * The message to edit after a typed answer: the question's message, if it is a current message and no
 * delivery followed it; otherwise deletes it. Always deletes the answer.
 */
async function answeredMessage(ctx: BotContext): Promise<number | undefined> {
  const { answering, knownChat } = ctx
  if (answering === undefined) return undefined
  const { messageId, askedAt } = answering
  const typedId = ctx.message?.message_id
  if (typedId !== undefined) await removeMessage(ctx, typedId)
  const isCurrent = Object.values(knownChat.currentMessages).includes(messageId)
  const isCovered = ctx.links.some((link) => link.lastSuccessAt && link.lastSuccessAt > askedAt)
  if (isCurrent && !isCovered) return messageId
  await leave(ctx, messageId)
  return undefined
}

/**
 * Deletes a message of the bot that is no longer needed, such as a screen that continues in a new message. If
 * that is impossible, as after 48 hours, the message loses its buttons.
 */
export async function leave(ctx: BotContext, messageId: number): Promise<void> {
  const { app, knownChat } = ctx
  if (!(await removeMessage(ctx, messageId))) await removeButtons(ctx, messageId)
  const currentMessages = without(knownChat.currentMessages, messageId)
  const changes = changedMessages(knownChat.currentMessages, currentMessages)
  if (Object.keys(changes).length === 0) return
  await changeChat(app.db, knownChat.id, { currentMessages: changes }, app.clock.now())
  Object.assign(ctx, { knownChat: { ...knownChat, currentMessages } })
}

/** The current messages without a deleted message. */
function without(currentMessages: CurrentMessageIds, messageId: number): CurrentMessageIds {
  const remaining = Object.entries(currentMessages).map(([task, id]) => [
    task,
    id === messageId ? null : id,
  ])
  return { ...currentMessages, ...Object.fromEntries(remaining) }
}

/**
 * Deletes a message that has no buttons, such as a typed answer, or a message of another chat; for others see `leave`.
 *
 * @returns false if that failed and the message may still exist
 */
export async function removeMessage(
  ctx: BotContext,
  messageId: number,
  chatId = ctx.knownChat.id,
): Promise<boolean> {
  try {
    await ctx.api.deleteMessage(chatId, messageId)
    return true
  } catch (error) {
    const fields = { updateId: ctx.update.update_id, error: describe(error) }
    ctx.app.log.debug(fields, 'message could not be deleted')
    return settledAs(error) === 'gone'
  }
}

/**
 * Stores the current message of a task, and removes the buttons of the previous one. A screen without
 * buttons is not stored.
 */
export async function storeCurrent(
  ctx: BotContext,
  messageId: number,
  { rows }: View,
  task: Task,
): Promise<void> {
  const { app, knownChat } = ctx
  const before = knownChat.currentMessages[task]
  if (rows.length === 0 || before === messageId) return
  const currentMessages = { ...without(knownChat.currentMessages, messageId), [task]: messageId }
  const changes = changedMessages(knownChat.currentMessages, currentMessages)
  await changeChat(app.db, knownChat.id, { currentMessages: changes }, app.clock.now())
  Object.assign(ctx, { knownChat: { ...knownChat, currentMessages } })
  if (before !== null) await removeButtons(ctx, before)
}

/**
 * The tasks whose current message changed. Other tasks are not written, because jobs may change them
 * meanwhile.
 */
function changedMessages(
  before: CurrentMessageIds,
  after: CurrentMessageIds,
): Partial<CurrentMessageIds> {
  const tasks = Object.entries(after).filter(
    ([task, id]) => id !== before[task as keyof CurrentMessageIds],
  )
  return Object.fromEntries(tasks)
}

/** Removes the buttons of a message. A failure is ignored. */
export async function removeButtons(ctx: BotContext, messageId: number): Promise<void> {
  const empty = { reply_markup: { inline_keyboard: [] } }
  try {
    if (ctx.callbackQuery?.message?.message_id === messageId) await ctx.takeOver()
    await ctx.api.editMessageReplyMarkup(ctx.knownChat.id, messageId, empty)
  } catch (error) {
    const fields = { updateId: ctx.update.update_id, error: describe(error) }
    ctx.app.log.debug(fields, 'buttons could not be removed')
  }
}

/**
 * Shows a warning above the text of the pressed message, with a Retry button that repeats the press, or with
 * `wayOut`. An earlier warning is replaced.
 *
 * @param sentence plain text
 * @returns false if the message is an alert or notice, has no text, or cannot be edited
 */
export async function showAbove(
  ctx: BotContext,
  sentence: string,
  wayOut?: Button,
): Promise<boolean> {
  const { callbackQuery: query } = ctx
  const message = query?.message
  const data = query?.data
  if (message?.text === undefined || data === undefined) return false
  if (await isDelivered(ctx)) return false
  const cut = message.text.startsWith(WARNING) ? message.text.indexOf('\n\n') + 2 : 0
  // Without markup the client reads the whole text, also names in the sentence.
  const start = `${WARNING} ${inertText(sentence)}\n\n`
  const shift = start.length - cut
  const entities = (message.entities ?? [])
    .filter(({ offset }) => offset >= cut)
    .map((entity) => ({ ...entity, offset: entity.offset + shift }))
  const rows = message.reply_markup?.inline_keyboard ?? []
  const retry = { label: ctx.t('bot:button.retry'), data }
  const way = wayOut ?? retry
  const others = rows.filter(([first]) => ![retry.label, way.label].includes(first?.text ?? ''))
  const text = start + message.text.slice(cut)
  await ctx.takeOver()
  try {
    await ctx.api.editMessageText(ctx.knownChat.id, message.message_id, text, {
      entities,
      link_preview_options: { is_disabled: true },
      reply_markup: {
        inline_keyboard: [...keyboard([[way]], ctx.t.locale).inline_keyboard, ...others],
      },
    })
    return true
  } catch (error) {
    const settled = settledAs(error)
    if (settled === undefined) throw error
    if (settled === 'unchanged') ctx.answerAtEnd(sentence)
    return settled === 'unchanged'
  }
}

/** Edits a message into a screen, if Telegram still allows that. */
export async function rewrite(ctx: BotContext, messageId: number, view: View): Promise<void> {
  await edit(ctx, messageId, view)
}

/**
 * Edits a message into a screen. Ends live updates of the message.
 *
 * @returns false if the message can no longer be edited
 */
async function edit(ctx: BotContext, messageId: number, view: View): Promise<boolean> {
  await release(ctx, messageId)
  const posted = await post(ctx.api, { ...postOf(ctx, view), messageId })
  if (posted.kind === 'unchanged') answerUnchanged(ctx, messageId, view)
  return posted.kind !== 'gone'
}

/**
 * Answers a press whose message already shows the screen with a toast, because otherwise the person would see no effect.
 */
export function answerUnchanged(ctx: BotContext, messageId: number, { toast }: View): void {
  if (ctx.callbackQuery?.message?.message_id !== messageId) return
  ctx.answerAtEnd(toast ?? ctx.t('bot:toast.unchanged'))
}

/** Ends every other change of a message: that by its subject, and the progress indication. */
async function release(ctx: BotContext, messageId: number): Promise<void> {
  const message = { chatId: ctx.knownChat.id, messageId }
  const isPressed = ctx.callbackQuery?.message?.message_id === messageId
  const known = isPressed ? ctx.pressedMessage : undefined
  // The handler itself may have the message change later, so this is known once.
  if (isPressed) Object.assign(ctx, { pressedMessage: undefined })
  await Promise.all([
    (known === undefined || known.live !== undefined) && deleteLive(ctx.app.db, message),
    ctx.takeOver(),
  ])
}

function postOf(
  { app, knownChat, t, update }: BotContext,
  view: View,
): Omit<PostedMessage, 'messageId'> {
  return {
    chatId: knownChat.id,
    content: () => contentOf(view, t.locale),
    onRefused: (error, { kind }) => {
      const fields = { updateId: update.update_id, error: describe(error) }
      if (kind === 'send_without_thread') app.log.info(fields, 'topic was deleted')
      else app.log.error(fields, 'screen was refused and sent in a simple form')
    },
  }
}

/** Content of a screen, without buttons that have no handler. */
export function contentOf(
  { html, rows, locale: own, preview }: View,
  locale: Locale,
): MessageContent {
  return { html, plain: plainOf(html), rows: handledRows(rows), locale: own ?? locale, preview }
}

/** Rows of buttons for Telegram, without those that have no handler. */
export function keyboard(rows: Rows, locale: Locale): InlineKeyboardMarkup {
  return markupOf(handledRows(rows), locale)
}

function handledRows(rows: Rows): Rows {
  return rows
    .map((row) => row.filter((button) => !('data' in button) || isButtonHandled(button.data)))
    .filter((row) => row.length > 0)
}
