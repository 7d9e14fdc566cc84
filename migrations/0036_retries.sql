-- The condition of the index matches only statements that read retries. PostgreSQL read the index of all unfinished
-- deliveries in place of this one, while its statistics counted none of them.
DROP INDEX "deliveries_retrying";--> statement-breakpoint
CREATE INDEX "deliveries_retrying" ON "deliveries" USING btree ("recipient_id","next_attempt_at") WHERE status || '' = 'retrying' and planned_at is null;