-- What is kept for a time only is partitioned by it: alerts by when they fired, the log of deliveries and sent messages by
-- their ids, which begin with the time. Partitions are made while the service runs. drizzle-kit writes no partitions and no
-- storage parameters: they are added here.
-- A wallet has one written form, with the checksum of EIP-55. Checks of tables call this only for what is in one case, because
-- it computes a hash (Keccak-256), which takes milliseconds.
CREATE FUNCTION is_checksummed(address text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  digits text := lower(substr(address, 3));
  block bytea := convert_to(lower(substr(address, 3)), 'UTF8')
    || decode('01' || repeat('00', 94) || '80', 'hex');
  constants bigint[] := '{
    1, 32898, -9223372036854742902, -9223372034707259392, 32907, 2147483649, -9223372034707259263,
    -9223372036854743031, 138, 136, 2147516425, 2147483658, 2147516555, -9223372036854775669,
    -9223372036854742903, -9223372036854743037, -9223372036854743038, -9223372036854775680, 32778,
    -9223372034707292150, -9223372034707259263, -9223372036854742912, 2147483649, -9223372034707259384}';
  turns int[] := '{0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14}';
  a bigint[] := array_fill(0::bigint, ARRAY[25], ARRAY[0]);
  b bigint[] := array_fill(0::bigint, ARRAY[25], ARRAY[0]);
  c bigint[] := array_fill(0::bigint, ARRAY[5], ARRAY[0]);
  d bigint;
  v bigint;
  n int;
  nibble int;
  digit text;
BEGIN
  IF address !~ '^0x[0-9a-fA-F]{40}$' THEN RETURN false; END IF;
  FOR i IN 0..16 LOOP
    v := 0;
    FOR j IN 0..7 LOOP v := v | (get_byte(block, i * 8 + j)::bigint << (8 * j)); END LOOP;
    a[i] := v;
  END LOOP;
  FOR round IN 1..24 LOOP
    FOR x IN 0..4 LOOP c[x] := a[x] # a[x + 5] # a[x + 10] # a[x + 15] # a[x + 20]; END LOOP;
    FOR x IN 0..4 LOOP
      v := c[(x + 1) % 5];
      d := c[(x + 4) % 5] # ((v << 1) | ((v >> 63) & 1));
      FOR y IN 0..4 LOOP a[x + 5 * y] := a[x + 5 * y] # d; END LOOP;
    END LOOP;
    FOR x IN 0..4 LOOP
      FOR y IN 0..4 LOOP
        v := a[x + 5 * y];
        n := turns[x + 5 * y + 1];
        IF n > 0 THEN v := (v << n) | ((v >> (64 - n)) & ((1::bigint << n) - 1)); END IF;
        b[y + 5 * ((2 * x + 3 * y) % 5)] := v;
      END LOOP;
    END LOOP;
    FOR x IN 0..4 LOOP
      FOR y IN 0..4 LOOP
        a[x + 5 * y] := b[x + 5 * y] # (~b[(x + 1) % 5 + 5 * y] & b[(x + 2) % 5 + 5 * y]);
      END LOOP;
    END LOOP;
    a[0] := a[0] # constants[round];
  END LOOP;
  FOR i IN 0..39 LOOP
    digit := substr(digits, i + 1, 1);
    nibble := ((a[i / 16] >> (8 * ((i / 2) % 8) + CASE WHEN i % 2 = 0 THEN 4 ELSE 0 END)) & 15)::int;
    IF digit ~ '[a-f]' AND nibble >= 8 THEN digit := upper(digit); END IF;
    IF digit <> substr(address, i + 3, 1) THEN RETURN false; END IF;
  END LOOP;
  RETURN true;
