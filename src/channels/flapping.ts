import { formatTimeOn } from '#src/i18n/format.ts'
import { hasText, translator } from '#src/i18n/translate.ts'
import type { Envelope, MessageState } from './envelope.ts'
import { shownAtOf } from './wording.ts'

/**
 * The message of an alert whose signal is flapping: it says so and counts the changes, in place of the first
 * event. Other messages stay unchanged.
 */
export function asFlapping(envelope: Envelope, state: MessageState): Envelope {
  const { flapping } = state
  if (flapping === undefined) return envelope
  const { locale, timezone, type, signal, message } = envelope
  const t = translator(locale)
  const key = `signals:${type}.${signal}.label`
  const since = formatTimeOn(flapping.since, locale, timezone, {
    offset: true,
    isPhrase: true,
    shownAt: shownAtOf(envelope, state),
  })
  const title = t('messages:flapping.head', { signal: hasText(key) ? t(key) : message.title })
  const body = t('messages:flapping.changes', { count: flapping.changes, since })
  return { ...envelope, message: { ...message, title, body } }
}
