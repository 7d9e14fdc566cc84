import { announceSignal } from '../../define.ts'
import { eventsOf } from './events.ts'
import { ROUNDS } from './round-streak.ts'

/** A commit in every voting round. */
export const ftsoCommit = announceSignal({
  id: 'ftso-commit',
  group: 'ftso',
  events: eventsOf('ftso-commit'),
  parameters: [ROUNDS],
})

/** A reveal in the first half of the round that follows. */
export const ftsoReveal = announceSignal({
  id: 'ftso-reveal',
  group: 'ftso',
  events: eventsOf('ftso-reveal'),
  parameters: [ROUNDS],
})

/** A signature of the result in the second half of the round that follows. */
export const ftsoSignature = announceSignal({
  id: 'ftso-signature',
  group: 'ftso',
  events: eventsOf('ftso-signature'),
  parameters: [ROUNDS],
})
