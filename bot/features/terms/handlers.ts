import { Composer } from 'grammy'
import { AppError } from '#src/kernel/errors.ts'
import { acceptTerms } from '#src/operations/rest/account.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature, onPress } from '../../core/feature.ts'
import { showQuote, showSlots } from '../slots/handlers.ts'
import { openTopup } from '../topup/handlers.ts'
import { showTerms } from './card.ts'
import { termsCode } from './terms.ts'

const composer = new Composer<BotContext>()

/**
 * Accepts the terms, after which the pending action continues. If the terms have changed, the terms in
 * force are shown.
 */
onPress(composer, 'terms.yes', { privately: 'slots' }, async (ctx, { next, terms }) => {
  const isTopup = next === 'topup'
  if (!(await accept(ctx, terms))) return showTerms(ctx, isTopup ? 'topup' : 'slots')
  await (isTopup ? openTopup(ctx) : showSlots(ctx))
})

onPress(composer, 'slots.agree', { privately: 'slots' }, async (ctx, { terms, ...quote }) => {
  await ((await accept(ctx, terms)) ? showQuote(ctx, quote) : showTerms(ctx, quote))
})

/**
 * Accepts the terms.
 * @returns false when the shown terms are no longer in force
 */
async function accept(ctx: BotContext, shown: string): Promise<boolean> {
  const { version } = ctx.app.billing.terms
  if (shown !== termsCode(version)) return false
  try {
    await ctx.call(acceptTerms, { body: { version } })
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'terms_version_changed') return false
    throw error
  }
}

export const termsFeature = defineFeature({ commands: [], composer })
