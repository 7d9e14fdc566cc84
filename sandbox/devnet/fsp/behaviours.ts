/** Every fault of a provider, with its effect. */
export const BEHAVIOURS = {
  silent: 'submits nothing at all',
  'no-commit': 'submits no hash of its prices',
  'no-reveal': 'commits and never reveals',
  'no-signature': 'signs no results',
  'late-commit': 'commits five seconds after the round',
  'late-reveal': 'reveals after the deadline',
  'early-reveal': 'reveals before the round is over',
  'early-signature': 'signs before signatures count',
  'grace-signature': 'signs after the grace period and after the round is final',
  'wrong-length': 'commits with 31 bytes instead of 32',
  'malformed-reveal': 'reveals a number of bytes that are no prices',
  'reveal-mismatch': 'reveals other prices than it committed to',
  'few-values': 'reveals a price for every second feed',
  'too-many-values': 'reveals more prices than there are feeds',
  'wrong-key': 'signs results with another key',
  'other-result': 'signs another result than everybody else',
  'former-digest': 'signs the digest of the former Relay, which is no fault for a watch',
  'no-bit-vote': 'sends no bit vote',
  'wrong-bit-vote-length': 'votes on one attestation request more than there is',
  'bit-vote-against-consensus': 'confirms fewer attestation requests than everybody else',
  'no-fdc-signature': 'sends a bit vote and does not sign its result',
  'former-submission': 'submits everything to the former Submission contract',
  'fdc-in-submit1': 'sends data for attestations with its commit',
  'failing-transactions': 'sends another commit in each round, with too little gas',
  'normal-reverts': 'finalises each round a second time, which reverts and is no fault',
  'no-fast-updates': 'sends no fast updates',
  'long-fast-updates':
    'sends fast updates for more feeds than there are; the contract accepts them',
  'refused-fast-updates': 'sends fast updates that are too long for the contract',
  unregistered: 'does not register',
  'late-registration': 'registers twenty minutes after registration opens',
  'not-in-policy': 'registers, and is removed from the voters before registration ends',
  'misses-uptime-vote': 'does not vote on uptime',
  'misses-rewards-vote': 'does not vote on rewards',
  'other-vote': 'votes for other hashes of uptime and rewards',
  'low-balance': 'has three FLR left to submit with',
  'unclaimed-rewards': 'does not claim its rewards',
  'validator-gone': 'has a validator that is not there any more',
  'validator-offline': 'has a validator that is not connected',
  'anchors-out-of-band': 'reveals prices two hundredths too high',
  'changed-submit-address': 'submits from another address, from the next reward epoch on',
  'not-eligible': 'gets no rewards in the next data set',
} as const

/** A fault of a provider. */
export type Behaviour = keyof typeof BEHAVIOURS

/** Mutually exclusive faults. */
const REGISTRATION: readonly Behaviour[] = ['unregistered', 'late-registration', 'not-in-policy']

/** Starts a fault, and ends the faults that exclude it. */
export function startFault(all: Set<Behaviour>, behaviour: Behaviour): void {
  if (REGISTRATION.includes(behaviour)) for (const other of REGISTRATION) all.delete(other)
  all.add(behaviour)
}
