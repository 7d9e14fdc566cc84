/** Registrations for reward epochs, as the events of the blocks that were read say. */
import { z } from 'zod'
import { Address } from '#src/kernel/units.ts'
import type { ProtocolBlock } from '../reader/round-blocks.ts'

export const RegistrationState = z.object({
  /** Time of the first block from which on every registration was read, epoch seconds; null before it. */
  registrationsSince: z.int().nullable(),
  /** By identity: the last reward epoch for which the provider was registered or removed. */
  registrations: z.record(Address, z.object({ epoch: z.int(), isRegistered: z.boolean() })),
  /** By identity: registrations since the last round. */
  registrationMoments: z.record(Address, z.object({ epoch: z.int(), block: z.int(), at: z.int() })),
})
export type RegistrationState = z.output<typeof RegistrationState>

/** State before the first block. */
export const EMPTY_REGISTRATIONS: RegistrationState = {
  registrationsSince: null,
  registrations: {},
  registrationMoments: {},
}

/** Adds a block: its registrations and removals. */
export function nextRegistrations(state: RegistrationState, block: ProtocolBlock): void {
  state.registrationsSince ??= block.at
  for (const { voter, epoch, isRegistered } of block.registrations) {
    state.registrations[voter] = { epoch, isRegistered }
    if (isRegistered) {
      state.registrationMoments[voter] ??= { epoch, block: block.number, at: block.at }
    }
  }
}

/** Discards the registrations, because a block was skipped or is uncertain: it may have had others. */
export function discardRegistrations(state: RegistrationState): void {
  state.registrationsSince = null
  state.registrations = {}
}
