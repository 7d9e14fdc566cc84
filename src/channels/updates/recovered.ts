import { formatAbout, formatDuration } from '#src/i18n/format.ts'
import { translator } from '#src/i18n/translate.ts'
import type { Estimate } from '#src/kernel/outage-figures.ts'
import {
  type Envelope,
  type EnvelopeMessage,
  isOneAlert,
  type MessageState,
  type RecoverySummary,
} from '../envelope.ts'

/**
 * The message of an alert that has recovered, in the past tense; every other one is kept. A reminder or raised
 * severity only says that it is over: what has ended is in the first message and in the recovery.
 */
export function asRecovered(envelope: Envelope, state: MessageState): Envelope {
  const { message, kind } = envelope
  const isItsOwn = isOneAlert(kind) && !message.isRecovery
  if (state.recoveredAt === undefined || !isItsOwn) return envelope
  const isFollowUp = kind === 'raised' || kind === 'reminder'
  const past = pastWords(envelope, isFollowUp ? undefined : state.recovery?.(envelope), {
    rounds: state.lostRounds,
    rewards: state.lostRewards,
  })
  return { ...envelope, message: { ...message, ...past, fields: [] } }
}

/**
 * The texts of an alert that has recovered: that of the recovery, and how much was lost. The fault is described
 * in the past tense, without values, because the values have changed.
 */
export function pastWords(
  { message: { title }, locale }: Pick<Envelope, 'message' | 'locale'>,
  recovery: RecoverySummary | undefined,
  {
    rounds,
    rewards,
  }: { readonly rounds?: number | undefined; readonly rewards?: Estimate | undefined },
): Pick<EnvelopeMessage, 'title' | 'body'> {
  const t = translator(locale)
  const over = t('messages:recovered.over', { title })
  if (recovery === undefined) return { title: over, body: '' }
  const { seconds } = recovery
  const loss = [
    ...(seconds === undefined
      ? []
      : [t('messages:recovered.lasted', { duration: formatDuration(seconds, locale, 'long') })]),
    ...(rounds === undefined ? [] : [t('messages:recovered.rounds', { count: rounds })]),
    ...(rewards === undefined
      ? []
      : [t('messages:recovered.rewards', { amount: formatAbout(rewards, locale) })]),
  ].join(' ')
  return { title: recovery.title, body: [...(loss === '' ? [] : [loss]), over].join('\n') }
}
