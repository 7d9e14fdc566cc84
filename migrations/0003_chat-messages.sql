CREATE TABLE "sent_messages" (
	"id" uuid PRIMARY KEY NOT NULL,
	"wallet" text NOT NULL,
	"recipient_id" integer NOT NULL,
	"channel" text NOT NULL,
	"lane" text NOT NULL,
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
	"leased_until" timestamp with time zone
);
--> statement-breakpoint
DROP INDEX "deliveries_due";--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "watch_id" integer;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "kind" text;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "answers" integer;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "recovery" boolean;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "test" boolean;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "urgency" smallint;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "planned_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "held_until" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "kept_until" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "message_id" text;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "carried_by" uuid;--> statement-breakpoint
UPDATE "deliveries" SET "kind" = 'alert', "recovery" = false, "test" = false, "urgency" = 0;--> statement-breakpoint
ALTER TABLE "deliveries" ALTER COLUMN "kind" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "deliveries" ALTER COLUMN "recovery" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "deliveries" ALTER COLUMN "test" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "deliveries" ALTER COLUMN "urgency" SET NOT NULL;--> statement-breakpoint
CREATE INDEX "sent_messages_recent" ON "sent_messages" USING btree ("recipient_id","sent_at");--> statement-breakpoint
CREATE INDEX "sent_messages_name" ON "sent_messages" USING btree ("recipient_id","message_id");--> statement-breakpoint
CREATE INDEX "sent_messages_stale" ON "sent_messages" USING btree ("channel","revise_at") WHERE revise_at is not null;--> statement-breakpoint
CREATE INDEX "deliveries_waiting" ON "deliveries" USING btree ("recipient_id","fired_at","position","id") WHERE status in ('pending', 'retrying') and channel <> 'webhook';--> statement-breakpoint
CREATE INDEX "deliveries_retrying" ON "deliveries" USING btree ("recipient_id","next_attempt_at") WHERE status = 'retrying' and planned_at is null;--> statement-breakpoint
CREATE INDEX "deliveries_held" ON "deliveries" USING btree ("recipient_id","held_until") WHERE status = 'held';--> statement-breakpoint
CREATE INDEX "deliveries_kept" ON "deliveries" USING btree ("recipient_id","fired_at") WHERE kept_until is not null;--> statement-breakpoint
CREATE INDEX "deliveries_carried" ON "deliveries" USING btree ("carried_by") WHERE carried_by is not null;--> statement-breakpoint
CREATE INDEX "deliveries_due" ON "deliveries" USING btree ("channel","urgency","next_attempt_at","id") WHERE status in ('pending', 'retrying');