import { packed } from '#src/actions/codec.ts'
import type { Topup } from '#src/billing/topups/model.ts'
import { formatAmount, formatDuration } from '#src/i18n/format.ts'
import { escapeHtml, type Html, html, type Translate } from '#src/i18n/translate.ts'
import type { Button } from '#src/telegram/buttons.ts'
import { back, type Reader, screen, type View } from '../../views/view.ts'

const MINUTE_S = 60
/** Update interval of the remaining time in its last minute. */
const LAST_STEP_S = 15

/** The remaining time, in the steps of the display. */
export function leftText(t: Translate, { expiresAt }: Topup, now: Date): string {
  const seconds = secondsTo(expiresAt, now)
  const step = stepOf(seconds)
  return formatDuration(Math.ceil(seconds / step) * step, t.locale, 'short')
}

/** Time of the next change of the remaining time's text. */
export function nextStepAt({ expiresAt }: Pick<Topup, 'expiresAt'>, now: Date): Date {
  const seconds = secondsTo(expiresAt, now)
  const step = stepOf(seconds)
  const shown = Math.ceil(seconds / step) * step
  return new Date(expiresAt.getTime() - (shown - step) * 1000)
}

function secondsTo(at: Date, now: Date): number {
  return Math.max(0, (at.getTime() - now.getTime()) / 1000)
}

function stepOf(seconds: number): number {
  return seconds > MINUTE_S ? MINUTE_S : LAST_STEP_S
}

export function hashText(hash: string): Html {
  return html(`<code>${escapeHtml(hash)}</code>`)
}

/** An amount for reading, rounded. */
export function topupAmountText(
  t: Translate,
  { asset, decimals }: Pick<Topup, 'asset' | 'decimals'>,
  units: bigint,
): string {
  return formatAmount({ units, decimals, symbol: asset }, t.locale)
}

export function linkButton(label: string, url: string, style?: 'primary'): Button {
  return { label, url, ...(style !== undefined && { style }) }
}

export function copyButton(label: string, text: string): Button {
  return { label, copy: text }
}

/** Asks for the transaction that pays a top-up. */
export function hashQuestion({ t }: Reader, { handle }: Pick<Topup, 'handle'>): View {
  return screen(
    [t.html('bot:topup.askHash')],
    [[back(t('bot:button.payment'), packed('topup.check', { handle }))]],
  )
}
