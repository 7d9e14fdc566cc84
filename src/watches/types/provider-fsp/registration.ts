import { announceSignal, type Parameter } from '../../define.ts'
import { eventsOf } from './events.ts'

/** Minutes from the opening of registration to the alert. @see specification, "Parameters" */
const MINUTES: Parameter = {
  key: 'minutes',
  type: 'integer',
  default: 15,
  min: 1,
  max: 1440,
  step: 1,
}

/** Registration for the next reward epoch. @see specification, "Evaluation rules", 8 */
export const registration = announceSignal({
  id: 'registration',
  group: 'registration',
  events: eventsOf('registration'),
  parameters: [MINUTES],
})

/** A signing policy without the provider. */
export const notInPolicy = announceSignal({
  id: 'not-in-policy',
  group: 'registration',
  events: eventsOf('not-in-policy'),
})

/** Minimal condition: prices close to the median. */
export const mcAnchor = announceSignal({
  id: 'mc-anchor',
  group: 'registration',
  events: eventsOf('mc-anchor'),
  defaultEnabled: false,
})

/** Minimal condition: participation in the FDC. */
export const mcFdc = announceSignal({
  id: 'mc-fdc',
  group: 'registration',
  events: eventsOf('mc-fdc'),
  defaultEnabled: false,
})

/** Minimal condition: uptime of the validators. */
export const mcUptime = announceSignal({
  id: 'mc-uptime',
  group: 'registration',
  events: eventsOf('mc-uptime'),
  defaultEnabled: false,
})

/** A node that is no current validator. */
export const validatorNotListed = announceSignal({
  id: 'validator-not-listed',
  group: 'registration',
  events: eventsOf('validator-not-listed'),
  defaultEnabled: false,
})
