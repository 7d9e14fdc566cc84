CREATE TABLE "fsp_progress" (
	"id" integer PRIMARY KEY NOT NULL,
	"block_number" integer NOT NULL,
	"block_at" timestamp with time zone NOT NULL,
	"resume_from" integer NOT NULL,
	"state" jsonb NOT NULL,
	"failing_since" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "fsp_rounds" (
	"round" integer PRIMARY KEY NOT NULL,
	"reward_epoch" integer NOT NULL,
	"starts_at" timestamp with time zone NOT NULL,
	"block_number" integer NOT NULL,
	"block_at" timestamp with time zone NOT NULL,
	"providers" jsonb NOT NULL
);
--> statement-breakpoint
CREATE INDEX "fsp_rounds_block" ON "fsp_rounds" USING btree ("block_number");