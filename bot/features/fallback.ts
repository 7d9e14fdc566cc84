import { Composer } from 'grammy'
import { AppError } from '#src/kernel/errors.ts'
import { watchBehind } from '../callback-data.ts'
import type { BotContext } from '../context.ts'
import { cardOf, findWatch, homeScreen } from '../screens.ts'
import { removeButtons, send } from '../show.ts'
import { notUnderstood } from '../views/notices.ts'
import type { View } from '../views/view.ts'
import { defineFeature } from './define.ts'

const composer = new Composer<BotContext>()

/** An unknown, old or forged button: its message keeps its text, the fresh screen comes below. */
composer.on('callback_query', async (ctx) => {
  await ctx.answer(ctx.t('bot:toast.oldButton'))
  const messageId = ctx.callbackQuery.message?.message_id
  if (messageId !== undefined) await removeButtons(ctx, messageId)
  await send(ctx, await freshScreen(ctx))
})

/** The screen the button belonged to, if that can be told, else the start of everything. */
async function freshScreen(ctx: BotContext): Promise<View> {
  const id = watchBehind(ctx.callbackQuery?.data ?? '')
  if (id === undefined) return homeScreen(ctx)
  try {
    const { watch, link } = await findWatch(ctx, id)
    return await cardOf(ctx, watch, link)
  } catch (error) {
    if (error instanceof AppError && error.kind === 'not_found') return homeScreen(ctx)
    throw error
  }
}

const inPrivate = composer.chatType('private')
inPrivate.on('message:text', (ctx) => send(ctx, notUnderstood(ctx.reader, { isText: true })))
inPrivate.on(
  [
    'message:file',
    'message:contact',
    'message:location',
    'message:poll',
    'message:dice',
    'message:story',
  ],
  (ctx) => send(ctx, notUnderstood(ctx.reader, { isText: false })),
)

export const fallbackFeature = defineFeature({ commands: [], composer })
