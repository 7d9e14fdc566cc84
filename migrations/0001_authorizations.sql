ALTER TABLE "topups" ADD COLUMN "authorization_nonce" text;--> statement-breakpoint
ALTER TABLE "topups" ADD COLUMN "authorization_block" bigint;--> statement-breakpoint
CREATE UNIQUE INDEX "topups_authorization" ON "topups" USING btree ("wallet","token","authorization_nonce") WHERE "topups"."authorization_nonce" is not null;--> statement-breakpoint
CREATE INDEX "topups_followed" ON "topups" USING btree ("created_at") WHERE "topups"."authorization_block" is not null;