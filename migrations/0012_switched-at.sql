ALTER TABLE "recipients" ADD COLUMN "switched_at" timestamp with time zone;--> statement-breakpoint
UPDATE "recipients" SET "switched_at" = case when status = 'active' then coalesce(verified_at, created_at) else updated_at end;--> statement-breakpoint
ALTER TABLE "recipients" ALTER COLUMN "switched_at" SET NOT NULL;
