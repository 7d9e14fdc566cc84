import { TRIAL_DAYS } from '#src/billing/price-list.ts'
import type { App } from '#src/operations/define.ts'
import { termsCode } from '../terms/terms.ts'
import type { TrialOffer } from './view.ts'

/** The free trial, with the terms that a wallet accepts by starting it. */
export function readTrialOffer({ billing }: Pick<App, 'billing'>): TrialOffer {
  const { terms } = billing
  return { days: TRIAL_DAYS, terms, termsCode: termsCode(terms.version) }
}
