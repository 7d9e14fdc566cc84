CREATE TABLE "connect_codes" (
	"chat_id" bigint PRIMARY KEY NOT NULL,
	"hash" text NOT NULL,
	"asked_by" bigint NOT NULL,
	"title" text NOT NULL,
	"username" text,
	"locale" text NOT NULL,
	"spend" boolean NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone,
	"wallet" text,
	"message_id" bigint,
	"tell_at" timestamp with time zone,
	"tell_attempts" integer NOT NULL,
	CONSTRAINT "connect_codes_hash_unique" UNIQUE("hash")
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
CREATE TABLE "telegram_questions" (
	"chat_id" bigint NOT NULL,
	"person_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"about" jsonb NOT NULL,
	"message_id" bigint NOT NULL,
	"refusals" integer NOT NULL,
	"asked_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "telegram_questions_chat_id_person_id_pk" PRIMARY KEY("chat_id","person_id")
);
--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "remind_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "trials" ADD COLUMN "remind_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "topups" ADD COLUMN "renews" text;--> statement-breakpoint
ALTER TABLE "telegram_chats" ADD COLUMN "wizard_message_id" integer;--> statement-breakpoint
ALTER TABLE "telegram_chats" ADD COLUMN "topup_message_id" integer;--> statement-breakpoint
ALTER TABLE "telegram_chats" ADD COLUMN "status_message_id" integer;--> statement-breakpoint
CREATE INDEX "connect_codes_tell" ON "connect_codes" USING btree ("tell_at") WHERE tell_at is not null;--> statement-breakpoint
CREATE INDEX "telegram_drafts_expiry" ON "telegram_drafts" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "telegram_questions_expiry" ON "telegram_questions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "subscriptions_remind" ON "subscriptions" USING btree ("remind_at") WHERE remind_at is not null;--> statement-breakpoint
CREATE INDEX "trials_remind" ON "trials" USING btree ("remind_at") WHERE remind_at is not null;--> statement-breakpoint
ALTER TABLE "topups" ADD CONSTRAINT "topups_renews_unique" UNIQUE("renews");