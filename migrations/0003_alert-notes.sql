ALTER TABLE "alerts" ADD COLUMN "note" text;--> statement-breakpoint
ALTER TABLE "alerts" ADD COLUMN "noted_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "alerts" ADD COLUMN "noted_by" text;--> statement-breakpoint
ALTER TABLE "alerts" ADD COLUMN "noted_account" bigint;