import { AppError } from '#src/kernel/errors.ts'
import { getWalletStatus } from '#src/operations/chat/status.ts'
import type { BotContext } from '../../core/context.ts'
import { show } from '../../core/show.ts'
import { isInWizard } from '../new/origin.ts'
import { termsCode } from './terms.ts'
import { type AfterTerms, termsCard } from './view.ts'

/** Shows the terms in force, with a button that accepts them. */
export async function showTerms(ctx: BotContext, next: AfterTerms): Promise<void> {
  const { terms } = ctx.app.billing
  const isFromWizard = isInWizard(ctx)
  const shown = { ...terms, code: termsCode(terms.version) }
  const view = termsCard(ctx.reader, shown, next, { isFromWizard })
  await show(ctx, view, isFromWizard ? 'wizard' : 'navigation')
}

/** Whether the wallet has accepted the terms; if not, the terms are shown. */
export async function hasTerms(ctx: BotContext, next: AfterTerms): Promise<boolean> {
  if (!ctx.app.billing.enabled) return true
  const { hasAcceptedTerms } = await ctx.call(getWalletStatus)
  if (!hasAcceptedTerms) await showTerms(ctx, next)
  return hasAcceptedTerms
}

/** Whether an operation was refused because the terms have changed meanwhile. */
export function isTermsRefusal(error: unknown): boolean {
  return error instanceof AppError && error.code === 'terms_not_accepted'
}
