import { TELEGRAM_REASONS } from '#src/telegram/errors.ts'

/** Codes of failed sends, without those of answers with other statuses. Each has a text (`failure-words.ts`). */
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
