-- What is kept for a time only is partitioned by it: alerts by when they fired, deliveries and sent
-- messages by their ids, which begin with the time. Partitions are made while the service runs.
ALTER TABLE "alerts" RENAME TO "alerts_before";--> statement-breakpoint
CREATE TABLE "alerts" (LIKE "alerts_before" INCLUDING DEFAULTS) PARTITION BY RANGE ("fired_at");--> statement-breakpoint
CREATE TABLE "alerts_default" PARTITION OF "alerts" DEFAULT;--> statement-breakpoint
INSERT INTO "alerts" SELECT * FROM "alerts_before";--> statement-breakpoint
CREATE SEQUENCE "alerts_next_id" AS integer;--> statement-breakpoint
SELECT setval('alerts_next_id', "last_value", "is_called") FROM "alerts_id_seq";--> statement-breakpoint
DROP TABLE "alerts_before";--> statement-breakpoint
ALTER SEQUENCE "alerts_next_id" RENAME TO "alerts_id_seq";--> statement-breakpoint
ALTER SEQUENCE "alerts_id_seq" OWNED BY "alerts"."id";--> statement-breakpoint
ALTER TABLE "alerts" ALTER COLUMN "id" SET DEFAULT nextval('alerts_id_seq');--> statement-breakpoint
ALTER TABLE "alerts" ADD CONSTRAINT "alerts_id_fired_at_pk" PRIMARY KEY("id","fired_at");--> statement-breakpoint
CREATE INDEX "alerts_wallet" ON "alerts" USING btree ("wallet","fired_at","id");--> statement-breakpoint
CREATE INDEX "alerts_created" ON "alerts" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "alerts_watch" ON "alerts" USING btree ("watch_id","fired_at");--> statement-breakpoint
CREATE INDEX "alerts_open" ON "alerts" USING btree ("wallet","watch_id","signal") WHERE is_episode and recovered_at is null;--> statement-breakpoint
CREATE INDEX "alerts_remind" ON "alerts" USING btree ("remind_at") WHERE remind_at is not null;--> statement-breakpoint
CREATE INDEX "alerts_held_back" ON "alerts" USING btree ("wallet") WHERE told_at is null and recovered_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "alerts_once" ON "alerts" USING btree ("watch_id",coalesce("signal", ''),"event","position","fired_at");--> statement-breakpoint
ALTER TABLE "deliveries" RENAME TO "deliveries_before";--> statement-breakpoint
CREATE TABLE "deliveries" (LIKE "deliveries_before" INCLUDING DEFAULTS) PARTITION BY RANGE ("id");--> statement-breakpoint
CREATE TABLE "deliveries_default" PARTITION OF "deliveries" DEFAULT;--> statement-breakpoint
INSERT INTO "deliveries" SELECT * FROM "deliveries_before";--> statement-breakpoint
DROP TABLE "deliveries_before";--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_pkey" PRIMARY KEY("id");--> statement-breakpoint
CREATE INDEX "deliveries_order" ON "deliveries" USING btree ("order_key","fired_at","position","id") WHERE status in ('pending', 'retrying');--> statement-breakpoint
CREATE INDEX "deliveries_created" ON "deliveries" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "deliveries_alert" ON "deliveries" USING btree ("alert_id");--> statement-breakpoint
CREATE INDEX "deliveries_recipient" ON "deliveries" USING btree ("recipient_id","created_at");--> statement-breakpoint
CREATE INDEX "deliveries_waiting" ON "deliveries" USING btree ("recipient_id","fired_at","position","id") WHERE status in ('pending', 'retrying') and channel <> 'webhook';--> statement-breakpoint
CREATE INDEX "deliveries_retrying" ON "deliveries" USING btree ("recipient_id","next_attempt_at") WHERE status = 'retrying' and planned_at is null;--> statement-breakpoint
CREATE INDEX "deliveries_held" ON "deliveries" USING btree ("recipient_id","held_until") WHERE status = 'held';--> statement-breakpoint
CREATE INDEX "deliveries_kept" ON "deliveries" USING btree ("recipient_id","fired_at") WHERE kept_until is not null;--> statement-breakpoint
CREATE INDEX "deliveries_carried" ON "deliveries" USING btree ("carried_by") WHERE carried_by is not null;--> statement-breakpoint
CREATE INDEX "deliveries_due" ON "deliveries" USING btree ("channel","urgency","next_attempt_at","id") WHERE status in ('pending', 'retrying');--> statement-breakpoint
ALTER TABLE "sent_messages" RENAME TO "sent_messages_before";--> statement-breakpoint
CREATE TABLE "sent_messages" (LIKE "sent_messages_before" INCLUDING DEFAULTS) PARTITION BY RANGE ("id");--> statement-breakpoint
CREATE TABLE "sent_messages_default" PARTITION OF "sent_messages" DEFAULT;--> statement-breakpoint
INSERT INTO "sent_messages" SELECT * FROM "sent_messages_before";--> statement-breakpoint
DROP TABLE "sent_messages_before";--> statement-breakpoint
ALTER TABLE "sent_messages" ADD CONSTRAINT "sent_messages_pkey" PRIMARY KEY("id");--> statement-breakpoint
CREATE INDEX "sent_messages_recent" ON "sent_messages" USING btree ("recipient_id","sent_at");--> statement-breakpoint
CREATE INDEX "sent_messages_name" ON "sent_messages" USING btree ("recipient_id","message_id");--> statement-breakpoint
CREATE INDEX "sent_messages_stale" ON "sent_messages" USING btree ("channel","revise_at") WHERE revise_at is not null;
