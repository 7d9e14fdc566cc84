import { z } from 'zod'
import { Address } from '#src/kernel/units.ts'
import { LongUpdate, TransactionPart } from './observation-model.ts'

/** A refused fast update for more feeds than the FastUpdater accepts. */
const Refusal = LongUpdate.omit({ feedCount: true, isAccepted: true }).extend({
  /** Block for which the provider signed it. */
  sortitionBlock: z.int(),
})

/** State carried from round to round, stored with the progress of reading. */
export const CarriedState = z.object({
  /**
   * Number of blocks read so far: silences are counted in these blocks, so they do not grow while no block
   * is read.
   */
  blocksRead: z.int(),
  /** Time of the first block from which on no block was skipped, epoch seconds; null before it. */
  readSince: z.int().nullable(),
  /** Time of the first block from which on every registration was read, epoch seconds; null before it. */
  registrationsSince: z.int().nullable(),
  /** By identity: the last reward epoch for which the provider was registered or removed. */
  registrations: z.record(Address, z.object({ epoch: z.int(), isRegistered: z.boolean() })),
  /** By identity: registrations since the last round. */
  registrationMoments: z.record(Address, z.object({ epoch: z.int(), block: z.int(), at: z.int() })),
  /** Current and former addresses of voter registries and Relays, by registry name. */
  contracts: z.record(z.string(), z.array(Address)),
  /** Expected fast updates per block, as last read; null before the first reading. */
  sampleSize: z.number().nullable(),
  /** Number of feeds of fast updates, as last read; null before the first reading. */
  feedCount: z.int().nullable(),
  /** The FastUpdater's submission window in blocks, as last read; null before the first reading. */
  submissionWindow: z.int().nullable(),
  /** By identity: the fast update since the last round that covers the most feeds. */
  longest: z.record(Address, LongUpdate.omit({ feedCount: true })),
  /** By identity: the newest sortition block of an update that was refused for its length. */
  refused: z.record(Address, z.int()),
  /** By identity: updates that were refused and are too long, not yet judged by the submission window. */
  refusals: z.record(Address, z.array(Refusal)),
  /** By identity: the longest silence ended by an update since the last round. */
  peaks: z.record(
    Address,
    z.object({
      exponent: z.number(),
      blocks: z.int(),
      /** Number of blocks of the silence that are not in the exponent yet. */
      pending: z.int(),
      lastUpdateBlock: z.int().nullable(),
      lastUpdateAt: z.int().nullable(),
      /** Block number of the update. */
      block: z.int(),
      at: z.int(),
    }),
  ),
  /** By identity: silence of fast updates up to the last round, and time of the last update. */
  silence: z.record(
    Address,
    z.object({
      exponent: z.number(),
      blocks: z.int(),
      lastUpdateBlock: z.int().nullable(),
      /** Time of the last update, epoch seconds. */
      lastUpdateAt: z.int().nullable(),
      /** Value of `blocksRead` up to which blocks are in the sum. */
      countedTo: z.int(),
    }),
  ),
  /**
   * By identity: the provider's accounts for fast updates, with the time of their last update, epoch
   * seconds.
   */
  senders: z.record(Address, z.record(Address, z.int())),
  /** By identity: number of the provider's recent fast updates, in total and by account. */
  updates: z.record(Address, z.object({ total: z.int(), byAccount: z.record(Address, z.int()) })),
  /** By identity: calls since the last round. */
  calls: z.record(Address, z.array(TransactionPart)),
  /** Time up to which polls of validators are counted; null before the first poll. */
  pollsTo: z.iso.datetime().nullable(),
  /** By node: polls since the last round. `absentPolls` counts the latest consecutive ones. */
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

/** State before the first block. */
export const EMPTY_STATE: CarriedState = {
  blocksRead: 0,
  readSince: null,
  registrationsSince: null,
  registrations: {},
  registrationMoments: {},
  contracts: {},
  sampleSize: null,
  feedCount: null,
  submissionWindow: null,
  longest: {},
  refused: {},
  refusals: {},
  peaks: {},
  silence: {},
  senders: {},
  updates: {},
  calls: {},
  pollsTo: null,
  polls: {},
}
