import { sql } from 'drizzle-orm'
import {
  bigint,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uuid,
} from 'drizzle-orm/pg-core'

/** What the bot knows of a chat beyond its links: language, zone, chosen wallet. */
export const chats = pgTable('telegram_chats', {
  id: bigint('id', { mode: 'number' }).primaryKey(),
  kind: text('kind').notNull(),
  title: text('title').notNull(),
  locale: text('locale').notNull(),
  /** The wallet the chat works on, when it is linked to several. */
  wallet: text('wallet'),
  /** The message people go on with, by task; of each task only that one has buttons. */
  livingMessageId: integer('living_message_id'),
  wizardMessageId: integer('wizard_message_id'),
  topupMessageId: integer('topup_message_id'),
  statusMessageId: integer('status_message_id'),
  createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  updatedAt: timestamp('updated_at', { withTimezone: true }).notNull(),
})

/** Updates from Telegram, kept until handled and a little longer, so that none is handled twice. */
export const telegramUpdates = pgTable(
  'telegram_updates',
  {
    updateId: bigint('update_id', { mode: 'number' }).primaryKey(),
    /** Updates of one key are handled one after another. */
    chatKey: text('chat_key').notNull(),
    /** Its place among the updates of all chats: each chat has one update in each turn. */
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

/** What a person was asked last and has not answered. One for each person in a chat. */
export const questions = pgTable(
  'telegram_questions',
  {
    chatId: bigint('chat_id', { mode: 'number' }).notNull(),
    personId: bigint('person_id', { mode: 'number' }).notNull(),
    /** Which question: its name among the features'. */
    kind: text('kind').notNull(),
    /** What it is about, in the question's own form. */
    about: jsonb('about').notNull().$type<unknown>(),
    /** The message that asks. */
    messageId: bigint('message_id', { mode: 'number' }).notNull(),
    /** Answers that were refused. */
    refusals: integer('refusals').notNull(),
    askedAt: timestamp('asked_at', { withTimezone: true }).notNull(),
    expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.chatId, table.personId] }),
    index('telegram_questions_expiry').on(table.expiresAt),
  ],
)

/** A watch that somebody is about to create. One for each person in a chat. */
export const drafts = pgTable(
  'telegram_drafts',
  {
    chatId: bigint('chat_id', { mode: 'number' }).notNull(),
    personId: bigint('person_id', { mode: 'number' }).notNull(),
    /** Also the idempotency key of what comes of it. */
    id: uuid('id').notNull(),
    /** Tells the buttons of this draft from those of another. */
    rev: integer('rev').notNull(),
    /** The wallet it is for. */
    wallet: text('wallet').notNull(),
    /** What has been chosen so far, in the wizard's own form. */
    values: jsonb('values').notNull().$type<unknown>(),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull(),
    expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.chatId, table.personId] }),
    index('telegram_drafts_expiry').on(table.expiresAt),
  ],
)

/** Messages that change by themselves later: a secret that is hidden, a mailbox that is confirmed. */
export const followUps = pgTable(
  'telegram_follow_ups',
  {
    chatId: bigint('chat_id', { mode: 'number' }).notNull(),
    messageId: bigint('message_id', { mode: 'number' }).notNull(),
    /** What is to become of it. */
    kind: text('kind').notNull(),
    /** Whose destination it is about, and which. */
    wallet: text('wallet').notNull(),
    recipientId: integer('recipient_id').notNull(),
    shownAt: timestamp('shown_at', { withTimezone: true }).notNull(),
    /** When it is looked at next. */
    dueAt: timestamp('due_at', { withTimezone: true }).notNull(),
    /** Afterwards it stays as it is. */
    expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.chatId, table.messageId] }),
    index('telegram_follow_ups_due').on(table.dueAt),
  ],
)

/** Messages that follow something by themselves: a top-up, its QR code, how watches stand. */
export const liveMessages = pgTable(
  'telegram_live_messages',
  {
    chatId: bigint('chat_id', { mode: 'number' }).notNull(),
    messageId: bigint('message_id', { mode: 'number' }).notNull(),
    /** What it is. */
    kind: text('kind').notNull(),
    /** The wallet it is about. */
    wallet: text('wallet').notNull(),
    /** Which top-up. */
    handle: text('handle'),
    /** How far that was when it was shown last. */
    stage: text('stage'),
    /** A digest of what it shows; null: it is not known any more. */
    shown: text('shown'),
    /** Counts what was heard of it, so that nothing heard meanwhile is lost. */
    news: integer('news').notNull(),
    /** When it is looked at next. */
    dueAt: timestamp('due_at', { withTimezone: true }).notNull(),
    /** Until then somebody looks at it, or it rests after a change. */
    leasedUntil: timestamp('leased_until', { withTimezone: true }),
    /** Afterwards it stays as it is; null: it never does. */
    expiresAt: timestamp('expires_at', { withTimezone: true }),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.chatId, table.messageId] }),
    index('telegram_live_messages_due').on(table.dueAt),
    index('telegram_live_messages_handle').on(table.handle),
  ],
)
