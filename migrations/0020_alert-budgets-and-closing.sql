CREATE TABLE "alert_budgets" (
	"watch_id" integer NOT NULL,
	"recipient_id" integer NOT NULL,
	"allowed" integer NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"used" integer NOT NULL,
	"throttled" integer NOT NULL,
	"summary_at" timestamp with time zone,
	"throttled_at" timestamp with time zone,
	"announced_in" uuid,
	CONSTRAINT "alert_budgets_recipient_id_watch_id_pk" PRIMARY KEY("recipient_id","watch_id")
);
--> statement-breakpoint
ALTER TABLE "alerts" ADD COLUMN "episode_severity" text;--> statement-breakpoint
ALTER TABLE "recipients" ADD COLUMN "reschedule_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "watches" ADD COLUMN "muted_since" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "alert_budgets_summary" ON "alert_budgets" USING btree ("summary_at") WHERE summary_at is not null;--> statement-breakpoint
CREATE INDEX "recipients_reschedule" ON "recipients" USING btree ("id") WHERE reschedule_at is not null;--> statement-breakpoint
-- Open alerts whose signal has forgotten them: their watch was paused, or their signal was off, before such
-- states were kept. Nothing would ever end them.
UPDATE "alerts" a SET "state" = 'closed', "recovered_at" = now(), "remind_at" = NULL
WHERE a."is_episode" AND a."recovered_at" IS NULL AND NOT EXISTS (
  SELECT FROM "signal_states" s
  WHERE s."watch_id" = a."watch_id" AND s."signal" = coalesce(a."signal", '') AND s."phase" = 'firing'
);
