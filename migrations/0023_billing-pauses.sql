CREATE TABLE "billing_pauses" (
	"number" integer PRIMARY KEY NOT NULL,
	"off_at" timestamp with time zone NOT NULL,
	"on_at" timestamp with time zone,
	"settled_at" timestamp with time zone
);
--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "moved_for_pause" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "trials" ADD COLUMN "moved_for_pause" integer DEFAULT 0 NOT NULL;