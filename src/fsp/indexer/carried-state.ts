import { z } from 'zod'
import { Address } from '#src/kernel/units.ts'
import { TransactionPart } from './observation.ts'

/** What goes on from round to round, stored with how far rounds have been read. */
export const CarriedState = z.object({
  /** Blocks read so far: the clock of silence, which stands still while nothing is read. */
  blocksRead: z.int(),
  /** The first block since when none was left out, epoch seconds; null before it. */
  readSince: z.int().nullable().default(null),
  /** The first block since when every registration was read, epoch seconds; null before it. */
  registrationsSince: z.int().nullable().default(null),
  /** By identity: the last reward epoch it was registered for, or removed from. */
  registrations: z
    .record(Address, z.object({ epoch: z.int(), isRegistered: z.boolean() }))
    .default({}),
  /** By identity: registrations since the last round. */
  registrationMoments: z
    .record(Address, z.object({ epoch: z.int(), block: z.int(), at: z.int() }))
    .default({}),
  /** Addresses that registries of voters and Relays have or had, by registry name. */
  contracts: z.record(z.string(), z.array(Address)).default({}),
  /** Fast updates expected a block, as last read; null: never read. */
  sampleSize: z.number().nullable().default(null),
  /** By identity: the longest silence that an update ended since the last round. */
  peaks: z
    .record(
      Address,
      z.object({
        exponent: z.number(),
        blocks: z.int(),
        /** Blocks of it that are not in the exponent yet. */
        pending: z.int(),
        lastUpdateBlock: z.int().nullable(),
        lastUpdateAt: z.int().nullable(),
        /** The block of the update. */
        block: z.int(),
        at: z.int(),
      }),
    )
    .default({}),
  /** By identity: silence of fast updates up to the last round, and when the last one came. */
  silence: z.record(
    Address,
    z.object({
      exponent: z.number(),
      blocks: z.int(),
      lastUpdateBlock: z.int().nullable(),
      /** When that was, epoch seconds. */
      lastUpdateAt: z.int().nullable().default(null),
      /** `blocksRead` up to which blocks are in the sum. */
      countedTo: z.int(),
    }),
  ),
  /** By identity: its accounts for fast updates, and when each sent the last one, epoch seconds. */
  senders: z.record(Address, z.record(Address, z.int())),
  /** By identity: its fast updates of late, and how many of them each account sent. */
  updates: z
    .record(Address, z.object({ total: z.int(), byAccount: z.record(Address, z.int()) }))
    .default({}),
  /** By identity: what was called since the last round. */
  calls: z.record(Address, z.array(TransactionPart)),
  /** Up to which time polls of validators are counted; null before the first. */
  pollsTo: z.iso.datetime().nullable().default(null),
  /** By node: polls since the last round. `absentPolls` counts those in a row. */
  polls: z.record(
    z.string(),
    z.object({
      polls: z.int(),
      connectedPolls: z.int(),
      absentPolls: z.int(),
      endsAt: z.int().nullable(),
    }),
  ),
})
export type CarriedState = z.output<typeof CarriedState>

/** Nothing read yet. */
export const EMPTY_STATE: CarriedState = {
  blocksRead: 0,
  readSince: null,
  registrationsSince: null,
  registrations: {},
  registrationMoments: {},
  contracts: {},
  sampleSize: null,
  peaks: {},
  silence: {},
  senders: {},
  updates: {},
  calls: {},
  pollsTo: null,
  polls: {},
}
