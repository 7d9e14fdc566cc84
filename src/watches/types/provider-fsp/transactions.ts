import { announceSignal, type Parameter } from '../../define.ts'
import { eventsOf } from './events.ts'

/** Whole FLR below which an address counts as low. @see product decisions, 13.7 */
const MINIMUM_FLR: Parameter = {
  key: 'minimumFlr',
  type: 'integer',
  default: 25,
  min: 1,
  max: 100_000,
  step: 1,
}

/** A protocol transaction that was reverted. */
export const txFailed = announceSignal({
  id: 'tx-failed',
  group: 'transactions',
  events: eventsOf('tx-failed'),
})

/** An address that pays for transactions and runs out of FLR. */
export const balanceLow = announceSignal({
  id: 'balance-low',
  group: 'transactions',
  events: eventsOf('balance-low'),
  defaultEnabled: false,
  parameters: [MINIMUM_FLR],
})

/** Rewards that wait to be claimed, and expire. */
export const rewardsUnclaimed = announceSignal({
  id: 'rewards-unclaimed',
  group: 'transactions',
  events: eventsOf('rewards-unclaimed'),
  defaultEnabled: false,
})