END $$;
--> statement-breakpoint
CREATE TABLE "alert_budgets" (
	"watch_id" integer NOT NULL,
	"recipient_id" integer NOT NULL,
	"allowed" integer NOT NULL,
	"hours" smallint NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"used" integer NOT NULL,
	"throttled" integer NOT NULL,
	"summary_at" timestamp with time zone,
	"throttled_at" timestamp with time zone,
	"announced_in" uuid,
	CONSTRAINT "alert_budgets_recipient_id_watch_id_pk" PRIMARY KEY("recipient_id","watch_id")
);
--> statement-breakpoint
CREATE TABLE "alerts" (
	"id" serial NOT NULL,
	"wallet" text NOT NULL,
	"watch_id" integer NOT NULL,
	"watch_label" text NOT NULL,
	"incident_id" integer NOT NULL,
	"opens_incident" boolean NOT NULL,
	"type" text NOT NULL,
	"signal" text,
	"group" text,
	"event" text NOT NULL,
	"severity" text NOT NULL,
	"state" text NOT NULL,
	"data" jsonb NOT NULL,
	"position" bigint NOT NULL,
	"fired_at" timestamp with time zone NOT NULL,
	"recovered_at" timestamp with time zone,
	"recovery_of" integer,
	"episode_severity" text,
	"started_at" timestamp with time zone,
	"is_episode" boolean NOT NULL,
	"increase_of" integer,
	"during" text,
	"notified_at" timestamp with time zone,
	"acknowledged_at" timestamp with time zone,
	"acknowledged_by" text,
	"muted_at" timestamp with time zone,
	"reminders_sent" integer NOT NULL,
	"remind_at" timestamp with time zone,
	"escalate_at" timestamp with time zone,
	"escalated_at" timestamp with time zone,
	"escalated_to" integer[],
	"cooldown_until" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "alerts_id_fired_at_pk" PRIMARY KEY("id","fired_at"),
	CONSTRAINT "alerts_escalation_has_recipients" CHECK (("alerts"."escalated_at" is null) = ("alerts"."escalated_to" is null))
) PARTITION BY RANGE ("fired_at");
--> statement-breakpoint
CREATE TABLE "alerts_default" PARTITION OF "alerts" DEFAULT;
--> statement-breakpoint
CREATE TABLE "incident_numbers" (
	"wallet" text PRIMARY KEY NOT NULL,
	"last" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "challenges" (
	"nonce" text PRIMARY KEY NOT NULL,
	"wallet" text NOT NULL,
	"scopes" text[] NOT NULL,
	"label" text,
	"message" text NOT NULL,
	"issued_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "operator_acts" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "operator_acts_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" timestamp with time zone NOT NULL,
	"operator" text NOT NULL,
	"command" text NOT NULL,
	"input" jsonb NOT NULL,
	"changed" boolean NOT NULL,
	"result" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bans" (
	"wallet" text PRIMARY KEY NOT NULL,
	"reason" text NOT NULL,
	"banned_at" timestamp with time zone NOT NULL,
	CONSTRAINT "bans_wallet_form" CHECK ("bans"."wallet" ~ '^0x((?=.*[a-f])(?=.*[A-F])[0-9a-fA-F]{40}|[0-9]{40})$' or is_checksummed("bans"."wallet"))
);
--> statement-breakpoint
CREATE TABLE "spent_trials" (
	"digest" text PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tokens" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "tokens_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"wallet" text NOT NULL,
	"label" text,
	"scopes" text[] NOT NULL,
	"prefix" text NOT NULL,
	"hash" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"last_used_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	CONSTRAINT "tokens_hash_unique" UNIQUE("hash")
);
--> statement-breakpoint
CREATE TABLE "accounts" (
	"wallet" text PRIMARY KEY NOT NULL,
	"balance_credits" bigint NOT NULL,
	"occupied_slots" integer NOT NULL,
	"entry_count" bigint NOT NULL,
	"last_entry_at" timestamp with time zone,
	"terms_version" text,
	"terms_accepted_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "accounts_balance_not_negative" CHECK ("accounts"."balance_credits" >= 0),
	CONSTRAINT "accounts_balance_exact" CHECK ("accounts"."balance_credits" <= 9007199254740991),
	CONSTRAINT "accounts_slots_not_negative" CHECK ("accounts"."occupied_slots" >= 0),
	CONSTRAINT "accounts_wallet_form" CHECK ("accounts"."wallet" ~ '^0x((?=.*[a-f])(?=.*[A-F])[0-9a-fA-F]{40}|[0-9]{40})$' or is_checksummed("accounts"."wallet"))
);
--> statement-breakpoint
CREATE TABLE "ledger_entries" (
	"wallet" text NOT NULL,
	"position" bigint NOT NULL,
	"type" text NOT NULL,
	"delta_credits" bigint NOT NULL,
	"balance_after_credits" bigint NOT NULL,
	"reference" text NOT NULL,
	"note" text,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "ledger_entries_wallet_position_pk" PRIMARY KEY("wallet","position"),
	CONSTRAINT "ledger_entries_reference_unique" UNIQUE("reference"),
	CONSTRAINT "ledger_balance_not_negative" CHECK ("ledger_entries"."balance_after_credits" >= 0)
);
--> statement-breakpoint
CREATE TABLE "ledger_proofs" (
	"on" date PRIMARY KEY NOT NULL,
	"wallets" bigint NOT NULL,
	"entries" bigint NOT NULL,
	"wrong_wallets" bigint NOT NULL,
	"proved_at" timestamp with time zone NOT NULL,
	"totals_until" timestamp with time zone,
	"total_wallets" bigint,
	"total_credits_sold" bigint,
	"total_credits_spent" bigint,
	"total_topups" bigint
);
--> statement-breakpoint
CREATE TABLE "free_calls" (
	"subject" text NOT NULL,
	"day" date NOT NULL,
	"calls" integer NOT NULL,
	CONSTRAINT "free_calls_subject_day_pk" PRIMARY KEY("subject","day"),
	CONSTRAINT "free_calls_not_negative" CHECK ("free_calls"."calls" >= 0)
);
--> statement-breakpoint
CREATE TABLE "billing_pauses" (
	"number" integer PRIMARY KEY NOT NULL,
	"off_at" timestamp with time zone NOT NULL,
	"on_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "capacity_changes" (
	"wallet" text NOT NULL,
	"at" timestamp with time zone NOT NULL,
	CONSTRAINT "capacity_changes_wallet_at_pk" PRIMARY KEY("wallet","at")
);
--> statement-breakpoint
CREATE TABLE "subscriptions" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "subscriptions_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"wallet" text NOT NULL,
	"quantity" integer NOT NULL,
	"periods" integer NOT NULL,
	"status" text NOT NULL,
	"term" integer NOT NULL,
	"starts_at" timestamp with time zone NOT NULL,
	"ends_at" timestamp with time zone NOT NULL,
	"total_credits" bigint NOT NULL,
	"auto_renew" boolean NOT NULL,
	"failed_renewals" integer NOT NULL,
	"last_renewal_error" text,
	"due_at" timestamp with time zone,
	"remind_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "trial_accounts" (
	"telegram_user_id" bigint PRIMARY KEY NOT NULL,
	"wallet" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "trials" (
	"wallet" text PRIMARY KEY NOT NULL,
	"telegram_user_id" bigint,
	"started_at" timestamp with time zone NOT NULL,
	"ends_at" timestamp with time zone NOT NULL,
	"remind_at" timestamp with time zone,
	CONSTRAINT "trials_telegram_user_id_unique" UNIQUE("telegram_user_id")
);
--> statement-breakpoint
CREATE TABLE "payment_cursors" (
	"chain" text PRIMARY KEY NOT NULL,
	"position" bigint,
	"tip" bigint,
	"since_at" timestamp with time zone NOT NULL,
	"balance_of" text,
	"balance_block" bigint,
	"balance_units" numeric(78, 0)
);
--> statement-breakpoint
CREATE TABLE "payment_gaps" (
	"block_number" bigint PRIMARY KEY NOT NULL,
	"tries" integer NOT NULL,
	"first_failed_at" timestamp with time zone NOT NULL,
	"recorded_at" timestamp with time zone,
	"next_try_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "topup_payments" (
	"tx_hash" text NOT NULL,
	"log_index" integer NOT NULL,
	"way" text NOT NULL,
	"handle" text,
	"reference" text,
	"payer" text NOT NULL,
	"asset" text NOT NULL,
	"amount_units" numeric(78, 0) NOT NULL,
	"block_number" bigint NOT NULL,
	"block_hash" text NOT NULL,
	"block_at" timestamp with time zone NOT NULL,
	"seen_at" timestamp with time zone NOT NULL,
	"settled_at" timestamp with time zone,
	"confirmations" integer,
	"credits" bigint,
	"bonus_credits" bigint,
	CONSTRAINT "topup_payments_tx_hash_log_index_pk" PRIMARY KEY("tx_hash","log_index")
);
--> statement-breakpoint
CREATE TABLE "topup_purchases" (
	"handle" text PRIMARY KEY NOT NULL,
	"wallet" text NOT NULL,
	"slots" integer NOT NULL,
	"periods" integer NOT NULL,
	"auto_renew" boolean NOT NULL,
	"subscription_id" integer,
	"reason" text,
	"created_at" timestamp with time zone NOT NULL,
	"done_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "topup_submissions" (
	"handle" text NOT NULL,
	"tx_hash" text NOT NULL,
	"wallet" text NOT NULL,
	"state" text NOT NULL,
	"reason" text,
	"submitted_at" timestamp with time zone NOT NULL,
	"checked_at" timestamp with time zone NOT NULL,
	CONSTRAINT "topup_submissions_handle_tx_hash_pk" PRIMARY KEY("handle","tx_hash")
);
--> statement-breakpoint
CREATE TABLE "topups" (
	"handle" text PRIMARY KEY NOT NULL,
	"wallet" text NOT NULL,
	"asset" text NOT NULL,
	"token" text,
	"pay_to" text NOT NULL,
	"contract_pay_to" text,
	"destination_tag" bigint,
	"credits" bigint NOT NULL,
	"bonus_credits" bigint NOT NULL,
	"amount_units" numeric(78, 0) NOT NULL,
	"price_value" numeric(78, 0) NOT NULL,
	"price_decimals" integer NOT NULL,
	"usd_per_1000_credits_micros" integer NOT NULL,
	"renews" text,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "topups_destination_tag_unique" UNIQUE("destination_tag"),
	CONSTRAINT "topups_renews_unique" UNIQUE("renews")
);
--> statement-breakpoint
CREATE TABLE "unmatched_payments" (
	"tx_hash" text NOT NULL,
	"log_index" integer NOT NULL,
	"reason" text NOT NULL,
	"found_at" timestamp with time zone NOT NULL,
	CONSTRAINT "unmatched_payments_tx_hash_log_index_pk" PRIMARY KEY("tx_hash","log_index")
);
--> statement-breakpoint
CREATE TABLE "telegram_paces" (
	"bot_id" bigint NOT NULL,
	"chat_id" bigint NOT NULL,
	"next_at" timestamp with time zone NOT NULL,
	"sent_at" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"flooded_at" timestamp with time zone,
	CONSTRAINT "telegram_paces_bot_id_chat_id_pk" PRIMARY KEY("bot_id","chat_id")
);
--> statement-breakpoint
CREATE TABLE "leases" (
	"work" text NOT NULL,
	"item" text NOT NULL,
	"owner" uuid,
	"number" bigint NOT NULL,
	CONSTRAINT "leases_work_item_pk" PRIMARY KEY("work","item")
);
--> statement-breakpoint
CREATE TABLE "members" (
	"work" text NOT NULL,
	"process" uuid NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "members_work_process_pk" PRIMARY KEY("work","process")
);
--> statement-breakpoint
CREATE TABLE "delivery_heads" (
	"recipient_id" integer PRIMARY KEY NOT NULL,
	"channel" text NOT NULL,
	"partition_key" text NOT NULL,
	"urgency" smallint NOT NULL,
	"due_at" timestamp with time zone,
	"is_silent" boolean NOT NULL,
	"version" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "delivery_log" (
	"id" uuid PRIMARY KEY NOT NULL,
	"wallet" text NOT NULL,
	"alert_id" integer,
	"incident_id" integer,
	"recipient_id" integer NOT NULL,
	"watch_id" integer,
	"channel" text NOT NULL,
	"order_key" text NOT NULL,
	"fired_at" timestamp with time zone NOT NULL,
	"position" bigint NOT NULL,
	"envelope" json NOT NULL,
	"kind" text NOT NULL,
	"answers" integer,
	"recovery" boolean NOT NULL,
	"test" boolean NOT NULL,
	"urgency" smallint NOT NULL,
	"status" text NOT NULL,
	"attempts" integer NOT NULL,
	"last_status_code" integer,
	"last_error" text,
	"created_at" timestamp with time zone NOT NULL,
	"deferred_until" timestamp with time zone,
	"summary_delivery_id" uuid,
	"retained_until" timestamp with time zone,
	"delivered_at" timestamp with time zone,
	"message_id" text,
	"carried_by" uuid
) PARTITION BY RANGE ("id");
--> statement-breakpoint
CREATE TABLE "delivery_log_default" PARTITION OF "delivery_log" DEFAULT;
--> statement-breakpoint
CREATE TABLE "delivery_queue" (
	"id" uuid PRIMARY KEY NOT NULL,
	"wallet" text NOT NULL,
	"alert_id" integer,
	"incident_id" integer,
	"recipient_id" integer NOT NULL,
	"watch_id" integer,
	"channel" text NOT NULL,
	"order_key" text NOT NULL,
	"fired_at" timestamp with time zone NOT NULL,
	"position" bigint NOT NULL,
	"envelope" json NOT NULL,
	"kind" text NOT NULL,
	"answers" integer,
	"recovery" boolean NOT NULL,
	"test" boolean NOT NULL,
	"urgency" smallint NOT NULL,
	"status" text NOT NULL,
	"attempts" integer NOT NULL,
	"last_status_code" integer,
	"last_error" text,
	"created_at" timestamp with time zone NOT NULL,
	"partition_key" text NOT NULL,
	"next_attempt_at" timestamp with time zone,
	"planned_at" timestamp with time zone,
	"leased_until" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "outage_pictures" (
	"recipient_id" integer NOT NULL,
	"watch_id" integer NOT NULL,
	"kind" text NOT NULL,
	"provider" text NOT NULL,
	"name" text NOT NULL,
	"message_id" text NOT NULL,
	"alert_id" integer NOT NULL,
	"planned_at" timestamp with time zone NOT NULL,
	"taken" boolean NOT NULL,
	CONSTRAINT "outage_pictures_recipient_id_watch_id_pk" PRIMARY KEY("recipient_id","watch_id")
);
--> statement-breakpoint
CREATE TABLE "sent_messages" (
	"id" uuid PRIMARY KEY NOT NULL,
	"wallet" text NOT NULL,
	"recipient_id" integer NOT NULL,
	"channel" text NOT NULL,
	"partition_key" text NOT NULL,
	"watch_id" integer,
	"kind" text NOT NULL,
	"recovery" boolean NOT NULL,
	"loud" boolean NOT NULL,
	"parts" integer NOT NULL,
	"opened_at" timestamp with time zone NOT NULL,
	"sent_at" timestamp with time zone NOT NULL,
	"message_id" text,
	"version" integer NOT NULL,
	"revise_at" timestamp with time zone,
	"revisions" integer NOT NULL,
	"open_part" text,
	"leased_until" timestamp with time zone
) PARTITION BY RANGE ("id");
--> statement-breakpoint
CREATE TABLE "sent_messages_default" PARTITION OF "sent_messages" DEFAULT;
--> statement-breakpoint
CREATE TABLE "fsp_daily" (
	"voter" text NOT NULL,
	"day" date NOT NULL,
	"reward_epoch" integer NOT NULL,
	"rounds" integer NOT NULL,
	"bad_rounds" integer NOT NULL,
	"known" integer[] NOT NULL,
	"bad" integer[] NOT NULL,
	"anchor_hits" integer NOT NULL,
	"anchor_possible" integer NOT NULL,
	CONSTRAINT "fsp_daily_voter_day_reward_epoch_pk" PRIMARY KEY("voter","day","reward_epoch")
);
--> statement-breakpoint
CREATE TABLE "fsp_progress" (
	"id" integer PRIMARY KEY NOT NULL,
	"block_number" integer NOT NULL,
	"block_hash" text NOT NULL,
	"block_at" timestamp with time zone NOT NULL,
	"resume_from" integer NOT NULL,
	"state" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "fsp_rewards" (
	"reward_epoch" integer NOT NULL,
	"beneficiary" text NOT NULL,
	"claim_type" integer NOT NULL,
	"voter" text,
	"amount_wei" numeric(78, 0),
	"claimed" boolean NOT NULL,
	CONSTRAINT "fsp_rewards_reward_epoch_beneficiary_claim_type_pk" PRIMARY KEY("reward_epoch","beneficiary","claim_type")
);
--> statement-breakpoint
CREATE TABLE "fsp_rounds" (
	"round" integer PRIMARY KEY NOT NULL,
	"reward_epoch" integer NOT NULL,
	"starts_at" timestamp with time zone NOT NULL,
	"block_number" integer NOT NULL,
	"block_hash" text NOT NULL,
	"block_at" timestamp with time zone NOT NULL,
	"providers" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "publications" (
	"kind" text NOT NULL,
	"reward_epoch_id" integer NOT NULL,
	"data" jsonb NOT NULL,
	"seen_at" timestamp with time zone NOT NULL,
	CONSTRAINT "publications_kind_reward_epoch_id_pk" PRIMARY KEY("kind","reward_epoch_id")
);
--> statement-breakpoint
CREATE TABLE "read_ranges" (
	"name" text NOT NULL,
	"from_block" integer NOT NULL,
	"to_block" integer NOT NULL,
	CONSTRAINT "read_ranges_name_from_block_pk" PRIMARY KEY("name","from_block")
);
--> statement-breakpoint
CREATE TABLE "validator_polls" (
	"polled_at" timestamp with time zone PRIMARY KEY NOT NULL,
	"validators" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "vote_signatures" (
	"reward_epoch_id" integer NOT NULL,
	"kind" text NOT NULL,
	"voter" text NOT NULL,
	"hash" text NOT NULL,
	"signed_at" timestamp with time zone NOT NULL,
	"is_last" boolean NOT NULL,
	CONSTRAINT "vote_signatures_reward_epoch_id_kind_voter_hash_pk" PRIMARY KEY("reward_epoch_id","kind","voter","hash")
);
--> statement-breakpoint
CREATE TABLE "notices" (
	"recipient_id" integer NOT NULL,
	"key" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "notices_recipient_id_key_pk" PRIMARY KEY("recipient_id","key")
);
--> statement-breakpoint
CREATE TABLE "figure_hours" (
	"kind" text NOT NULL,
	"hour" timestamp with time zone NOT NULL,
	"counts" jsonb NOT NULL,
	CONSTRAINT "figure_hours_kind_hour_pk" PRIMARY KEY("kind","hour")
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"wallet" text NOT NULL,
	"operation" text NOT NULL,
	"key" text NOT NULL,
	"fingerprint" text NOT NULL,
	"status" integer NOT NULL,
	"answer" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_wallet_operation_key_pk" PRIMARY KEY("wallet","operation","key")
);
--> statement-breakpoint
CREATE TABLE "public_figures" (
	"id" text PRIMARY KEY NOT NULL,
	"figures" jsonb NOT NULL,
	"as_of" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rate_counts" (
	"key" text PRIMARY KEY NOT NULL,
	"points" integer NOT NULL,
	"expire" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "confirmation_mails" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "confirmation_mails_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"recipient_id" integer NOT NULL,
	"wallet" text NOT NULL,
	"address_digest" text NOT NULL,
	"mailbox_digest" text,
	"due_at" timestamp with time zone NOT NULL,
	"next_attempt_at" timestamp with time zone,
	"attempts" integer NOT NULL,
	"sent_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "connect_codes" (
	"chat_id" bigint PRIMARY KEY NOT NULL,
	"hash" text NOT NULL,
	"asked_by" bigint NOT NULL,
	"title" text NOT NULL,
	"username" text,
	"locale" text NOT NULL,
	"spend" boolean NOT NULL,
	"spend_of" text,
	"goes_on" text,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone,
	"wallet" text,
	CONSTRAINT "connect_codes_hash_unique" UNIQUE("hash")
);
--> statement-breakpoint
CREATE TABLE "link_codes" (
	"hash" text PRIMARY KEY NOT NULL,
	"group_hash" text,
	"group_chat_id" bigint,
	"wallet" text NOT NULL,
	"name" text,
	"scopes" text[] NOT NULL,
	"members_acknowledge" boolean,
	"made_by" text,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone,
	CONSTRAINT "link_codes_group_hash_unique" UNIQUE("group_hash")
);
--> statement-breakpoint
CREATE TABLE "mail_refusals" (
	"mailbox_digest" text PRIMARY KEY NOT NULL,
	"refused_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "notification_settings" (
	"wallet" text PRIMARY KEY NOT NULL,
	"settings" jsonb NOT NULL,
	"version" integer NOT NULL,
	"updated_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recipients" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "recipients_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"wallet" text NOT NULL,
	"channel" text NOT NULL,
	"own" boolean NOT NULL,
	"name" text,
	"destination" text NOT NULL,
	"target" text NOT NULL,
	"partition_key" text NOT NULL,
	"locale" text NOT NULL,
	"timezone" text NOT NULL,
	"status" text NOT NULL,
	"status_reason" text,
	"switched_at" timestamp with time zone NOT NULL,
	"min_severity" text NOT NULL,
	"is_default" boolean NOT NULL,
	"chat_id" bigint,
	"chat_scopes" text[],
	"members_acknowledge" boolean DEFAULT true NOT NULL,
	"linked_by" bigint,
	"follows" text,
	"muted_until" timestamp with time zone,
	"reschedule_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	"verified_at" timestamp with time zone,
	"last_success_at" timestamp with time zone,
	"last_failure_at" timestamp with time zone,
	"failing_since" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "feed_points" (
	"feed" text NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"value" numeric(78, 0) NOT NULL,
	"decimals" smallint NOT NULL,
	"grade" smallint NOT NULL,
	"block" integer NOT NULL,
	CONSTRAINT "feed_points_feed_at_pk" PRIMARY KEY("feed","at")
);
--> statement-breakpoint
CREATE TABLE "observation_cursors" (
	"type" text PRIMARY KEY NOT NULL,
	"block_number" integer,
	"block_at" timestamp with time zone,
	"observed_at" timestamp with time zone,
	"failing_since" timestamp with time zone,
	"checked_at" timestamp with time zone,
	"outage_notified" text
);
--> statement-breakpoint
CREATE TABLE "published_blocks" (
	"name" text PRIMARY KEY NOT NULL,
	"block_number" integer NOT NULL,
	"block_hash" text NOT NULL,
	"block_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "signal_states" (
	"watch_id" integer NOT NULL,
	"signal" text NOT NULL,
	"state" jsonb NOT NULL,
	"phase" text NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"streak" integer,
	"severity" text,
	"last_evidence_at" timestamp with time zone NOT NULL,
	"last_fired_at" timestamp with time zone,
	"changes" timestamp with time zone[] NOT NULL,
	"cooldown_until" timestamp with time zone,
	CONSTRAINT "signal_states_watch_id_signal_pk" PRIMARY KEY("watch_id","signal")
);
--> statement-breakpoint
CREATE TABLE "slice_cursors" (
	"type" text NOT NULL,
	"slice" smallint NOT NULL,
	"block_number" integer,
	"block_at" timestamp with time zone,
	"observed_at" timestamp with time zone,
	CONSTRAINT "slice_cursors_type_slice_pk" PRIMARY KEY("type","slice")
);
--> statement-breakpoint
CREATE TABLE "targets" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "targets_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"type" text NOT NULL,
	"key" text NOT NULL,
	"target" jsonb NOT NULL,
	"key_settings" jsonb,
	"watch_count" integer NOT NULL,
	"observation" jsonb,
	"summary" jsonb,
	"observed_at" timestamp with time zone,
	"recheck_at" timestamp with time zone,
	"must_judge" boolean NOT NULL,
	"no_data_since" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "watches" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "watches_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"wallet" text NOT NULL,
	"type" text NOT NULL,
	"target_id" integer NOT NULL,
	"label" text NOT NULL,
	"settings" jsonb NOT NULL,
	"signals" jsonb NOT NULL,
	"recipient_ids" integer[],
	"min_severity" text NOT NULL,
	"escalate_after_minutes" integer,
	"escalate_to" integer[] DEFAULT '{}' NOT NULL,
	"cooldown_seconds" integer NOT NULL,
	"status" text NOT NULL,
	"suspended_at" timestamp with time zone,
	"muted_until" timestamp with time zone,
	"muted_since" timestamp with time zone,
	"version" integer NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	CONSTRAINT "watches_mute_has_start" CHECK (("watches"."muted_until" is null) = ("watches"."muted_since" is null))
);
--> statement-breakpoint
CREATE TABLE "telegram_chats" (
	"id" bigint PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"title" text NOT NULL,
	"locale" text NOT NULL,
	"wallet" text,
	"current_message_id" integer,
	"wizard_message_id" integer,
	"topup_message_id" integer,
	"status_message_id" integer,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "telegram_drafts" (
	"chat_id" bigint NOT NULL,
	"person_id" bigint NOT NULL,
	"id" uuid NOT NULL,
	"rev" integer NOT NULL,
	"wallet" text NOT NULL,
	"values" jsonb NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "telegram_drafts_chat_id_person_id_pk" PRIMARY KEY("chat_id","person_id")
);
--> statement-breakpoint
CREATE TABLE "telegram_live_messages" (
	"chat_id" bigint NOT NULL,
	"message_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"wallet" text,
	"handle" text,
	"stage" text,
	"shown" text,
	"change_count" integer NOT NULL,
	"due_at" timestamp with time zone NOT NULL,
	"leased_until" timestamp with time zone,
	"expires_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "telegram_live_messages_chat_id_message_id_pk" PRIMARY KEY("chat_id","message_id")
);
--> statement-breakpoint
CREATE TABLE "telegram_questions" (
	"chat_id" bigint NOT NULL,
	"person_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"about" jsonb NOT NULL,
	"message_id" bigint NOT NULL,
	"refusals" integer NOT NULL,
	"is_answered" boolean DEFAULT false NOT NULL,
	"asked_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "telegram_questions_chat_id_person_id_pk" PRIMARY KEY("chat_id","person_id")
);
--> statement-breakpoint
CREATE TABLE "telegram_updates" (
	"update_id" bigint PRIMARY KEY NOT NULL,
	"chat_key" text NOT NULL,
	"turn" bigint DEFAULT 0 NOT NULL,
	"update" jsonb,
	"attempts" integer NOT NULL,
	"received_at" timestamp with time zone NOT NULL,
	"leased_until" timestamp with time zone,
	"handled_at" timestamp with time zone
);
--> statement-breakpoint
ALTER TABLE "signal_states" ADD CONSTRAINT "signal_states_watch_id_watches_id_fk" FOREIGN KEY ("watch_id") REFERENCES "public"."watches"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "watches" ADD CONSTRAINT "watches_target_id_targets_id_fk" FOREIGN KEY ("target_id") REFERENCES "public"."targets"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "alert_budgets_summary" ON "alert_budgets" USING btree ("summary_at") WHERE summary_at is not null;--> statement-breakpoint
CREATE INDEX "alerts_wallet" ON "alerts" USING btree ("wallet","fired_at","id");--> statement-breakpoint
CREATE INDEX "alerts_incident" ON "alerts" USING btree ("wallet","incident_id");--> statement-breakpoint
CREATE INDEX "alerts_created" ON "alerts" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "alerts_watch" ON "alerts" USING btree ("watch_id","fired_at");--> statement-breakpoint
CREATE INDEX "alerts_open" ON "alerts" USING btree ("wallet","watch_id","signal") WHERE is_episode and recovered_at is null;--> statement-breakpoint
CREATE INDEX "alerts_held_back" ON "alerts" USING btree ("wallet") WHERE notified_at is null and recovered_at is null;--> statement-breakpoint
CREATE INDEX "alerts_remind" ON "alerts" USING btree ("remind_at") WHERE remind_at is not null;--> statement-breakpoint
CREATE INDEX "alerts_escalate" ON "alerts" USING btree ("escalate_at") WHERE escalate_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "alerts_once" ON "alerts" USING btree ("watch_id",coalesce("signal", ''),"event","position","fired_at");--> statement-breakpoint
CREATE INDEX "challenges_expires" ON "challenges" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "tokens_wallet" ON "tokens" USING btree ("wallet");--> statement-breakpoint
CREATE INDEX "tokens_expires" ON "tokens" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "tokens_revoked" ON "tokens" USING btree ("revoked_at") WHERE revoked_at is not null;--> statement-breakpoint
CREATE INDEX "accounts_created" ON "accounts" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "ledger_entries_wallet" ON "ledger_entries" USING btree ("wallet","created_at","position");--> statement-breakpoint
CREATE INDEX "ledger_entries_created" ON "ledger_entries" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "ledger_entries_rare" ON "ledger_entries" USING btree ("wallet","type","created_at","position") WHERE type <> 'usage';--> statement-breakpoint
CREATE INDEX "free_calls_day" ON "free_calls" USING btree ("day");--> statement-breakpoint
CREATE INDEX "capacity_changes_at" ON "capacity_changes" USING btree ("at");--> statement-breakpoint
CREATE INDEX "subscriptions_wallet" ON "subscriptions" USING btree ("wallet","id");--> statement-breakpoint
CREATE INDEX "subscriptions_due" ON "subscriptions" USING btree ("due_at") WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "subscriptions_remind" ON "subscriptions" USING btree ("remind_at") WHERE remind_at is not null;--> statement-breakpoint
CREATE INDEX "trials_remind" ON "trials" USING btree ("remind_at") WHERE remind_at is not null;--> statement-breakpoint
CREATE INDEX "payment_gaps_due" ON "payment_gaps" USING btree ("next_try_at");--> statement-breakpoint
CREATE INDEX "topup_payments_handle" ON "topup_payments" USING btree ("handle");--> statement-breakpoint
CREATE INDEX "topup_payments_block" ON "topup_payments" USING btree ("block_number");--> statement-breakpoint
CREATE INDEX "topup_payments_open" ON "topup_payments" USING btree ("seen_at") WHERE "topup_payments"."settled_at" is null;--> statement-breakpoint
CREATE INDEX "topup_submissions_due" ON "topup_submissions" USING btree ("checked_at") WHERE "topup_submissions"."state" = 'submitted';--> statement-breakpoint
CREATE INDEX "topup_submissions_wallet" ON "topup_submissions" USING btree ("wallet","submitted_at");--> statement-breakpoint
CREATE INDEX "topup_submissions_age" ON "topup_submissions" USING btree ("submitted_at");--> statement-breakpoint
CREATE INDEX "topups_wallet" ON "topups" USING btree ("wallet","created_at");--> statement-breakpoint
CREATE INDEX "topups_open" ON "topups" USING btree ("asset","expires_at");--> statement-breakpoint
CREATE INDEX "topups_expires" ON "topups" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "telegram_paces_flooded" ON "telegram_paces" USING btree ("bot_id","flooded_at") WHERE flooded_at is not null;--> statement-breakpoint
CREATE INDEX "delivery_heads_due" ON "delivery_heads" USING btree ("channel","urgency","due_at","recipient_id") WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "delivery_heads_silent" ON "delivery_heads" USING btree ("channel","due_at") WHERE is_silent;--> statement-breakpoint
CREATE INDEX "delivery_log_created" ON "delivery_log" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "delivery_log_alert" ON "delivery_log" USING btree ("alert_id");--> statement-breakpoint
CREATE INDEX "delivery_log_recipient" ON "delivery_log" USING btree ("recipient_id","created_at");--> statement-breakpoint
CREATE INDEX "delivery_log_deferred" ON "delivery_log" USING btree ("recipient_id","deferred_until") WHERE deferred_until is not null;--> statement-breakpoint
CREATE INDEX "delivery_log_retained" ON "delivery_log" USING btree ("recipient_id","fired_at") WHERE retained_until is not null;--> statement-breakpoint
CREATE INDEX "delivery_log_incident" ON "delivery_log" USING btree ("recipient_id","incident_id") WHERE incident_id is not null and carried_by is not null and not recovery;--> statement-breakpoint
CREATE INDEX "delivery_log_carried" ON "delivery_log" USING btree ("carried_by") WHERE carried_by is not null;--> statement-breakpoint
CREATE INDEX "delivery_queue_due" ON "delivery_queue" USING btree ("recipient_id","urgency" DESC NULLS FIRST,"next_attempt_at","id") WHERE recipient_id is not null;--> statement-breakpoint
CREATE INDEX "delivery_queue_order" ON "delivery_queue" USING btree ("order_key","fired_at","position","id") WHERE order_key is not null;--> statement-breakpoint
CREATE INDEX "delivery_queue_waiting" ON "delivery_queue" USING btree ("recipient_id","fired_at","position","id") WHERE channel <> 'webhook' and next_attempt_at is not null;--> statement-breakpoint
CREATE INDEX "delivery_queue_alert" ON "delivery_queue" USING btree ("alert_id") WHERE alert_id is not null;--> statement-breakpoint
CREATE INDEX "outage_pictures_due" ON "outage_pictures" USING btree ("planned_at") WHERE not taken;--> statement-breakpoint
CREATE INDEX "sent_messages_recent" ON "sent_messages" USING btree ("recipient_id","sent_at");--> statement-breakpoint
CREATE INDEX "sent_messages_name" ON "sent_messages" USING btree ("recipient_id","message_id");--> statement-breakpoint
CREATE INDEX "sent_messages_stale" ON "sent_messages" USING btree ("channel","recipient_id","revise_at") WHERE revise_at is not null;--> statement-breakpoint
CREATE INDEX "fsp_daily_day" ON "fsp_daily" USING btree ("day");--> statement-breakpoint
CREATE INDEX "fsp_rewards_waiting" ON "fsp_rewards" USING btree ("voter") WHERE not claimed;--> statement-breakpoint
CREATE INDEX "fsp_rounds_block" ON "fsp_rounds" USING btree ("block_number");--> statement-breakpoint
CREATE INDEX "notices_created" ON "notices" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "idempotency_keys_created" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "rate_counts_expire" ON "rate_counts" USING btree ("expire");--> statement-breakpoint
CREATE INDEX "confirmation_mails_due" ON "confirmation_mails" USING btree ("next_attempt_at") WHERE next_attempt_at is not null;--> statement-breakpoint
CREATE INDEX "confirmation_mails_recipient" ON "confirmation_mails" USING btree ("recipient_id");--> statement-breakpoint
CREATE INDEX "confirmation_mails_wallet" ON "confirmation_mails" USING btree ("wallet","due_at");--> statement-breakpoint
CREATE INDEX "confirmation_mails_mailbox" ON "confirmation_mails" USING btree ("mailbox_digest","due_at");--> statement-breakpoint
CREATE INDEX "notification_settings_weekly" ON "notification_settings" USING btree ("wallet") WHERE settings @> '{"weeklyCard": true}'::jsonb;--> statement-breakpoint
CREATE INDEX "recipients_wallet" ON "recipients" USING btree ("wallet","id");--> statement-breakpoint
CREATE UNIQUE INDEX "recipients_own_channel" ON "recipients" USING btree ("wallet","channel") WHERE own;--> statement-breakpoint
CREATE UNIQUE INDEX "recipients_wallet_chat" ON "recipients" USING btree ("wallet","chat_id");--> statement-breakpoint
CREATE INDEX "recipients_chat" ON "recipients" USING btree ("chat_id");--> statement-breakpoint
CREATE UNIQUE INDEX "recipients_follower" ON "recipients" USING btree ("chat_id") WHERE follows is not null;--> statement-breakpoint
CREATE INDEX "recipients_lost_follower" ON "recipients" USING btree ("id") WHERE follows is not null and status <> 'active';--> statement-breakpoint
CREATE INDEX "recipients_reschedule" ON "recipients" USING btree ("id") WHERE reschedule_at is not null;--> statement-breakpoint
CREATE INDEX "feed_points_grade" ON "feed_points" USING btree ("grade","at");--> statement-breakpoint
CREATE INDEX "signal_states_outage" ON "signal_states" USING btree ("watch_id") WHERE signal = '';--> statement-breakpoint
CREATE UNIQUE INDEX "targets_type_key" ON "targets" USING btree ("type","key");--> statement-breakpoint
CREATE INDEX "targets_type" ON "targets" USING btree ("type","id");--> statement-breakpoint
CREATE INDEX "targets_to_judge" ON "targets" USING btree ("type","id") WHERE must_judge;--> statement-breakpoint
CREATE INDEX "targets_unwatched" ON "targets" USING btree ("id") WHERE watch_count = 0;--> statement-breakpoint
CREATE INDEX "targets_slice" ON "targets" USING btree ("type",(get_byte(decode(md5(key), 'hex'), 0) % 32),"id");--> statement-breakpoint
CREATE INDEX "targets_no_data" ON "targets" USING btree ("type","id") WHERE no_data_since is not null;--> statement-breakpoint
CREATE INDEX "watches_wallet" ON "watches" USING btree ("wallet","id");--> statement-breakpoint
CREATE INDEX "watches_target" ON "watches" USING btree ("target_id","id");--> statement-breakpoint
CREATE INDEX "watches_muted" ON "watches" USING btree ("muted_until") WHERE muted_until is not null;--> statement-breakpoint
CREATE INDEX "telegram_drafts_expiry" ON "telegram_drafts" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "telegram_live_messages_due" ON "telegram_live_messages" USING btree ("due_at");--> statement-breakpoint
CREATE INDEX "telegram_live_messages_handle" ON "telegram_live_messages" USING btree ("handle");--> statement-breakpoint
CREATE INDEX "telegram_questions_expiry" ON "telegram_questions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "telegram_updates_open" ON "telegram_updates" USING btree ("handled_at","update_id");--> statement-breakpoint
CREATE INDEX "telegram_updates_turn" ON "telegram_updates" USING btree ("turn","update_id") WHERE handled_at is null;--> statement-breakpoint
CREATE INDEX "telegram_updates_chat" ON "telegram_updates" USING btree ("chat_key","update_id") WHERE handled_at is null;--> statement-breakpoint
CREATE INDEX "operator_acts_at" ON "operator_acts" USING btree ("at");--> statement-breakpoint
-- The queue and the log of deliveries together.
CREATE VIEW "deliveries" AS (select id, wallet, alert_id, incident_id, recipient_id, watch_id, channel, order_key, fired_at, position, envelope, kind, answers, recovery, test, urgency, status, attempts, last_status_code, last_error, created_at, partition_key, next_attempt_at, planned_at, leased_until, null::timestamp with time zone as deferred_until, null::uuid as summary_delivery_id, null::timestamp with time zone as retained_until, null::timestamp with time zone as delivered_at, null::text as message_id, null::uuid as carried_by from delivery_queue union all select id, wallet, alert_id, incident_id, recipient_id, watch_id, channel, order_key, fired_at, position, envelope, kind, answers, recovery, test, urgency, status, attempts, last_status_code, last_error, created_at, null::text as partition_key, null::timestamp with time zone as next_attempt_at, null::timestamp with time zone as planned_at, null::timestamp with time zone as leased_until, deferred_until, summary_delivery_id, retained_until, delivered_at, message_id, carried_by from delivery_log);--> statement-breakpoint
-- Rows that are often updated stay on their page, so that an update writes no index.
ALTER TABLE "signal_states" SET (fillfactor = 50);--> statement-breakpoint
ALTER TABLE "alert_budgets" SET (fillfactor = 50);--> statement-breakpoint
ALTER TABLE "incident_numbers" SET (fillfactor = 50);--> statement-breakpoint
-- Every delivery passes through the queue: vacuum clears what has left it before it grows, and never takes its last pages
-- back, which would lock it.
ALTER TABLE "delivery_queue" SET (
	fillfactor = 50,
	vacuum_truncate = off,
	autovacuum_vacuum_scale_factor = 0,
	autovacuum_vacuum_threshold = 1000,
	autovacuum_vacuum_cost_delay = 0,
	autovacuum_analyze_scale_factor = 0,
	autovacuum_analyze_threshold = 1000,
	toast.autovacuum_vacuum_scale_factor = 0,
	toast.autovacuum_vacuum_threshold = 1000,
	toast.vacuum_truncate = off
);
