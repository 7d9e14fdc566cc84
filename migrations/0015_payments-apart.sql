ALTER TABLE "payment_cursors" ADD COLUMN "balance_of" text;--> statement-breakpoint
ALTER TABLE "payment_cursors" ADD COLUMN "balance_block" bigint;--> statement-breakpoint
ALTER TABLE "payment_cursors" ADD COLUMN "balance_units" numeric(78, 0);--> statement-breakpoint
ALTER TABLE "topup_submissions" ADD COLUMN "wallet" text;--> statement-breakpoint
UPDATE "topup_submissions" s SET "wallet" = t."wallet" FROM "topups" t WHERE t."handle" = s."handle";--> statement-breakpoint
DELETE FROM "topup_submissions" WHERE "wallet" IS NULL;--> statement-breakpoint
ALTER TABLE "topup_submissions" ALTER COLUMN "wallet" SET NOT NULL;--> statement-breakpoint
CREATE INDEX "tokens_expires" ON "tokens" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "tokens_revoked" ON "tokens" USING btree ("revoked_at") WHERE revoked_at is not null;--> statement-breakpoint
CREATE INDEX "ledger_entries_rare" ON "ledger_entries" USING btree ("wallet","type","created_at","position") WHERE type <> 'usage';--> statement-breakpoint
CREATE INDEX "free_calls_day" ON "free_calls" USING btree ("day");--> statement-breakpoint
CREATE INDEX "topup_payments_block" ON "topup_payments" USING btree ("block_number");--> statement-breakpoint
CREATE INDEX "topup_submissions_wallet" ON "topup_submissions" USING btree ("wallet","submitted_at");--> statement-breakpoint
CREATE INDEX "topup_submissions_age" ON "topup_submissions" USING btree ("submitted_at");--> statement-breakpoint
CREATE INDEX "topups_expires" ON "topups" USING btree ("expires_at");