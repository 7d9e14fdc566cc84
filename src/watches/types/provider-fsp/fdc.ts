import { announceSignal } from '../../define.ts'
import { eventsOf } from './events.ts'
import { ROUNDS } from './round-streak.ts'

/** A bit vote in every voting round with attestation requests. */
export const fdcBitvote = announceSignal({
  id: 'fdc-bitvote',
  group: 'fdc',
  events: eventsOf('fdc-bitvote'),
  parameters: [ROUNDS],
})

/** A signature of the result of such a round. */
export const fdcSignature = announceSignal({
  id: 'fdc-signature',
  group: 'fdc',
  events: eventsOf('fdc-signature'),
  parameters: [ROUNDS],
})

/** FDC data in `submit1`, where nothing reads it. */
export const fdcSubmit1 = announceSignal({
  id: 'fdc-submit1',
  group: 'fdc',
  events: eventsOf('fdc-submit1'),
})

/** Bit votes for another number of requests than the round had. */
export const fdcBitvoteLength = announceSignal({
  id: 'fdc-bitvote-length',
  group: 'fdc',
  events: eventsOf('fdc-bitvote-length'),
  defaultEnabled: false,
  parameters: [ROUNDS],
})

/** Bit votes that lack requests of the consensus. */
export const fdcConsensus = announceSignal({
  id: 'fdc-consensus',
  group: 'fdc',
  events: eventsOf('fdc-consensus'),
  defaultEnabled: false,
  parameters: [ROUNDS],
})
