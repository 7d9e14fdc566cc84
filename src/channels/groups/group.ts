/** The alerts of a message, and their common cause. Pure. */

import { helpText } from '#src/i18n/signal-help.ts'
import { translator } from '#src/i18n/translate.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import { isOwnPayment } from '../card/transfer.ts'
import { hasEnded, worstOf } from '../card/wording.ts'
import type { Cause, Envelope, EnvelopeMessage, MessageField, MessageState } from '../envelope.ts'
import { ALL_DUTIES, dutiesOf } from './duties.ts'

/** Fields that all alerts of a group may share. */
const SHARED_FIELDS: readonly string[] = ['sender', 'from', 'round', 'rounds']
const LABEL_MAX = 80
const VALUE_MAX = 1000

/** A common cause that has its own texts for the damage and for what to do first. */
export type Failure = Exclude<Cause['kind'], 'healthy' | 'moved'>

/** State of one alert of a group. */
export function stateIn({ items }: MessageState, { alertId }: EnvelopeMessage): MessageState {
  return (alertId === null ? undefined : items?.get(alertId)) ?? {}
}

/** The alerts and recoveries of a message. */
export function itemsOf({ message, items = [] }: Envelope): readonly EnvelopeMessage[] {
  return items.length === 0 ? [message] : items
}

/** What readers call the incident of an alert, everywhere; undefined for a test. */
export function numberOf({ incidentId }: Pick<EnvelopeMessage, 'incidentId'>): string | undefined {
  return incidentId === null ? undefined : `#${incidentId}`
}

/** The number of the incident that a message is about; undefined if its alerts are of several. */
export function sharedNumber(items: readonly EnvelopeMessage[]): string | undefined {
  const numbers = new Set(items.map(numberOf))
  return numbers.size === 1 ? [...numbers][0] : undefined
}

/** The alerts of a message that are not over. */
export function openIn(envelope: Envelope, state: MessageState): readonly EnvelopeMessage[] {
  return itemsOf(envelope).filter((item) => !item.isRecovery && !hasEnded(stateIn(state, item)))
}

/** The open alerts of a message that somebody may have to act on: all but the owner's own payments. */
export function actionableIn(envelope: Envelope, state: MessageState): readonly EnvelopeMessage[] {
  return openIn(envelope, state).filter((item) => !isOwnPayment(envelope, item))
}

/** The failure that is the common cause of a message's alerts, while it holds. */
export function failureIn(envelope: Envelope, state: MessageState): Failure | undefined {
  const kind = envelope.cause?.kind
  if (kind === undefined || kind === 'healthy' || kind === 'moved') return undefined
  return isStillCaused(envelope, state) ? kind : undefined
}

/** Whether the common cause of a message's alerts still holds. A move of funds is not undone, so it always holds. */
export function isStillCaused(envelope: Envelope, state: MessageState): boolean {
  const { message, items = [], cause } = envelope
  if (cause?.kind === 'moved') return true
  if (cause === undefined || message.isRecovery || hasEnded(state)) return false
  const duties = cause.kind === 'healthy' ? ALL_DUTIES : dutiesOf(cause.kind)
  return items.every((item) => !duties.includes(item.event) || !hasEnded(stateIn(state, item)))
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
  const open = actionableIn(envelope, state)
  const worst = worstOf(open)
  const failure = failureIn(envelope, state)
  if (worst?.alertId != null && failure !== undefined) {
    return { alertId: worst.alertId, text: t(`messages:group.${failure}Action`) }
  }
  const helped = open.filter(({ source, alertId }) => {
    return source && alertId !== null && helpText(t, source, 'action') !== undefined
  })
  const first = worstOf(helped)
  const text = first?.source && helpText(t, first.source, 'action')
  if (first?.alertId == null || text === undefined) return undefined
  return { alertId: first.alertId, title: first.title, text }
}

/** At most one field that all of them share, such as a sender or a round. */
export function sharedField(items: readonly EnvelopeMessage[]): readonly MessageField[] {
  if (items.length < 2) return []
  for (const key of SHARED_FIELDS) {
    const values = items.map(({ fields }) => fields.find((field) => field.key === key))
    const [first] = values
    if (first !== undefined && values.every((field) => field?.value === first.value)) {
      return [
        {
          ...first,
          label: cutText(first.label, LABEL_MAX),
          value: cutText(first.value, VALUE_MAX),
        },
      ]
    }
  }
  return []
}
