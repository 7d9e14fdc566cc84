/** The page about payments that calls carry. */
import { MIN_TOPUP_CREDITS } from '#src/billing/price-list.ts'
import { creditsWithUsd } from '#src/billing/price-text.ts'
import type { Translate } from '#src/i18n/translate.ts'
import type { App } from '#src/operations/define.ts'

export const X402_PATH = '/docs/x402'

/** What payers should know, in its order. */
const RULES = ['once', 'failed', 'pending', 'rest', 'terms'] as const

/** Data of the page. @param program the example with the official client */
export function x402Doc(app: App, t: Translate, program: string) {
  return {
    title: t('pages:docs.x402'),
    isOn: app.directPayments !== undefined,
    offer: t('pages:docs.x402.offer', { credits: creditsWithUsd(t, MIN_TOPUP_CREDITS) }),
    commands: [
      `curl -fsSO ${app.publicUrl}${X402_PATH}.mjs`,
      'npm install viem @x402/fetch @x402/evm',
      'node x402.mjs',
    ].join('\n'),
    program,
    rules: RULES,
  }
}
