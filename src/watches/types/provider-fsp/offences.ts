import { announceSignal } from '../../define.ts'
import { eventsOf } from './events.ts'

/** A reveal that does not match its commit. @see specification, "Evaluation rules", 6 */
export const revealOffence = announceSignal({
  id: 'reveal-offence',
  group: 'offences',
  events: eventsOf('reveal-offence'),
})

/** A signature by another key than the provider's. */
export const signatureMismatch = announceSignal({
  id: 'signature-mismatch',
  group: 'offences',
  events: eventsOf('signature-mismatch'),
})

/** A signature too late to be rewarded. */
export const signatureGrace = announceSignal({
  id: 'signature-grace',
  group: 'offences',
  events: eventsOf('signature-grace'),
})

/** A bit vote that covers the consensus, without the signature. */
export const fdcRevealOffence = announceSignal({
  id: 'fdc-reveal-offence',
  group: 'offences',
  events: eventsOf('fdc-reveal-offence'),
  defaultEnabled: false,
})
