-- The condition of this index matches only statements that read retries. PostgreSQL read the index of all unfinished
-- deliveries in place of "deliveries_retrying", while its statistics counted none of them. The previous release reads that
-- one, so it is dropped a release later.
CREATE INDEX "deliveries_retries" ON "deliveries" USING btree ("recipient_id","next_attempt_at") WHERE status || '' = 'retrying' and planned_at is null;
