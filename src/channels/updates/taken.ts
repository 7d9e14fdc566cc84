import { formatDuration } from '#src/i18n/format.ts'
import { translator } from '#src/i18n/translate.ts'
import { type Envelope, isOneAlert, type MessageState } from '../envelope.ts'

/** An escalated alert. Once somebody has acknowledged it, its text no longer says that nobody has. */
export function asTaken(envelope: Envelope, { acknowledged }: MessageState): Envelope {
  const { unacknowledgedSeconds: seconds, kind, locale, message } = envelope
  if (acknowledged === undefined || seconds === undefined || !isOneAlert(kind)) return envelope
  const duration = formatDuration(seconds, locale, 'long')
  const note = translator(locale)('messages:escalated', { duration })
  const body = message.body.split('\n').filter((line) => line !== note)
  return { ...envelope, message: { ...message, body: body.join('\n') } }
}
