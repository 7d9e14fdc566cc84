import { Composer } from 'grammy'
import { AppError } from '#src/kernel/errors.ts'
import { acceptTerms } from '#src/operations/account.ts'
import type { BotContext } from '../context.ts'
import { homeScreen } from '../screens.ts'
import { show } from '../show.ts'
import { termsMark } from '../terms.ts'
import { type Next, showTerms } from '../terms-card.ts'
import { defineFeature, onPress } from './define.ts'
import { showFirstQuote } from './slots.ts'
import { openTopup } from './topup.ts'

const composer = new Composer<BotContext>()

/** What was waiting goes on by itself. Who was shown other terms is shown those in force. */
onPress(composer, 'terms.yes', async (ctx, { next, terms }) => {
  const { version } = ctx.app.billing.terms
  if (terms !== termsMark(version) || !(await accept(ctx, version))) return showTerms(ctx, next)
  const goOn = Object.entries(CONTINUED).find(([name]) => name === next)?.[1]
  await (goOn ?? showHome)(ctx)
})

const CONTINUED: Readonly<Record<Next, (ctx: BotContext) => Promise<void>>> = {
  topup: (ctx) => openTopup(ctx),
  slots: showFirstQuote,
}

async function showHome(ctx: BotContext): Promise<void> {
  await show(ctx, await homeScreen(ctx))
}

/** @returns false when other terms came into force */
async function accept(ctx: BotContext, version: string): Promise<boolean> {
  try {
    await ctx.call(acceptTerms, { body: { version } })
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'terms_version_changed') return false
    throw error
  }
}

export const termsFeature = defineFeature({ commands: [], composer })
