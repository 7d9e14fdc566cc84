import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  serial,
  smallint,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'

/**
 * Number of alerts that a watch sent a recipient in the window that began at `started_at`. One row for each
 * watch and recipient; deleted after some hours without alerts.
 */
export const alertBudgets = pgTable(
  'alert_budgets',
  {
    watchId: integer('watch_id').notNull(),
    recipientId: integer('recipient_id').notNull(),
    /** Alerts allowed per window. */
    allowed: integer('allowed').notNull(),
    /** Length of the window. */
    hours: smallint('hours').notNull(),
    /** Start of the window. */
    startedAt: timestamp('started_at', { withTimezone: true }).notNull(),
    /** Alerts of this window, including throttled ones. */
    used: integer('used').notNull(),
    /** Throttled alerts that no summary has counted yet. */
    throttled: integer('throttled').notNull(),
    /** Time of the summary of throttled alerts; null if there are none. */
    summaryAt: timestamp('summary_at', { withTimezone: true }),
    /** Time of the last throttled alert. */
    throttledAt: timestamp('throttled_at', { withTimezone: true }),
    /** Id of the count that announced the throttling to the recipient: a random UUID. */
    announcedIn: uuid('announced_in'),
  },
  (table) => [
    primaryKey({ columns: [table.recipientId, table.watchId] }),
    index('alert_budgets_summary').on(table.summaryAt).where(sql`summary_at is not null`),
  ],
)

/**
 * The number of the newest incident of a wallet. Its row is locked while alerts of the wallet are recorded, so that
 * two alerts that are recorded at once know of each other's incident.
 */
export const incidentNumbers = pgTable('incident_numbers', {
  wallet: text('wallet').primaryKey(),
  last: integer('last').notNull(),
})

/** What kept an alert from being sent when it fired. */
export type During = 'maintenance'

/** Condition: an alert `d` is to be reminded of. It matches the index of these alone. */
export const IS_REMINDED = sql.raw('d.remind_at is not null')

/** Partitioned by the time of firing, see `retention.ts`. */
export const alerts = pgTable(
  'alerts',
  {
    id: serial('id').notNull(),
    wallet: text('wallet').notNull(),
    /** Id of the watch. The alert stays when the watch is deleted. */
    watchId: integer('watch_id').notNull(),
    watchLabel: text('watch_label').notNull(),
    /** Number of the incident that the alert or recovery is a part of; counts from 1 for each wallet. */
    incidentId: integer('incident_id').notNull(),
    /** Whether it is the first part of its incident that is stored: a list of incidents has its place. */
    opensIncident: boolean('opens_incident').notNull(),
    type: text('type').notNull(),
    signal: text('signal'),
    group: text('group'),
    event: text('event').notNull(),
    severity: text('severity').notNull(),
    state: text('state').notNull(),
    data: jsonb('data').notNull().$type<unknown>(),
    /**
     * Position of the observation that caused the alert: the block number, or a count for watches of credits. Later
     * observations of a watch have higher ones.
     */
    position: bigint('position', { mode: 'number' }).notNull(),
    firedAt: timestamp('fired_at', { withTimezone: true }).notNull(),
    /**
     * End of the alert: recovery of its signal, an equal event that begins a new episode or, with the state `closed`,
     * deletion of its watch.
     */
    recoveredAt: timestamp('recovered_at', { withTimezone: true }),
    /** Of a recovery: first alert of the episode that it ends. */
    recoveryOf: integer('recovery_of'),
    /** Of a recovery: the highest severity of its episode. */
    episodeSeverity: text('episode_severity'),
    /** Of a recovery or severity increase: start of the episode. */
    startedAt: timestamp('started_at', { withTimezone: true }),
    /** Whether the signal has a recovery event, until which the alert is open. */
    isEpisode: boolean('is_episode').notNull(),
    /** Of a severity increase: first alert of the episode. */
    increaseOf: integer('increase_of'),
    /** Planned maintenance in which the alert fired, so that it was sent to nobody then; else null. */
    during: text('during').$type<During>(),
    /** Time at which the alert's deliveries were written; null while another alert or maintenance holds it back. */
    notifiedAt: timestamp('notified_at', { withTimezone: true }),
    acknowledgedAt: timestamp('acknowledged_at', { withTimezone: true }),
    /** Name of the person who acknowledged the alert, from the channel that was used. */
    acknowledgedBy: text('acknowledged_by'),
    /** Telegram account of that person, by which the name is found when the person deletes it. */
    acknowledgedAccount: bigint('acknowledged_account', { mode: 'number' }),
    /** What a person wrote about the alert, such as what is being done, when, the person's name and Telegram account. */
    note: text('note'),
    notedAt: timestamp('noted_at', { withTimezone: true }),
    notedBy: text('noted_by'),
    notedAccount: bigint('noted_account', { mode: 'number' }),
    /** Time since which the alert is muted until it recovers. */
    mutedAt: timestamp('muted_at', { withTimezone: true }),
    remindersSent: integer('reminders_sent').notNull(),
    /** Time of the next reminder, if the alert's state is unchanged then. */
    remindAt: timestamp('remind_at', { withTimezone: true }),
    /**
     * Time at which the alert is sent to further recipients unless it is acknowledged before; null: never,
     * or already done.
     */
    escalateAt: timestamp('escalate_at', { withTimezone: true }),
    /** Time at which the alert was sent to further recipients. */
    escalatedAt: timestamp('escalated_at', { withTimezone: true }),
    /** Recipients that the escalation notified; null before it. */
    escalatedTo: integer('escalated_to').array(),
    /** End of the cooldown that the alert imposed, because its signal changes often. */
    cooldownUntil: timestamp('cooldown_until', { withTimezone: true }),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.id, table.firedAt] }),
    check(
      'alerts_escalation_has_recipients',
      sql`(${table.escalatedAt} is null) = (${table.escalatedTo} is null)`,
    ),
    index('alerts_wallet').on(table.wallet, table.firedAt, table.id),
    index('alerts_incident').on(table.wallet, table.incidentId),
    index('alerts_created').on(table.createdAt),
    index('alerts_watch').on(table.watchId, table.firedAt),
    index('alerts_open')
      .on(table.wallet, table.watchId, table.signal)
      .where(sql`is_episode and recovered_at is null`),
    index('alerts_held_back')
      .on(table.wallet)
      .where(sql`notified_at is null and recovered_at is null`),
    index('alerts_remind').on(table.remindAt).where(sql`remind_at is not null`),
    index('alerts_escalate').on(table.escalateAt).where(sql`escalate_at is not null`),
    // A replayed observation inserts nothing twice, because its position is equal. Alerts without a signal
    // have the empty signal in this index. It is made last, so that PostgreSQL prefers it to another of the same cost.
    uniqueIndex('alerts_once').on(
      table.watchId,
      sql`coalesce(${table.signal}, '')`,
      table.event,
      table.position,
      table.firedAt,
    ),
  ],
)
