import { sql } from 'drizzle-orm'
import {
  boolean,
  check,
  index,
  integer,
  jsonb,
  numeric,
  pgTable,
  primaryKey,
  smallint,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core'

/**
 * The slice that a target belongs to, from 0 to 31 (`SLICES`). Targets with equal keys are in one
 * slice, whatever their type, so that one process judges all watches of a provider, causes before
 * consequences.
 */
export const sliceOfKey = sql`(get_byte(decode(md5(key), 'hex'), 0) % 32)`

/** One row per distinct target, shared by all its watches. */
export const targets = pgTable(
  'targets',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    type: text('type').notNull(),
    /** Canonical JSON of the encoded target: equal targets have equal keys. */
    key: text('key').notNull(),
    target: jsonb('target').notNull().$type<unknown>(),
    /** The settings of its watches that decide what is observed; null for types without such settings. */
    keySettings: jsonb('key_settings').$type<unknown>(),
    /** Number of watches that are not deleted. A target without watches is not observed. */
    watchCount: integer('watch_count').notNull(),
    /** The last observation, encoded by its watch type. */
    observation: jsonb('observation').$type<unknown>(),
    /** Summary of all watches on the target by the type's prefilter, as of the last observation. */
    summary: jsonb('summary').$type<unknown>(),
    observedAt: timestamp('observed_at', { withTimezone: true }),
    /**
     * Time at which the target is evaluated even without a change, because the cooldown of a deferred alert
     * ends.
     */
    recheckAt: timestamp('recheck_at', { withTimezone: true }),
    /**
     * Whether a watch joined or changed since the last observation; then the target is evaluated even
     * without a change.
     */
    mustJudge: boolean('must_judge').notNull(),
    /** Time since which the chain gave no answer for this target. */
    noDataSince: timestamp('no_data_since', { withTimezone: true }),
  },
  (table) => [
    uniqueIndex('targets_type_key').on(table.type, table.key),
    index('targets_type').on(table.type, table.id),
    index('targets_to_judge').on(table.type, table.id).where(sql`must_judge`),
    index('targets_unwatched').on(table.id).where(sql`watch_count = 0`),
    index('targets_slice').on(table.type, sliceOfKey, table.id),
    index('targets_no_data').on(table.type, table.id).where(sql`no_data_since is not null`),
  ],
)

export const watches = pgTable(
  'watches',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    wallet: text('wallet').notNull(),
    type: text('type').notNull(),
    targetId: integer('target_id')
      .notNull()
      .references(() => targets.id),
    label: text('label').notNull(),
    /** Settings, encoded by the watch type. */
    settings: jsonb('settings').notNull().$type<unknown>(),
    /** Differences from the defaults: [{ id, enabled?, recovery?, parameters? }]. */
    signals: jsonb('signals').notNull().$type<unknown>(),
    recipientIds: integer('recipient_ids').array(),
    minSeverity: text('min_severity').notNull(),
    /**
     * Minutes without an acknowledgement after which an alert is sent to `escalateTo`, too; null: never.
     */
    escalateAfterMinutes: integer('escalate_after_minutes'),
    /** Ids of recipients of the wallet. */
    escalateTo: integer('escalate_to').array().notNull().default([]),
    cooldownSeconds: integer('cooldown_seconds').notNull(),
    /** Requested status: active or paused. */
    status: text('status').notNull(),
    /** Time since which the watch has no slot, whatever the requested status. */
    suspendedAt: timestamp('suspended_at', { withTimezone: true }),
    mutedUntil: timestamp('muted_until', { withTimezone: true }),
    /** Start of the mute; null where the watch is not muted. */
    mutedSince: timestamp('muted_since', { withTimezone: true }),
    /** Number of changes, used as ETag. */
    version: integer('version').notNull(),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull(),
  },
  (table) => [
    index('watches_wallet').on(table.wallet, table.id),
    index('watches_target').on(table.targetId, table.id),
    check(
      'watches_mute_has_start',
      sql`(${table.mutedUntil} is null) = (${table.mutedSince} is null)`,
    ),
    index('watches_muted').on(table.mutedUntil).where(sql`muted_until is not null`),
  ],
)

