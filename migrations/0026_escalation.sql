ALTER TABLE "alerts" ADD COLUMN "escalate_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "alerts" ADD COLUMN "escalated_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "watches" ADD COLUMN "escalate_after_minutes" integer;--> statement-breakpoint
ALTER TABLE "watches" ADD COLUMN "escalate_to" integer[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
CREATE INDEX "alerts_escalate" ON "alerts" USING btree ("escalate_at") WHERE escalate_at is not null;