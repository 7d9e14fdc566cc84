CREATE TABLE "payment_gaps" (
	"block_number" bigint PRIMARY KEY NOT NULL,
	"tries" integer NOT NULL,
	"first_failed_at" timestamp with time zone NOT NULL,
	"recorded_at" timestamp with time zone,
	"next_try_at" timestamp with time zone
);
--> statement-breakpoint
CREATE INDEX "payment_gaps_due" ON "payment_gaps" USING btree ("next_try_at");