export const signalStates = pgTable(
  'signal_states',
  {
    watchId: integer('watch_id')
      .notNull()
      .references(() => watches.id, { onDelete: 'cascade' }),
    signal: text('signal').notNull(),
    /** State, encoded by the schema of the signal. */
    state: jsonb('state').notNull().$type<unknown>(),
    phase: text('phase').notNull(),
    since: timestamp('since', { withTimezone: true }).notNull(),
    streak: integer('streak'),
    /** Severity of the open episode. */
    severity: text('severity'),
    lastEvidenceAt: timestamp('last_evidence_at', { withTimezone: true }).notNull(),
    lastFiredAt: timestamp('last_fired_at', { withTimezone: true }),
    /** The newest times at which the signal began and ceased to fire, also untold: an odd number while it fires. */
    changes: timestamp('changes', { withTimezone: true }).array().notNull(),
    /** End of the cooldown that frequent changes imposed. */
    cooldownUntil: timestamp('cooldown_until', { withTimezone: true }),
  },
  (table) => [
    primaryKey({ columns: [table.watchId, table.signal] }),
    index('signal_states_outage').on(table.watchId).where(sql`signal = ''`),
  ],
)

/** Name of the row of `observation_cursors`, and of `published_blocks`, that is about the tip of the chain. */
export const TIP_CURSOR = 'chain'

/**
 * Progress of observation by watch type. One row per type, so that a tick at which nothing changed writes no row of a
 * target. The row `chain` is about the tip of the chain. The blocks of types are written with those of their slices;
 * failures only by the one process that reads the tip.
 */
export const observationCursors = pgTable('observation_cursors', {
  type: text('type').primaryKey(),
  blockNumber: integer('block_number'),
  blockAt: timestamp('block_at', { withTimezone: true }),
  /** Time of the last successful observation, by the service's clock. */
  observedAt: timestamp('observed_at', { withTimezone: true }),
  /**
   * In the row `chain`: time since which the chain gave no answer, or no new block. In others: time since which the
   * watches of the type have had no current data. null while all is well.
   */
  failingSince: timestamp('failing_since', { withTimezone: true }),
  /** Time of the last check if it failed, otherwise null. In the row `chain`: time of the last check. */
  checkedAt: timestamp('checked_at', { withTimezone: true }),
  /** Severity of the outage that all watches were notified of. */
  outageNotified: text('outage_notified'),
})

/**
 * Progress of observation by watch type and slice. Every target of a type was judged at least up to the
 * block of the type's row in `observation_cursors`, which is the lowest block of its slices.
 */
export const sliceCursors = pgTable(
  'slice_cursors',
  {
    type: text('type').notNull(),
    slice: smallint('slice').notNull(),
    blockNumber: integer('block_number'),
    blockAt: timestamp('block_at', { withTimezone: true }),
    observedAt: timestamp('observed_at', { withTimezone: true }),
  },
  (table) => [primaryKey({ columns: [table.type, table.slice] })],
)

/**
 * The newest confirmed block, published by the process that reads it for all observers. One row.
 */
export const publishedBlocks = pgTable('published_blocks', {
  name: text('name').primaryKey(),
  blockNumber: integer('block_number').notNull(),
  blockHash: text('block_hash').notNull(),
  blockAt: timestamp('block_at', { withTimezone: true }).notNull(),
})

/** Prices of feeds, thinned out with age. */
export const feedPoints = pgTable(
  'feed_points',
  {
    /** The feed's id: 21 bytes in hex. */
    feed: text('feed').notNull(),
    /** Time of the block of the price. */
    at: timestamp('at', { withTimezone: true }).notNull(),
    /** The price is `value / 10 ** decimals` US dollars. */
    value: numeric('value', { precision: 78, scale: 0 }).notNull(),
    decimals: smallint('decimals').notNull(),
    /** Retention grade, the lower the longer: see `GRADES` in `feeds/feeds.ts`. */
    grade: smallint('grade').notNull(),
    /** Number of the block. */
    block: integer('block').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.feed, table.at] }),
    index('feed_points_grade').on(table.grade, table.at),
  ],
)
