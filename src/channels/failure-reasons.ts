import { hasText, type Translate } from '#src/i18n/translate.ts'
import { TELEGRAM_REASONS } from '#src/telegram/errors.ts'

/** Codes of failed sends, without those of answers with other statuses. Each has a text in notices.json. */
export const FAILURE_REASONS = [
  ...TELEGRAM_REASONS,
  'unknown_host',
  'private_address',
  'refused',
  'reset',
  'certificate',
  'bad_answer',
  'url',
  'redirect',
  'gone',
  'unavailable',
  'internal',
  'unreadable',
  'mail_login',
  'mail_refused',
  'mail_postponed',
  'mail_outage',
  'mailbox_unknown',
] as const

/** Short stable code of a failed send. */
export type FailureReason = (typeof FAILURE_REASONS)[number] | `status_${number}`

/** Why a send failed, in a few words: the status of an answer, or the words of a code. Never the code itself. */
export function failureWords(t: Translate, reason: string): string {
  const status = /^status_(\d{3})$/.exec(reason)?.[1]
  if (status !== undefined) return status
  const key = `notices:failure.${reason}`
  return t(hasText(key) ? key : 'notices:failure.other')
}
