import { GrammyError, InputFile } from 'grammy'
import type { App } from '#src/operations/define.ts'
import { drawPng } from '#src/pictures/png.ts'
import { describe, settledAs } from '#src/telegram/errors.ts'
import type { BotContext } from '../../core/context.ts'
import { answerUnchanged, keyboard, leave, removeMessage, storeCurrent } from '../../core/show.ts'
import type { Task } from '../../core/store.ts'
import type { View } from '../../views/view.ts'

/** Telegram's file ids by drawing; they are specific to each bot. */
const sent = new WeakMap<App, Map<string, string>>()
const SENT_MAX = 200

/**
 * Shows a drawing with a caption: in the picture whose button was pressed, or else as a new message,
 * because a text message cannot become a picture. A picture that Telegram already has is not uploaded
 * again.
 *
 * @param svg input of `drawPng`
 * @returns false when the drawing cannot be rendered or Telegram refuses it; then nothing was shown
 */
export async function showPicture(
  ctx: BotContext,
  svg: string,
  view: View,
  task: Task,
): Promise<boolean> {
  try {
    const replaced = await replacePicture(ctx, svg, view)
    const messageId = replaced ?? (await sendPicture(ctx, svg, view))
    const pressed = ctx.callbackQuery?.message?.message_id
    const isScreen = pressed !== undefined && ctx.knownChat.currentMessages[task] === pressed
    await storeCurrent(ctx, messageId, view, task)
    // The pressed text, such as the question for a provider, is deleted, because the picture replaces it.
    if (replaced === undefined && isScreen) await removeMessage(ctx, pressed)
    return true
  } catch (error) {
    if (error instanceof GrammyError && error.error_code !== 400) throw error
    const fields = { updateId: ctx.update.update_id, error: describe(error) }
    ctx.app.log.warn(fields, 'picture was not sent; a text is sent instead')
    return false
  }
}

/**
 * Replaces the pressed picture.
 * @returns undefined when no picture was pressed, or it was deleted
 */
async function replacePicture(
  ctx: BotContext,
  svg: string,
  view: View,
): Promise<number | undefined> {
  const pressed = ctx.callbackQuery?.message
  if (pressed === undefined || !('photo' in pressed) || pressed.photo === undefined)
    return undefined
  const messageId = pressed.message_id
  await ctx.takeOver()
  try {
    await withFile(ctx, svg, async (media) => {
      const changed = await ctx.api.editMessageMedia(
        ctx.knownChat.id,
        messageId,
        { type: 'photo', media, caption: view.html, parse_mode: 'HTML' },
        { reply_markup: keyboard(view.rows, ctx.t.locale) },
      )
      return changed === true ? undefined : changed.photo
    })
  } catch (error) {
    const settled = settledAs(error)
    if (settled === undefined) throw error
    if (settled === 'gone') return undefined
    answerUnchanged(ctx, messageId, view)
  }
  return messageId
}

async function sendPicture(ctx: BotContext, svg: string, view: View): Promise<number> {
  await upload(ctx)
  const { msg, answering } = ctx
  const topic = msg?.is_topic_message === true ? msg.message_thread_id : undefined
  let messageId = 0
  await withFile(ctx, svg, async (photo) => {
    const message = await ctx.api.sendPhoto(ctx.knownChat.id, photo, {
      caption: view.html,
      parse_mode: 'HTML',
      reply_markup: keyboard(view.rows, ctx.t.locale),
      ...(topic !== undefined && { message_thread_id: topic }),
    })
    messageId = message.message_id
    return message.photo
  })
  // The answered question and the typed text are deleted.
  if (answering !== undefined) {
    await leave(ctx, answering.messageId)
    if (ctx.message !== undefined) await removeMessage(ctx, ctx.message.message_id)
  }
  return messageId
}

/** Shows the upload indicator. A failure is ignored. */
async function upload(ctx: BotContext): Promise<void> {
  try {
    await ctx.replyWithChatAction('upload_photo')
  } catch (error) {
    ctx.app.log.debug({ error: describe(error) }, 'progress could not be shown')
  }
}

/** Runs a call with Telegram's file id, or with a new upload if there is no file id or it has expired. */
async function withFile(
  { app }: BotContext,
  svg: string,
  run: (file: string | InputFile) => Promise<readonly { readonly file_id: string }[] | undefined>,
): Promise<void> {
  const known = sent.get(app) ?? new Map<string, string>()
  sent.set(app, known)
  const fileId = known.get(svg)
  if (fileId !== undefined) {
    try {
      await run(fileId)
      return
    } catch (error) {
      if (!(error instanceof GrammyError) || !/file/.test(error.description)) throw error
      known.delete(svg)
    }
  }
  const photo = await run(new InputFile(await drawPng(svg), 'rounds.png'))
  const added = photo?.at(-1)?.file_id
  if (added === undefined) return
  const [oldest] = known.keys()
  if (known.size >= SENT_MAX && oldest !== undefined) known.delete(oldest)
  known.set(svg, added)
}
