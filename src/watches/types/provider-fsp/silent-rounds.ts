/** Rounds in which a provider sent nothing at all. Pure. */
import { checkOf, type ProviderObservation } from '#src/fsp/indexer/observation-model.ts'
import type { RoundCheck } from '#src/fsp/protocol/verdict.ts'

/** Duties of every voting round. */
const ALWAYS: readonly RoundCheck[] = ['commit', 'reveal', 'signature']
/** Duties of a voting round with attestation requests. */
const ON_REQUEST: readonly RoundCheck[] = ['bitVote', 'fdcSignature']
/**
 * Silent rounds in a row from which on an alert about a duty is critical. A single silent round can be a
 * restart of the provider.
 */
const ROUNDS_MIN = 2

/**
 * Whether a round proves that the provider was silent: every duty of the FTSO was missed, and so was each
 * duty of the FDC that was observed. A submission that is late or malformed is not silence.
 */
export function isSilentRound(observation: ProviderObservation): boolean {
  if (observation.isPast) return false
  const isMissed = (name: RoundCheck) => {
    const { verdict, values } = checkOf(observation, name)
    return verdict === 'bad' && values?.['reason'] === 'missing'
  }
  const isObserved = (name: RoundCheck) =>
    ['good', 'bad'].includes(checkOf(observation, name).verdict)
  return ALWAYS.every(isMissed) && ON_REQUEST.filter(isObserved).every(isMissed)
}

/** Whether a check is a duty in every round, or in every round with attestation requests. */
export function isDuty(name: RoundCheck): boolean {
  return ALWAYS.includes(name) || ON_REQUEST.includes(name)
}

/**
 * Whether this many silent rounds in a row make an alert critical: as many as the alert needs, and more than
 * one.
 *
 * @param rounds bad rounds in a row before an alert
 */
export function isLongSilence(silent: number, rounds: number): boolean {
  return silent >= Math.max(rounds, ROUNDS_MIN)
}
