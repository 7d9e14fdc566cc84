import { refusalText } from '#src/i18n/refusal.ts'
import type { Translate } from '#src/i18n/translate.ts'
import type { AppError } from '#src/kernel/errors.ts'

/** A refusal of the gate as one sentence for somebody in a chat: plain text. */
export function sentenceOf(t: Translate, error: AppError): string {
  switch (error.code) {
    case 'insufficient_scope':
      return t('bot:error.scope')
    case 'etag_mismatch':
      return t('bot:error.changed')
    default:
      return refusalText(t, error)
  }
}
