import { GrammyError } from 'grammy'
import type { InlineKeyboardMarkup } from 'grammy/types'
import { judgeRefusal, type Verdict } from '#src/channels/telegram-errors.ts'
import { plainOf } from '#src/channels/telegram-html.ts'
import { describe } from './api.ts'
import type { BotContext } from './context.ts'
import { changeChat } from './store.ts'
import { WARNING } from './views/notices.ts'
import type { Rows, View } from './views/view.ts'

/**
 * Shows a screen: in the message whose button was pressed, else as a new one. Where that message is
 * gone or too old, the screen comes anew.
 */
export async function show(ctx: BotContext, view: View): Promise<void> {
  const message = ctx.callbackQuery?.message
  if (message !== undefined && (await edit(ctx, message.message_id, view))) {
    await keepLiving(ctx, message.message_id, view)
  } else {
    await send(ctx, view)
  }
}

/**
 * Shows a screen as a new message, in the topic of the update. It is the one people go on with: the
 * one before loses its buttons.
 */
export async function send(ctx: BotContext, view: View): Promise<void> {
  await keepLiving(ctx, await ask(ctx, view), view)
}

/** Shows a question as a message of its own, beside the one people go on with. @returns its id */
export async function ask(ctx: BotContext, view: View): Promise<number> {
  const { msg } = ctx
  const topic = msg?.is_topic_message === true ? msg.message_thread_id : undefined
  const attempt = (form: Form) =>
    ctx.api.sendMessage(ctx.known.id, form.text, {
      ...form.options,
      ...(form.topic !== undefined && { message_thread_id: form.topic }),
      ...(form.rows.length > 0 && { reply_markup: keyboard(form.rows) }),
    })
  const sent = await simplified(ctx, attempt, { ...htmlForm(view), topic })
  return sent.message_id
}

/** Notes the message people go on with. A screen without buttons leads nowhere and changes nothing. */
async function keepLiving(ctx: BotContext, messageId: number, { rows }: View): Promise<void> {
  const { app, known } = ctx
  const { livingMessageId: before } = known
  if (rows.length === 0 || before === messageId) return
  await changeChat(app.db, known.id, { livingMessageId: messageId }, app.clock.now())
  if (before !== null) await removeButtons(ctx, before)
}

/** Takes the buttons off a message. That it cannot be done is no failure. */
export async function removeButtons(ctx: BotContext, messageId: number): Promise<void> {
  const empty = { reply_markup: { inline_keyboard: [] } }
  try {
    await ctx.api.editMessageReplyMarkup(ctx.known.id, messageId, empty)
  } catch (error) {
    const fields = { updateId: ctx.update.update_id, error: describe(error) }
    ctx.app.log.debug(fields, 'buttons not removed')
  }
}

/**
 * Puts a warning above what the pressed message says and offers the same press again. A warning that
 * stands there already gives way.
 *
 * @param sentence plain text
 * @returns false when that message cannot be edited
 */
export async function showAbove(ctx: BotContext, sentence: string): Promise<boolean> {
  const { callbackQuery: query } = ctx
  const message = query?.message
  const data = query?.data
  if (message?.text === undefined || data === undefined) return false
  const cut = message.text.startsWith(WARNING) ? message.text.indexOf('\n\n') + 2 : 0
  const start = `${WARNING} ${sentence}\n\n`
  const shift = start.length - cut
  const entities = (message.entities ?? [])
    .filter(({ offset }) => offset >= cut)
    .map((entity) => ({ ...entity, offset: entity.offset + shift }))
  const rows = message.reply_markup?.inline_keyboard ?? []
  const retry = { text: ctx.t('bot:button.retry'), callback_data: data }
  const others = rows.filter(([first]) => first?.text !== retry.text)
  return edited(() =>
    ctx.api.editMessageText(ctx.known.id, message.message_id, start + message.text?.slice(cut), {
      entities,
      ...NO_PREVIEW,
      reply_markup: { inline_keyboard: [[retry], ...others] },
    }),
  )
}

