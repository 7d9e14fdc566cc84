import { translator } from '#src/i18n/translate.ts'
import { type Envelope, isOneAlert, type MessageState } from '../envelope.ts'

/** The message of an alert with its figures of now, or of its end: those that it was sent with have grown since. */
export function asCurrent(envelope: Envelope, state: MessageState): Envelope {
  const { kind, locale, message, answered } = envelope
  const isShown = isOneAlert(kind) && !message.isRecovery && !message.test
  const now = isShown ? state.current?.(envelope) : undefined
  if (now === undefined) return envelope
  const isReminder = kind === 'reminder'
  const title = isReminder
    ? translator(locale)('messages:reminder.head', { title: now.title })
    : now.title
  return {
    ...envelope,
    data: now.data,
    message: { ...message, title, fields: now.fields },
    ...(isReminder && answered && { answered: { ...answered, title: now.title } }),
  }
}
