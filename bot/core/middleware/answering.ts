import type { Middleware } from 'grammy'
import type { InlineKeyboardMarkup } from 'grammy/types'
import { packed } from '#src/actions/codec.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import type { App } from '#src/operations/define.ts'
import { describe, isRefused } from '#src/telegram/errors.ts'
import type { BotContext, PressAnswer } from '../context.ts'

/** Time after which a press gets an empty response, and the chat shows progress. */
export const PATIENCE_MS = 700

/** Responds to every press once: by its handler, after `patienceMs`, or at the end. */
export function answering(app: Pick<App, 'log'>, patienceMs = PATIENCE_MS): Middleware<BotContext> {
  return async (ctx, next) => {
    const answer = once(app, ctx)
    const waiting = createProgress(app, ctx)
    const { takeOver, handBack } = waiting
    let atEnd: string | undefined
    const answerAtEnd: PressAnswer['answerAtEnd'] = (text) => {
      atEnd = cutText(text.toWellFormed(), TOAST_MAX)
    }
    Object.assign(ctx, { answer, answerAtEnd, takeOver, handBack } satisfies PressAnswer)
    const timer = setTimeout(() => {
      void answer()
      waiting.begin()
    }, patienceMs)
    try {
      await next()
    } finally {
      clearTimeout(timer)
      await answer(atEnd)
      await waiting.end()
    }
  }
}

/** Maximum length of a toast in the Bot API. */
const TOAST_MAX = 200

/**
 * Responds to the press, once. Never throws, because a press that is too old or already has a response is
 * not an error.
 */
function once(app: Pick<App, 'log'>, ctx: BotContext): PressAnswer['answer'] {
  let answered: Promise<void> | undefined
  const send: PressAnswer['answer'] = async (text, options = {}) => {
    const { box = false, url } = options
    const toast = text === undefined ? {} : { text, show_alert: box }
    try {
      await ctx.answerCallbackQuery({ ...toast, ...(url !== undefined && { url }) })
    } catch (error) {
      if (isRefused(error, 400)) return
      const fields = { updateId: ctx.update.update_id, error: describe(error) }
      app.log.warn(fields, 'press could not be answered')
    }
  }
  return async (text, options) => {
    if (ctx.callbackQuery === undefined) return
    answered ??= send(text, options)
    await answered
  }
}

/** Progress indication: the pressed message waits, or the bot is typing. */
interface ProgressIndication {
  begin(): void
  takeOver: PressAnswer['takeOver']
  handBack: PressAnswer['handBack']
  /** Restores the buttons of a message that was not changed. */
  end(): Promise<void>
}

/** Creates the progress indication. Its calls never throw, because nothing depends on them. */
function createProgress(app: Pick<App, 'log'>, ctx: BotContext): ProgressIndication {
  const message = ctx.callbackQuery?.message
  const markup = message?.reply_markup
  let shown: Promise<unknown> | undefined
  let isTaken = false
  const quietly = async (run: () => Promise<unknown>) => {
    try {
      await run()
    } catch (error) {
      const fields = { updateId: ctx.update.update_id, error: describe(error) }
      app.log.debug(fields, 'progress could not be shown')
    }
  }
  const setButtons = (rows: InlineKeyboardMarkup) =>
    quietly(async () => {
      if (message === undefined) return
      const options = { reply_markup: rows }
      await ctx.api.editMessageReplyMarkup(message.chat.id, message.message_id, options)
    })
  return {
    begin() {
      if (isTaken) return
      if (markup !== undefined) shown = setButtons(WAITING)
      else if (ctx.message?.chat.type === 'private') {
        void quietly(() => ctx.replyWithChatAction('typing'))
      }
    },
    async takeOver() {
      isTaken = true
      await shown
    },
    handBack() {
      isTaken = false
    },
    async end() {
      await shown
      if (shown !== undefined && !isTaken && markup !== undefined) await setButtons(markup)
    },
  }
}

const WAITING = { inline_keyboard: [[{ text: '⏳ …', callback_data: packed('none') }]] }
