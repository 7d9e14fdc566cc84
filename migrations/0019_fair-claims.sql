DROP INDEX "deliveries_due";--> statement-breakpoint
DROP INDEX "deliveries_waiting";--> statement-breakpoint
DROP INDEX "sent_messages_stale";--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "backlog" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "unanswered" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "deliveries_backlog" ON "deliveries" USING btree ("channel","recipient_id","urgency","next_attempt_at","id") WHERE status in ('pending', 'retrying') and backlog and next_attempt_at is not null;--> statement-breakpoint
CREATE INDEX "deliveries_unanswered" ON "deliveries" USING btree ("channel","next_attempt_at") WHERE unanswered;--> statement-breakpoint
CREATE INDEX "deliveries_due" ON "deliveries" USING btree ("channel","urgency","next_attempt_at","id") WHERE status in ('pending', 'retrying') and not backlog;--> statement-breakpoint
CREATE INDEX "deliveries_waiting" ON "deliveries" USING btree ("recipient_id","fired_at","position","id") WHERE status in ('pending', 'retrying') and channel <> 'webhook' and next_attempt_at is not null;--> statement-breakpoint
CREATE INDEX "sent_messages_stale" ON "sent_messages" USING btree ("channel","recipient_id","revise_at") WHERE revise_at is not null;