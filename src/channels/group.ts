/** Messages with several alerts of one watch. Pure. */
import { helpText } from '#src/i18n/signal-help.ts'
import { translator } from '#src/i18n/translate.ts'
import { endsSilence, isFailedDuty } from './cause.ts'
import type {
  Envelope,
  EnvelopeMessage,
  MessageField,
  MessageState,
  RecoverySummary,
} from './envelope.ts'
import { hasEnded, worstOf } from './wording.ts'

/** Fields that all alerts of a group may share. */
const SHARED_FIELDS: readonly string[] = ['sender', 'from', 'round', 'rounds']

/** State of one alert of a group. */
export function stateIn({ items }: MessageState, { alertId }: EnvelopeMessage): MessageState {
  return (alertId === null ? undefined : items?.get(alertId)) ?? {}
}

/** The alerts of a message that are not over. */
export function openIn(
  { message, items = [] }: Envelope,
  state: MessageState,
): readonly EnvelopeMessage[] {
  const all = items.length === 0 ? [message] : items
  return all.filter((item) => !item.isRecovery && !hasEnded(stateIn(state, item)))
}

/** Whether the message says that a provider sends nothing: one that sends some of its votes again is not silent. */
export function isStillSilent(envelope: Envelope, state: MessageState): boolean {
  const { message, items = [], cause } = envelope
  if (cause?.kind !== 'silent' || message.isRecovery || hasEnded(state)) return false
  return items.every((item) => !endsSilence(item.event) || !hasEnded(stateIn(state, item)))
}

/**
 * Whether the message may say that the provider is healthy again: each of its alerts has recovered. One that
 * cannot recover, such as a chill, has not.
 */
export function isHealthy(items: readonly EnvelopeMessage[], state: MessageState): boolean {
  return state.closedAt === undefined && items.every((item) => item.isRecovery || item.canRecover)
}

/** What to do first in a group. */
interface GroupHelp {
  readonly alertId: number
  /** Title of the alert whose help it is; undefined for the help of the common cause. */
  readonly title?: string
  readonly text: string
}

/** The help of the common cause of a group, or of its most severe alert that has one. */
export function groupHelp(envelope: Envelope, state: MessageState): GroupHelp | undefined {
  const t = translator(envelope.locale)
  const open = openIn(envelope, state)
  const worst = worstOf(open)
  if (worst?.alertId != null && isStillSilent(envelope, state)) {
    return { alertId: worst.alertId, text: t('messages:group.silentAction') }
  }
  const helped = open.filter(({ source, alertId }) => {
    return source && alertId !== null && helpText(t, source, 'action') !== undefined
  })
  const first = worstOf(helped)
  const text = first?.source && helpText(t, first.source, 'action')
  if (first?.alertId == null || text === undefined) return undefined
  return { alertId: first.alertId, title: first.title, text }
}

/** The recoveries of a group that say how long its outage lasted: those of the duties, if it was a silence. */
export function recoveriesIn(
  envelope: Envelope,
  items: readonly EnvelopeMessage[],
  state: MessageState,
): readonly RecoverySummary[] {
  const isSilence = envelope.cause?.kind === 'silent'
  return items
    .filter(({ event }) => !isSilence || isFailedDuty(event))
    .flatMap((item) => stateIn(state, item).recovery?.(envelope) ?? [])
}

/**
 * Length of an outage and the voting rounds lost in it, as its recoveries state them; empty while unknown.
 */
export function lossOf(
  recoveries: readonly RecoverySummary[],
): Pick<RecoverySummary, 'seconds' | 'rounds'> {
  const seconds = recoveries.flatMap((one) => one.seconds ?? [])
  const rounds = recoveries.flatMap((one) => one.rounds ?? [])
  return {
    ...(seconds.length > 0 && { seconds: Math.max(...seconds) }),
    ...(rounds.length > 0 && { rounds: Math.max(...rounds) }),
  }
}

/** Time of the last recovery of a group. */
export function lastRecovery(
  items: readonly EnvelopeMessage[],
  state: MessageState,
): Date | undefined {
  const times = items.flatMap(({ alertId, isRecovery, firedAt }) => {
    if (isRecovery) return [Date.parse(firedAt)]
    const at = alertId === null ? undefined : state.items?.get(alertId)?.recoveredAt
    return at === undefined ? [] : [at.getTime()]
  })
  if (state.recoveredAt !== undefined) return state.recoveredAt
  return times.length === 0 ? undefined : new Date(Math.max(...times))
}

/** Duration for which all of them have been active; empty if it differs. */
export function sharedBody([first, ...others]: readonly EnvelopeMessage[]): string {
  return first !== undefined && others.every(({ body }) => body === first.body) ? first.body : ''
}

/** At most one field that all of them share, such as a sender or a round. */
export function sharedField(items: readonly EnvelopeMessage[]): readonly MessageField[] {
  if (items.length < 2) return []
  for (const key of SHARED_FIELDS) {
    const values = items.map(({ fields }) => fields.find((field) => field.key === key))
    const [first] = values
    if (first !== undefined && values.every((field) => field?.value === first.value)) return [first]
  }
  return []
}
