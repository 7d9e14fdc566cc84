import type { Severity } from '#src/kernel/display-values.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import { findEventSource } from '../events.ts'

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
 * Severity of an event without further data, for previews and tests. Evaluators raise it for long streaks,
 * large moves and low balances.
 *
 * @param data data of the event, if the severity depends on it
 */
export function usualSeverity(event: string, data: JsonObject = {}): Severity {
  if (findEventSource(event)?.isRecovery === true || INFO.has(event)) return 'info'
  if (CRITICAL.has(event)) return 'critical'
  if (event === 'wallet-balance.moved') {
    return data['direction'] === 'incoming' ? 'info' : 'warning'
  }
  // A missing reveal after a commit is penalised.
  return event === 'fsp.ftso-reveal' && data['commitPresent'] === true ? 'critical' : 'warning'
}
