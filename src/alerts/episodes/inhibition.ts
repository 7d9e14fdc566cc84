/**
 * Inhibition: an alert that is only a consequence of another alert is recorded, but not sent while its
 * cause is open. If the consequence is still open when the cause ends, it is sent then. Pure.
 *
 * Cause and consequence belong to one wallet. A chain outage inhibits alerts of the same watch; a failure
 * of a provider inhibits alerts of every watch on that provider, identified by `provider` in the data of
 * both.
 */
import type { Address, JsonObject } from '#src/kernel/units.ts'
import { REGISTRY as WATCH_TYPES } from '#src/watches/types/index.ts'

/** The fields of an alert that inhibition needs. */
export interface ActiveAlertRef {
  readonly wallet: Address
  readonly watchId: number
  readonly signal: string | null
  readonly event: string
  readonly data: JsonObject
}

/** Signals that count bad voting rounds in a row. */
const STREAKS: ReadonlySet<string> = new Set(
  WATCH_TYPES.flatMap(({ signals }) =>
    signals.filter(({ parameters }) => parameters.some(({ key }) => key === 'rounds')),
  ).map(({ id }) => id),
)
/** Signals that are always bad for a provider that is not registered or not in the signing policy. */
const VOTING: ReadonlySet<string> = new Set([
  'ftso-commit',
  'ftso-reveal',
  'ftso-signature',
  'fdc-bitvote',
  'fdc-signature',
])

type Rule = (cause: ActiveAlertRef, consequence: ActiveAlertRef) => boolean

const noVoting: Rule = (cause, consequence) =>
  isOneOf(VOTING, consequence) && concernSameProvider(cause, consequence)

const RULES: Readonly<Record<string, Rule>> = {
  'fsp.monitoring': (cause, consequence) =>
    isOneOf(STREAKS, consequence) && cause.watchId === consequence.watchId,
  'fsp.not-in-policy': noVoting,
  'provider.unregistered': noVoting,
  'fsp.reveal-offence': (cause, consequence) =>
    consequence.signal === 'ftso-reveal' &&
    concernSameProvider(cause, consequence) &&
    haveCommonRound(cause.data, consequence.data),
}

/** Whether an alert with this event can inhibit others. */
export function isCause(event: string): boolean {
  return Object.hasOwn(RULES, event)
}

/** Finds the open alert that inhibits an alert; undefined if there is none. */
export function findCause<One extends ActiveAlertRef>(
  alert: ActiveAlertRef,
  open: readonly One[],
): One | undefined {
  return open.find(
    (cause) => cause.wallet === alert.wallet && RULES[cause.event]?.(cause, alert) === true,
  )
}

function isOneOf(signals: ReadonlySet<string>, { signal }: ActiveAlertRef): boolean {
  return signal !== null && signals.has(signal)
}

/** Whether both are of one watch, or have the same `provider` in their data. */
function concernSameProvider(cause: ActiveAlertRef, consequence: ActiveAlertRef): boolean {
  const provider = providerOf(cause)
  return (
    cause.watchId === consequence.watchId ||
    (provider !== undefined && provider === providerOf(consequence))
  )
}

function providerOf({ data: { provider } }: ActiveAlertRef): string | undefined {
  return typeof provider === 'string' ? provider.toLowerCase() : undefined
}

/** The voting rounds of an alert: from the first bad round to the round in which it fired. */
function roundsOf({ votingRoundId: last, firstRoundId: first }: JsonObject): Rounds | undefined {
  if (typeof last !== 'number') return undefined
  return { first: typeof first === 'number' ? first : last, last }
}

function haveCommonRound(data: JsonObject, otherData: JsonObject): boolean {
  const [a, b] = [roundsOf(data), roundsOf(otherData)]
  return a !== undefined && b !== undefined && a.first <= b.last && b.first <= a.last
}

interface Rounds {
  readonly first: number
  readonly last: number
}
