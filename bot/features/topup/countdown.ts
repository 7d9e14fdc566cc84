import type { Topup } from '#src/billing/topups/model.ts'
import { formatDuration } from '#src/i18n/format.ts'
import type { Translate } from '#src/i18n/translate.ts'

const MINUTE_S = 60
/** Update interval of the remaining time in its last minute. */
const LAST_STEP_S = 15

/** The remaining time, in the steps of the display. */
export function leftText(t: Translate, { expiresAt }: Topup, now: Date): string {
  const seconds = secondsTo(expiresAt, now)
  const step = countdownStepSeconds(seconds)
  return formatDuration(Math.ceil(seconds / step) * step, t.locale, 'short')
}

/** Time of the next change of the remaining time's text. */
export function nextStepAt({ expiresAt }: Pick<Topup, 'expiresAt'>, now: Date): Date {
  const seconds = secondsTo(expiresAt, now)
  const step = countdownStepSeconds(seconds)
  const shown = Math.ceil(seconds / step) * step
  return new Date(expiresAt.getTime() - (shown - step) * 1000)
}

function secondsTo(at: Date, now: Date): number {
  return Math.max(0, (at.getTime() - now.getTime()) / 1000)
}

function countdownStepSeconds(seconds: number): number {
  return seconds > MINUTE_S ? MINUTE_S : LAST_STEP_S
}
