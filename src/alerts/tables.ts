import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  serial,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'

/**
 * How many alerts a watch sent a recipient in the hour that began at `started_at`. One row for each watch
 * and recipient; deleted when nothing was counted for some hours.
 */
export const alertBudgets = pgTable(
  'alert_budgets',
  {
    watchId: integer('watch_id').notNull(),
    recipientId: integer('recipient_id').notNull(),
    /** Alerts that may be sent in an hour. */
    allowed: integer('allowed').notNull(),
    startedAt: timestamp('started_at', { withTimezone: true }).notNull(),
    /** Alerts of this hour, those that were not sent too. */
    used: integer('used').notNull(),
    /** Alerts that were not sent and that no summary has counted yet. */
    throttled: integer('throttled').notNull(),
    /** When the summary of those is due; null without any. */
    summaryAt: timestamp('summary_at', { withTimezone: true }),
    /** When an alert was last not sent. */
    throttledAt: timestamp('throttled_at', { withTimezone: true }),
    /** The count that announced to the recipient that alerts are not sent: a random id. */
    announcedIn: uuid('announced_in'),
  },
  (table) => [
    primaryKey({ columns: [table.recipientId, table.watchId] }),
    index('alert_budgets_summary').on(table.summaryAt).where(sql`summary_at is not null`),
  ],
)

/** Partitioned by the time they fired at, see `retention.ts`. */
export const alerts = pgTable(
  'alerts',
  {
    id: serial('id').notNull(),
    wallet: text('wallet').notNull(),
    /** Kept when the watch is deleted: history stays. */
    watchId: integer('watch_id').notNull(),
    watchLabel: text('watch_label').notNull(),
    type: text('type').notNull(),
    signal: text('signal'),
    group: text('group'),
    event: text('event').notNull(),
    severity: text('severity').notNull(),
    state: text('state').notNull(),
    data: jsonb('data').notNull().$type<unknown>(),
    /** Of the observation that raised it: rising for a watch; on the chain the block's number. */
    position: bigint('position', { mode: 'number' }).notNull(),
    firedAt: timestamp('fired_at', { withTimezone: true }).notNull(),
    /** When it ended: its signal recovered, or with the state `closed` its watch was deleted. */
    recoveredAt: timestamp('recovered_at', { withTimezone: true }),
    /** The alert this recovery closes. */
    recoveryOf: integer('recovery_of'),
    /** Of a recovery: the worst severity of the episode it ended. */
    episodeSeverity: text('episode_severity'),
    /** Of a recovery, and of an alert that raises another: when what it is about began. */
    startedAt: timestamp('started_at', { withTimezone: true }),
    /** Its signal has a recovery event: it is open until that comes. */
    isEpisode: boolean('is_episode').notNull(),
    /** The alert whose severity this one raises. */
    raises: integer('raises'),
    /** When it was given to those who are told; null while another alert holds it back. */
    notifiedAt: timestamp('told_at', { withTimezone: true }),
    acknowledgedAt: timestamp('acknowledged_at', { withTimezone: true }),
    /** Who acknowledged it, as they are called where they did. */
    acknowledgedBy: text('acknowledged_by'),
    /** Since when chats and mailboxes hear nothing of it until it recovers. */
    mutedAt: timestamp('muted_at', { withTimezone: true }),
    remindersSent: integer('reminders_sent').notNull(),
    /** When it is told once more, if it is still as it was. */
    remindAt: timestamp('remind_at', { withTimezone: true }),
    /** The alert whose message tells of this change too, while the signal comes and goes. */
    flappingAlertId: integer('flap_of'),
    /** What became of the signal since this message began to tell of its changes. */
    flapping: jsonb('flapping').$type<unknown>(),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.id, table.firedAt] }),
    // Replaying an observation raises nothing twice: its position says when it was. An alert without a
    // signal has the empty signal here.
    uniqueIndex('alerts_once').on(
      table.watchId,
      sql`coalesce(${table.signal}, '')`,
      table.event,
      table.position,
      table.firedAt,
    ),
    index('alerts_wallet').on(table.wallet, table.firedAt, table.id),
    index('alerts_created').on(table.createdAt),
    index('alerts_watch').on(table.watchId, table.firedAt),
    index('alerts_open')
      .on(table.wallet, table.watchId, table.signal)
      .where(sql`is_episode and recovered_at is null`),
    index('alerts_held_back').on(table.wallet).where(sql`told_at is null and recovered_at is null`),
    index('alerts_remind').on(table.remindAt).where(sql`remind_at is not null`),
  ],
)
