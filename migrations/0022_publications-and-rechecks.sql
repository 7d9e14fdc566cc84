CREATE TABLE "validator_polls" (
	"polled_at" timestamp with time zone PRIMARY KEY NOT NULL,
	"validators" jsonb NOT NULL
);
--> statement-breakpoint
ALTER TABLE "targets" ADD COLUMN "recheck_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "targets_unwatched" ON "targets" USING btree ("id") WHERE watch_count = 0;