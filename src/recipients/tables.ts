import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import type { ChannelKey } from '#src/channels/index.ts'
import type { Scope } from '#src/kernel/caller.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { Address } from '#src/kernel/units.ts'
import type { RecipientStatus } from './model.ts'

/** One row per destination: the named recipients of a wallet and, with `own`, its own channels. */
export const recipients = pgTable(
  'recipients',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    wallet: text('wallet').notNull().$type<Address>(),
    channel: text('channel').notNull().$type<ChannelKey>(),
    /** True for the wallet's own destination of a channel (`/channels`), which has no name. */
    own: boolean('own').notNull(),
    name: text('name'),
    /** The channel's destination as JSON, encrypted with SECRET_KEY. */
    destination: text('destination').notNull(),
    /** The destination as it is shown, with its secret parts masked. */
    target: text('target').notNull(),
    /** The channel's `partitionKey` of the destination; bounds concurrency. */
    partitionKey: text('partition_key').notNull(),
    locale: text('locale').notNull().$type<Locale>(),
    timezone: text('timezone').notNull(),
    status: text('status').notNull().$type<RecipientStatus>(),
    statusReason: text('status_reason'),
    /** Time of the last change of the status. */
    switchedAt: timestamp('switched_at', { withTimezone: true }).notNull(),
    minSeverity: text('min_severity').notNull().$type<Severity>(),
    isDefault: boolean('is_default').notNull(),
    /** Telegram only: id of the chat. */
    chatId: bigint('chat_id', { mode: 'number' }),
    /** Telegram only: rights of the chat for this wallet. */
    chatScopes: text('chat_scopes').array().$type<readonly Scope[]>(),
    /** Groups only: whether every member may acknowledge, if the group has the right to write. */
    membersAcknowledge: boolean('members_acknowledge').notNull().default(true),
    /** Telegram only: id of the account that confirmed the link. */
    linkedBy: bigint('linked_by', { mode: 'number' }),
    /**
     * Identity address of the provider that the chat follows without a wallet; null for recipients of a person's wallet.
     * The row then belongs to the provider's `followersWallet`.
     */
    follows: text('follows').$type<Address>(),
    /** End of the recipient's mute; messages are deferred until then. */
    mutedUntil: timestamp('muted_until', { withTimezone: true }),
    /**
     * Time of a change of mute or settings, after which the recipient's deferred deliveries are still to be rescheduled;
     * null if none are.
     */
    rescheduleAt: timestamp('reschedule_at', { withTimezone: true }),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull(),
    verifiedAt: timestamp('verified_at', { withTimezone: true }),
    lastSuccessAt: timestamp('last_success_at', { withTimezone: true }),
    lastFailureAt: timestamp('last_failure_at', { withTimezone: true }),
    /** Time since which every attempt failed; null after a success. */
    failingSince: timestamp('failing_since', { withTimezone: true }),
  },
  (table) => [
    index('recipients_wallet').on(table.wallet, table.id),
    uniqueIndex('recipients_own_channel').on(table.wallet, table.channel).where(sql`own`),
    uniqueIndex('recipients_wallet_chat').on(table.wallet, table.chatId),
    index('recipients_chat').on(table.chatId),
    uniqueIndex('recipients_follower').on(table.chatId).where(sql`follows is not null`),
    index('recipients_lost_follower')
      .on(table.id)
      .where(sql`follows is not null and status <> 'active'`),
    index('recipients_reschedule').on(table.id).where(sql`reschedule_at is not null`),
  ],
)

