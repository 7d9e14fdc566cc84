import { isAtLeast, type Severity, worstSeverity } from '#src/kernel/display-values.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import { findEventSource } from '../events.ts'
import { exampleData } from '../example-data.ts'
import type { UnaddressedWatch } from '../model.ts'
import type { Firing, Signal } from '../signal.ts'
import { getWatchType } from '../types/index.ts'
import { lowBalanceSeverity } from '../types/provider-fsp/balances.ts'

const INFO = new Set(['fsp.rewards-unclaimed'])
const CRITICAL = new Set([
  'provider.unregistered',
  'provider.eligibility-lost',
  'signing.missed',
  'fsp.registration',
  'fsp.not-in-policy',
  'fsp.signature-mismatch',
  'fsp.reveal-offence',
  'fsp.fdc-reveal-offence',
  'fsp.validator-not-listed',
])

/**
 * Severity of an event without further data, for previews and tests. Evaluators raise it for long streaks and large
 * moves.
 *
 * @param data data of the event, if the severity depends on it
 */
export function usualSeverity(event: string, data: JsonObject = {}): Severity {
  if (findEventSource(event)?.isRecovery === true || INFO.has(event)) return 'info'
  if (CRITICAL.has(event)) return 'critical'
  if (event === 'wallet-balance.moved') {
    return data['direction'] === 'incoming' ? 'info' : 'warning'
  }
  return isCriticalByData(event, data) ? 'critical' : 'warning'
}

function isCriticalByData(event: string, data: JsonObject): boolean {
  switch (event) {
    // A missing reveal after a commit is penalised.
    case 'fsp.ftso-reveal':
      return data['commitPresent'] === true
    // An update for too many feeds is no silence.
    case 'fsp.fast-updates':
      return data['rule'] === 'probability' && data['reason'] === undefined
    case 'fsp.balance-low': {
      const balance = String(data['balanceWei'])
      return /^\d+$/.test(balance) && lowBalanceSeverity(BigInt(balance)) === 'critical'
    }
    default:
      return false
  }
}

/**
 * Severity of an example alert of a watch: the usual one. If the watch sends only higher ones and the signal can be
 * critical, it is the lowest that the watch sends.
 */
export function exampleSeverity(
  signal: Pick<Signal, 'canBeCritical'>,
  { event, data, minSeverity }: Pick<Firing, 'event' | 'data'> & { readonly minSeverity: Severity },
): Severity {
  const usual = usualSeverity(event, data)
  return signal.canBeCritical && !isAtLeast(usual, minSeverity) ? minSeverity : usual
}

/** Highest severity that an alert of the watch's enabled signals can have; undefined if no signal is enabled. */
export function highestSeverity(
  watch: Pick<UnaddressedWatch, 'type' | 'target' | 'settings' | 'signals' | 'lastObservation'>,
): Severity | undefined {
  const type = getWatchType(watch.type)
  const possible = watch.signals.flatMap(({ id, enabled, parameters }): readonly Severity[] => {
    const signal = type.signals.find((entry) => entry.id === id)
    if (signal === undefined || !enabled) return []
    if (signal.canBeCritical) return ['critical']
    const about = { ...watch, parameters, observation: watch.lastObservation }
    return signal.events.alerts.map((event) =>
      usualSeverity(event, exampleData(type, signal, event, about, NO_TIME)),
    )
  })
  return worstSeverity(possible)
}

/** Time of an example of which only the severity is read. */
const NO_TIME = new Date(0)
