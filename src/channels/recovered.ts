import { formatDuration } from '#src/i18n/format.ts'
import { translator } from '#src/i18n/translate.ts'
import { type Envelope, isOneAlert, type MessageState } from './envelope.ts'

/**
 * The message of an alert that has recovered: it has the text of the recovery and says how much was lost. The
 * fault is described in the past tense, without values, because the values have changed.
 */
export function asRecovered(envelope: Envelope, state: MessageState): Envelope {
  const { message, locale } = envelope
  const isItsOwn = isOneAlert(envelope.kind) && !message.isRecovery && state.flapping === undefined
  if (state.recoveredAt === undefined || !isItsOwn) return envelope
  const t = translator(locale)
  const { title } = message
  const recovery = state.recovery?.(envelope)
  const { seconds, rounds } = recovery ?? {}
  const loss = [
    ...(seconds === undefined
      ? []
      : [t('messages:recovered.lasted', { duration: formatDuration(seconds, locale, 'long') })]),
    ...(rounds === undefined ? [] : [t('messages:recovered.rounds', { count: rounds })]),
  ].join(' ')
  const before = recovery === undefined ? [] : [t('messages:recovered.over', { title })]
  return {
    ...envelope,
    message: {
      ...message,
      title: recovery?.title ?? t('messages:recovered.over', { title }),
      body: [...(loss === '' ? [] : [loss]), ...before].join('\n'),
      fields: [],
    },
  }
}