/** Links that work once: each links a chat to a wallet. It has one code for a private chat and one for a group. */
export const linkCodes = pgTable('link_codes', {
  /** SHA-256 of the code for a private chat, hex. */
  hash: text('hash').primaryKey(),
  /** SHA-256 of the code for a group, hex. */
  groupHash: text('group_hash').unique(),
  /** Id of the first group in which the code for a group was shown; from then on it is valid only there. */
  groupChatId: bigint('group_chat_id', { mode: 'number' }),
  wallet: text('wallet').notNull().$type<Address>(),
  name: text('name'),
  scopes: text('scopes').array().notNull().$type<readonly Scope[]>(),
  /** Whether every member of a group may acknowledge; null leaves that as it is. */
  membersAcknowledge: boolean('members_acknowledge'),
  /** Label of the API token that created the link; null without a token or label. */
  madeBy: text('made_by'),
  createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
  usedAt: timestamp('used_at', { withTimezone: true }),
})

/** Codes with which chats ask for a wallet on the connect page; only the newest code of each chat. */
export const connectCodes = pgTable('connect_codes', {
  chatId: bigint('chat_id', { mode: 'number' }).primaryKey(),
  /** SHA-256 of the code, hex. */
  hash: text('hash').notNull().unique(),
  /** The Telegram account that requested the code. */
  askedBy: bigint('asked_by', { mode: 'number' }).notNull(),
  title: text('title').notNull(),
  username: text('username'),
  locale: text('locale').notNull().$type<Locale>(),
  /** Whether the chat requested the right to spend credits. */
  spend: boolean('spend').notNull(),
  /** The wallet whose credits the chat requested to spend; null for a chat without a wallet. */
  spendOf: text('spend_of').$type<Address>(),
  /** Button data of the chat's next step after linking; null for none. */
  goesOn: text('goes_on'),
  createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
  usedAt: timestamp('used_at', { withTimezone: true }),
  /** The linked wallet; null if the code was refused. */
  wallet: text('wallet').$type<Address>(),
})

/** Settings that ask for messages which no event causes, as conditions. The index of weekly cards matches the first. */
export const WANTS = {
  weeklyCard: sql.raw(`settings @> '{"weeklyCard": true}'::jsonb`),
  epochReport: sql.raw(`settings @> '{"epochReport": true}'::jsonb`),
} as const

/** Notification settings of each wallet. */
export const notificationSettings = pgTable(
  'notification_settings',
  {
    wallet: text('wallet').primaryKey().$type<Address>(),
    settings: jsonb('settings').notNull().$type<unknown>(),
    version: integer('version').notNull(),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull(),
  },
  (table) => [index('notification_settings_weekly').on(table.wallet).where(WANTS.weeklyCard)],
)

/** E-mails that ask a mailbox for consent. Rows are kept after sending, to count the e-mails of a mailbox and a wallet. */
export const confirmationMails = pgTable(
  'confirmation_mails',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    /** Id of the recipient, which may have been deleted since. */
    recipientId: integer('recipient_id').notNull(),
    wallet: text('wallet').notNull().$type<Address>(),
    /** Digest of the address, as in the links of its e-mails. */
    addressDigest: text('address_digest').notNull(),
    /** Digest of the mailbox, equal for all its subaddresses; null in rows that are older than this column. */
    mailboxDigest: text('mailbox_digest'),
    /** Time of the first attempt that the limits of e-mails allow. */
    dueAt: timestamp('due_at', { withTimezone: true }).notNull(),
    /** Null once the e-mail was sent, given up or cancelled. */
    nextAttemptAt: timestamp('next_attempt_at', { withTimezone: true }),
    attempts: integer('attempts').notNull(),
    sentAt: timestamp('sent_at', { withTimezone: true }),
  },
  (table) => [
    index('confirmation_mails_due').on(table.nextAttemptAt).where(sql`next_attempt_at is not null`),
    index('confirmation_mails_recipient').on(table.recipientId),
    index('confirmation_mails_wallet').on(table.wallet, table.dueAt),
    index('confirmation_mails_mailbox').on(table.mailboxDigest, table.dueAt),
  ],
)

/** Mailboxes whose reader refused e-mails; no wallet can ask them for 90 days. */
export const mailRefusals = pgTable('mail_refusals', {
  mailboxDigest: text('mailbox_digest').primaryKey(),
  refusedAt: timestamp('refused_at', { withTimezone: true }).notNull(),
})
