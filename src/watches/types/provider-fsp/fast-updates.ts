import { announceSignal, type Parameter } from '../../define.ts'
import { eventsOf } from './events.ts'

/** How unlikely the silence must be for a provider that works. @see specification, "Parameters" */
const PROBABILITY: Parameter = {
  key: 'probability',
  type: 'number',
  default: 1e-7,
  min: 1e-15,
  max: 0.1,
}

/** Whether 1% of a reward epoch's blocks without an update are worth a warning. */
const WARNING_ENABLED: Parameter = { key: 'warningEnabled', type: 'boolean', default: false }

/** Silence in fast updates that chance does not explain. @see specification, "Evaluation rules", 7 */
export const fastUpdates = announceSignal({
  id: 'fast-updates',
  group: 'fast-updates',
  events: eventsOf('fast-updates'),
  parameters: [PROBABILITY, WARNING_ENABLED],
})
