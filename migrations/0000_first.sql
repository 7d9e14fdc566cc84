CREATE TABLE "alerts" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "alerts_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"wallet" text NOT NULL,
	"watch_id" integer NOT NULL,
	"watch_label" text NOT NULL,
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
	"acknowledged_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL
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
	CONSTRAINT "accounts_slots_not_negative" CHECK ("accounts"."occupied_slots" >= 0)
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
	"proved_at" timestamp with time zone NOT NULL
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
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "trials" (
	"wallet" text PRIMARY KEY NOT NULL,
	"telegram_user_id" bigint,
	"started_at" timestamp with time zone NOT NULL,
	"ends_at" timestamp with time zone NOT NULL,
	CONSTRAINT "trials_telegram_user_id_unique" UNIQUE("telegram_user_id")
);
--> statement-breakpoint
CREATE TABLE "payment_cursors" (
	"chain" text PRIMARY KEY NOT NULL,
	"position" bigint,
	"tip" bigint,
	"since_at" timestamp with time zone NOT NULL
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
CREATE TABLE "topup_submissions" (
	"handle" text NOT NULL,
	"tx_hash" text NOT NULL,
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
	"destination_tag" bigint,
	"credits" bigint NOT NULL,
	"bonus_credits" bigint NOT NULL,
	"amount_units" numeric(78, 0) NOT NULL,
	"price_value" numeric(78, 0) NOT NULL,
	"price_decimals" integer NOT NULL,
	"usd_per_1000_credits_micros" integer NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "topups_destination_tag_unique" UNIQUE("destination_tag")
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
CREATE TABLE "deliveries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"wallet" text NOT NULL,
	"alert_id" integer,
	"recipient_id" integer NOT NULL,
	"channel" text NOT NULL,
	"lane" text NOT NULL,
	"order_key" text NOT NULL,
	"fired_at" timestamp with time zone NOT NULL,
	"position" bigint NOT NULL,
	"envelope" json NOT NULL,
	"status" text NOT NULL,
	"attempts" integer NOT NULL,
	"next_attempt_at" timestamp with time zone,
	"leased_until" timestamp with time zone,
	"last_status_code" integer,
	"last_error" text,
	"created_at" timestamp with time zone NOT NULL,
	"delivered_at" timestamp with time zone
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
CREATE TABLE "confirmation_mails" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "confirmation_mails_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"recipient_id" integer NOT NULL,
	"wallet" text NOT NULL,
	"address_digest" text NOT NULL,
	"due_at" timestamp with time zone NOT NULL,
	"next_attempt_at" timestamp with time zone,
	"attempts" integer NOT NULL,
	"sent_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "link_codes" (
	"hash" text PRIMARY KEY NOT NULL,
	"wallet" text NOT NULL,
	"name" text,
	"scopes" text[] NOT NULL,
	"made_by" text,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone
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
	"lane" text NOT NULL,
	"locale" text NOT NULL,
	"timezone" text NOT NULL,
	"status" text NOT NULL,
	"status_reason" text,
	"min_severity" text NOT NULL,
	"is_default" boolean NOT NULL,
	"chat_id" bigint,
	"chat_scopes" text[],
	"linked_by" bigint,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	"verified_at" timestamp with time zone,
	"last_success_at" timestamp with time zone,
	"last_failure_at" timestamp with time zone,
	"failing_since" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "observation_cursors" (
	"type" text PRIMARY KEY NOT NULL,
	"block_number" integer,
	"block_at" timestamp with time zone,
	"observed_at" timestamp with time zone,
	"failing_since" timestamp with time zone
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
	CONSTRAINT "signal_states_watch_id_signal_pk" PRIMARY KEY("watch_id","signal")
);
--> statement-breakpoint
CREATE TABLE "targets" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "targets_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"type" text NOT NULL,
	"key" text NOT NULL,
	"target" jsonb NOT NULL,
	"watch_count" integer NOT NULL,
	"observation" jsonb,
	"observed_at" timestamp with time zone,
	"stale" boolean NOT NULL,
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
	"cooldown_seconds" integer NOT NULL,
	"status" text NOT NULL,
	"suspended_at" timestamp with time zone,
	"muted_until" timestamp with time zone,
	"version" integer NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "telegram_chats" (
	"id" bigint PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"title" text NOT NULL,
	"locale" text NOT NULL,
	"wallet" text,
	"living_message_id" integer,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "telegram_updates" (
	"update_id" bigint PRIMARY KEY NOT NULL,
	"chat_key" text NOT NULL,
	"update" jsonb,
	"attempts" integer NOT NULL,
	"received_at" timestamp with time zone NOT NULL,
	"leased_until" timestamp with time zone,
	"handled_at" timestamp with time zone
);
--> statement-breakpoint
ALTER TABLE "signal_states" ADD CONSTRAINT "signal_states_watch_id_watches_id_fk" FOREIGN KEY ("watch_id") REFERENCES "public"."watches"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "watches" ADD CONSTRAINT "watches_target_id_targets_id_fk" FOREIGN KEY ("target_id") REFERENCES "public"."targets"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "alerts_once" ON "alerts" USING btree ("watch_id",coalesce("signal", ''),"event","position");--> statement-breakpoint
CREATE INDEX "alerts_wallet" ON "alerts" USING btree ("wallet","fired_at","id");--> statement-breakpoint
CREATE INDEX "alerts_created" ON "alerts" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "alerts_watch" ON "alerts" USING btree ("watch_id","fired_at");--> statement-breakpoint
CREATE INDEX "challenges_expires" ON "challenges" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "tokens_wallet" ON "tokens" USING btree ("wallet");--> statement-breakpoint
CREATE INDEX "ledger_entries_wallet" ON "ledger_entries" USING btree ("wallet","created_at","position");--> statement-breakpoint
CREATE INDEX "capacity_changes_at" ON "capacity_changes" USING btree ("at");--> statement-breakpoint
CREATE INDEX "subscriptions_wallet" ON "subscriptions" USING btree ("wallet","id");--> statement-breakpoint
CREATE INDEX "subscriptions_due" ON "subscriptions" USING btree ("due_at") WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "topup_payments_handle" ON "topup_payments" USING btree ("handle");--> statement-breakpoint
CREATE INDEX "topup_payments_open" ON "topup_payments" USING btree ("seen_at") WHERE "topup_payments"."settled_at" is null;--> statement-breakpoint
CREATE INDEX "topup_submissions_due" ON "topup_submissions" USING btree ("checked_at") WHERE "topup_submissions"."state" = 'submitted';--> statement-breakpoint
CREATE INDEX "topups_wallet" ON "topups" USING btree ("wallet","created_at");--> statement-breakpoint
CREATE INDEX "deliveries_due" ON "deliveries" USING btree ("channel","next_attempt_at","id") WHERE status in ('pending', 'retrying');--> statement-breakpoint
CREATE INDEX "deliveries_order" ON "deliveries" USING btree ("order_key","fired_at","position","id") WHERE status in ('pending', 'retrying');--> statement-breakpoint
CREATE INDEX "deliveries_created" ON "deliveries" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "deliveries_alert" ON "deliveries" USING btree ("alert_id");--> statement-breakpoint
CREATE INDEX "deliveries_recipient" ON "deliveries" USING btree ("recipient_id","created_at");--> statement-breakpoint
CREATE INDEX "idempotency_keys_created" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "confirmation_mails_due" ON "confirmation_mails" USING btree ("next_attempt_at") WHERE next_attempt_at is not null;--> statement-breakpoint
CREATE INDEX "confirmation_mails_recipient" ON "confirmation_mails" USING btree ("recipient_id");--> statement-breakpoint
CREATE INDEX "confirmation_mails_address" ON "confirmation_mails" USING btree ("wallet","address_digest","due_at");--> statement-breakpoint
CREATE INDEX "recipients_wallet" ON "recipients" USING btree ("wallet","id");--> statement-breakpoint
CREATE UNIQUE INDEX "recipients_own_channel" ON "recipients" USING btree ("wallet","channel") WHERE own;--> statement-breakpoint
CREATE UNIQUE INDEX "recipients_wallet_chat" ON "recipients" USING btree ("wallet","chat_id");--> statement-breakpoint
CREATE INDEX "recipients_chat" ON "recipients" USING btree ("chat_id");--> statement-breakpoint
CREATE UNIQUE INDEX "targets_type_key" ON "targets" USING btree ("type","key");--> statement-breakpoint
CREATE INDEX "targets_type" ON "targets" USING btree ("type","id");--> statement-breakpoint
CREATE INDEX "targets_stale" ON "targets" USING btree ("type","id") WHERE stale;--> statement-breakpoint
CREATE INDEX "watches_wallet" ON "watches" USING btree ("wallet","id");--> statement-breakpoint
CREATE INDEX "watches_target" ON "watches" USING btree ("target_id","id");--> statement-breakpoint
CREATE INDEX "telegram_updates_open" ON "telegram_updates" USING btree ("handled_at","update_id");