/** Edits a message into a screen. @returns false when there is nothing to edit any more */
async function edit(ctx: BotContext, messageId: number, view: View): Promise<boolean> {
  const attempt = (form: Form) =>
    ctx.api.editMessageText(ctx.known.id, messageId, form.text, {
      ...form.options,
      reply_markup: keyboard(form.rows),
    })
  return edited(() => simplified(ctx, attempt, { ...htmlForm(view), topic: undefined }))
}

/** Runs an edit. @returns false when there is nothing to edit any more */
async function edited(run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run()
    return true
  } catch (error) {
    if (error instanceof GrammyError && UNCHANGED.test(error.description)) return true
    if (error instanceof GrammyError && NOT_EDITABLE.test(error.description)) return false
    throw error
  }
}

const EDIT_ANSWER = /message is not modified|message to edit|message can't be edited/
const UNCHANGED = /message is not modified/
const NOT_EDITABLE =
  /message to edit not found|message can't be edited|no text in the message|MESSAGE_ID_INVALID/

/** How a screen goes out; each part can be left out when Telegram refuses it. */
interface Form {
  readonly text: string
  readonly plain: string
  readonly options: {
    readonly parse_mode?: 'HTML'
    readonly link_preview_options: { readonly is_disabled: true }
  }
  readonly rows: Rows
  readonly topic: number | undefined
}

const NO_PREVIEW = { link_preview_options: { is_disabled: true } } as const

function htmlForm({ html, rows }: View): Omit<Form, 'topic'> {
  return { text: html, plain: plainOf(html), options: { ...NO_PREVIEW, parse_mode: 'HTML' }, rows }
}

/** Tries the form, and simpler ones while Telegram refuses just a part of it. */
async function simplified<T>(
  { app, update }: BotContext,
  attempt: (form: Form) => Promise<T>,
  first: Form,
): Promise<T> {
  for (let form = first; ; ) {
    try {
      return await attempt(form)
    } catch (error) {
      // What edits say about their message is no matter of form, though it names the markup.
      const isForm = error instanceof GrammyError && !EDIT_ANSWER.test(error.description)
      const verdict = isForm ? verdictOf(error) : undefined
      const simpler = verdict && simplerForm(form, verdict)
      if (simpler === undefined) throw error
      const fields = { updateId: update.update_id, error: describe(error) }
      if (verdict?.kind === 'send_without_thread') app.log.info(fields, 'topic is gone')
      else app.log.error(fields, 'screen refused and simplified')
      form = simpler
    }
  }
}

function simplerForm(form: Form, verdict: Verdict): Form | undefined {
  switch (verdict.kind) {
    case 'send_plain':
      return form.options === NO_PREVIEW
        ? undefined
        : { ...form, text: form.plain, options: NO_PREVIEW }
    case 'send_without_button':
      return form.rows.length === 0 ? undefined : { ...form, rows: [] }
    case 'send_without_thread':
      return form.topic === undefined ? undefined : { ...form, topic: undefined }
    case 'send_to':
    case 'fail':
      return undefined
    default:
      return verdict satisfies never
  }
}

/** What a refusal of Telegram means. */
export function verdictOf(error: GrammyError): Verdict {
  const { retry_after: retryAfterSeconds, migrate_to_chat_id: migrateToChatId } = error.parameters
  return judgeRefusal({
    code: error.error_code,
    description: error.description,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(migrateToChatId !== undefined && { migrateToChatId }),
  })
}

/** Rows of buttons as Telegram takes them. */
export function keyboard(rows: Rows): InlineKeyboardMarkup {
  return {
    inline_keyboard: rows.map((row) =>
      row.map(({ label, data, style }) => ({
        text: label,
        callback_data: data,
        ...(style !== undefined && { style }),
      })),
    ),
  }
}
