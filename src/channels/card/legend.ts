/** What the help says about the signs and buttons of alerts. */
import type { Translate } from '#src/i18n/translate.ts'
import { GLYPH_OF_SEVERITY, RECOVERED_GLYPH } from './wording.ts'

/** The glyphs before alerts with their meaning, on one line. */
export function alertLegend(t: Translate): string {
  const signs = [
    `${GLYPH_OF_SEVERITY.critical} ${t('bot:severity.critical')}`,
    `${GLYPH_OF_SEVERITY.warning} ${t('bot:severity.warning')}`,
    `${GLYPH_OF_SEVERITY.info} ${t('bot:severity.info')}`,
    `${RECOVERED_GLYPH} ${t('messages:recovered')}`,
  ]
  return signs.join(' · ')
}

/** Labels of the buttons of alerts, for the text that explains them. */
export function alertButtonNames(t: Translate) {
  return {
    acknowledge: t('messages:button.acknowledge'),
    mute: t('messages:button.mute'),
    why: t('messages:button.why'),
    causes: t('messages:button.causes'),
    action: t('messages:button.action'),
    details: t('messages:details'),
  }
}
