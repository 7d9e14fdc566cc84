import { GrammyError, type Middleware } from 'grammy'
import type { App } from '#src/operations/define.ts'
import { describe } from '../api.ts'
import type { BotContext, PressAnswer } from '../context.ts'

/** After this long a press is answered without a word, so that the button stops waiting. */
const PATIENCE_MS = 700

/** Every press is answered once: by its handler, when it takes long, or when it is over. */
export function answering(app: Pick<App, 'log'>): Middleware<BotContext> {
  return async (ctx, next) => {
    const answer = once(app, ctx)
    Object.assign(ctx, { answer } satisfies PressAnswer)
    const timer = setTimeout(() => void answer(), PATIENCE_MS)
    try {
      await next()
    } finally {
      clearTimeout(timer)
      await answer()
    }
  }
}

/** Never throws: a press that is too old to be answered, or answered already, is no failure. */
function once(app: Pick<App, 'log'>, ctx: BotContext): PressAnswer['answer'] {
  let answered: Promise<void> | undefined
  const send = async (text: string | undefined, isBox: boolean) => {
    try {
      await ctx.answerCallbackQuery(text === undefined ? {} : { text, show_alert: isBox })
    } catch (error) {
      if (error instanceof GrammyError && error.error_code === 400) return
      const fields = { updateId: ctx.update.update_id, error: describe(error) }
      app.log.warn(fields, 'press not answered')
    }
  }
  return async (text, options) => {
    if (ctx.callbackQuery === undefined) return
    answered ??= send(text, options?.box ?? false)
    await answered
  }
}
