CREATE TABLE "notices" (
	"recipient_id" integer NOT NULL,
	"key" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "notices_recipient_id_key_pk" PRIMARY KEY("recipient_id","key")
);
--> statement-breakpoint
ALTER TABLE "alerts" ADD COLUMN "started_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "alerts" ADD COLUMN "is_episode" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "alerts" ALTER COLUMN "is_episode" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "alerts" ADD COLUMN "raises" integer;--> statement-breakpoint
ALTER TABLE "alerts" ADD COLUMN "told_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "alerts" ADD COLUMN "acknowledged_by" text;--> statement-breakpoint
ALTER TABLE "alerts" ADD COLUMN "muted_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "alerts" ADD COLUMN "reminders_sent" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "alerts" ALTER COLUMN "reminders_sent" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "alerts" ADD COLUMN "remind_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "alerts" ADD COLUMN "flap_of" integer;--> statement-breakpoint
ALTER TABLE "alerts" ADD COLUMN "flapping" jsonb;--> statement-breakpoint
UPDATE "alerts" SET "told_at" = "created_at", "is_episode" = "signal" not in ('balance-change', 'price-move');--> statement-breakpoint
ALTER TABLE "recipients" ADD COLUMN "muted_until" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "notices_created" ON "notices" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "alerts_open" ON "alerts" USING btree ("wallet","watch_id","signal") WHERE is_episode and recovered_at is null;--> statement-breakpoint
CREATE INDEX "alerts_remind" ON "alerts" USING btree ("remind_at") WHERE remind_at is not null;--> statement-breakpoint
CREATE INDEX "watches_muted" ON "watches" USING btree ("muted_until") WHERE muted_until is not null;