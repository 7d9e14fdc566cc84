import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uuid,
} from 'drizzle-orm/pg-core'

/** Data of a chat, except its links: language, selected wallet, current messages. */
export const chats = pgTable('telegram_chats', {
  id: bigint('id', { mode: 'number' }).primaryKey(),
  kind: text('kind').notNull(),
  title: text('title').notNull(),
  locale: text('locale').notNull(),
  /** The selected wallet, if several are linked. */
  wallet: text('wallet'),
  /** The newest message of each task (menus, wizard, top-up, status). Only these messages have buttons. */
  currentMessageId: integer('current_message_id'),
  wizardMessageId: integer('wizard_message_id'),
  topupMessageId: integer('topup_message_id'),
  statusMessageId: integer('status_message_id'),
  createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  updatedAt: timestamp('updated_at', { withTimezone: true }).notNull(),
})

/** Condition: an update `d` is not handled yet. It matches the index of these alone. */
export const IS_UNHANDLED = sql.raw('d.handled_at is null')

/**
 * Updates from Telegram. Kept for 72 hours after they were handled, so that a repeated update is
 * recognized.
 */
export const telegramUpdates = pgTable(
  'telegram_updates',
  {
    updateId: bigint('update_id', { mode: 'number' }).primaryKey(),
    /** Updates of one key are handled one after another. */
    chatKey: text('chat_key').notNull(),
    /** The turn in which the update is handled. In one turn, each chat has at most one update. */
    turn: bigint('turn', { mode: 'number' }).notNull().default(0),
    update: jsonb('update').$type<unknown>(),
    attempts: integer('attempts').notNull(),
    receivedAt: timestamp('received_at', { withTimezone: true }).notNull(),
    leasedUntil: timestamp('leased_until', { withTimezone: true }),
    handledAt: timestamp('handled_at', { withTimezone: true }),
  },
  (table) => [
    index('telegram_updates_open').on(table.handledAt, table.updateId),
    index('telegram_updates_turn').on(table.turn, table.updateId).where(sql`handled_at is null`),
    index('telegram_updates_chat').on(table.chatKey, table.updateId).where(sql`handled_at is null`),
  ],
)

/** The open question of a person. One per person and chat. */
export const questions = pgTable(
  'telegram_questions',
  {
    chatId: bigint('chat_id', { mode: 'number' }).notNull(),
    personId: bigint('person_id', { mode: 'number' }).notNull(),
    /** Name of the question, as its feature registers it. */
    kind: text('kind').notNull(),
    /** Subject of the question, as JSON. The schema of the question with this name decodes it. */
    about: jsonb('about').notNull().$type<unknown>(),
    /** The message that shows the question. */
    messageId: bigint('message_id', { mode: 'number' }).notNull(),
    /** Number of invalid answers. */
    refusals: integer('refusals').notNull(),
    /** Whether the question was answered, and only a number that corrects the answer is still taken. */
    isAnswered: boolean('is_answered').notNull().default(false),
    askedAt: timestamp('asked_at', { withTimezone: true }).notNull(),
    expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.chatId, table.personId] }),
    index('telegram_questions_expiry').on(table.expiresAt),
  ],
)

/** A watch that is being created. One per person and chat. */
export const drafts = pgTable(
  'telegram_drafts',
  {
    chatId: bigint('chat_id', { mode: 'number' }).notNull(),
    personId: bigint('person_id', { mode: 'number' }).notNull(),
    /** Id of the draft; also the idempotency key of the watch that it becomes. */
    id: uuid('id').notNull(),
    /** Number in the buttons of this draft. A button with another number belongs to another draft. */
    rev: integer('rev').notNull(),
    /** Wallet that the watch will belong to. */
    wallet: text('wallet').notNull(),
    /** Values that were selected so far; the wizard has the schema. */
    values: jsonb('values').notNull().$type<unknown>(),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull(),
    expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.chatId, table.personId] }),
    index('telegram_drafts_expiry').on(table.expiresAt),
  ],
)

/**
 * Messages that a job changes later: each time their subject changes, such as a top-up, or once, such as a secret that
 * is hidden. How a kind is drawn is in the `live` of its feature.
 */
export const liveMessages = pgTable(
  'telegram_live_messages',
  {
    chatId: bigint('chat_id', { mode: 'number' }).notNull(),
    /** 0 for a message that its kind sends when the subject changes. */
    messageId: bigint('message_id', { mode: 'number' }).notNull(),
    /** Kind of the message. */
    kind: text('kind').notNull(),
    /** Wallet of the message's subject; null for the subject of a chat that may have no wallet. */
    wallet: text('wallet'),
    /** Subject, such as the handle of a top-up or the id of an alert. A NOTIFY about the subject names it. */
    handle: text('handle'),
    /** What the kind remembers of the subject, such as its stage when it was last shown. */
    stage: text('stage'),
    /** Hash of the content that is shown; null if unknown. */
    shown: text('shown'),
    /** Number of changes of the subject. A check that began before the last change is repeated. */
    changeCount: integer('change_count').notNull(),
    /** Time of the next check. */
    dueAt: timestamp('due_at', { withTimezone: true }).notNull(),
    /**
     * No check begins before this time, because a process is checking the message, or has just changed it.
     */
    leasedUntil: timestamp('leased_until', { withTimezone: true }),
    /** Time after which the message is no longer edited; null if there is no end. */
    expiresAt: timestamp('expires_at', { withTimezone: true }),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.chatId, table.messageId] }),
    index('telegram_live_messages_due').on(table.dueAt),
    index('telegram_live_messages_handle').on(table.handle),
  ],
)
