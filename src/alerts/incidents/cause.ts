/** Which alerts of one watch have one cause, and so belong to one incident. Pure. */
import { REGISTRY as WATCH_TYPES } from '#src/watches/types/index.ts'

/** Groups of signals about what a data provider does in every voting round: one fault lets several of them fire. */
const DUTY_GROUPS: readonly (string | null)[] = ['ftso', 'fdc', 'offences', 'fast-updates']
/** Signals of other groups that fire because of such a fault, or are its reason. */
const DUTY_SIGNALS: readonly (string | null)[] = ['not-in-policy', 'tx-failed']

/** Causes of which a signal with a recovery is one: another alert may find their incident open. */
const LASTING: ReadonlySet<string> = new Set(
  WATCH_TYPES.flatMap(({ signals }) =>
    signals.flatMap(({ id: signal, group, events }) =>
      events.recovery === undefined ? [] : [causeOf({ signal, group })],
    ),
  ),
)

/** The fields of an alert that tell its cause. */
interface Caused {
  readonly signal: string | null
  readonly group: string | null
}

/**
 * Name of the cause of an alert within its watch: `duties` for all that a provider fails to do round by round, else the
 * signal itself. A chain outage has no signal.
 */
export function causeOf({ signal, group }: Caused): string {
  const isDuty = DUTY_GROUPS.includes(group) || DUTY_SIGNALS.includes(signal)
  return isDuty ? 'duties' : `${signal ?? ''}`
}

/** Whether an incident with this cause can last, so that further alerts may join it. */
export function canLast(cause: string): boolean {
  return cause === '' || LASTING.has(cause)
}
