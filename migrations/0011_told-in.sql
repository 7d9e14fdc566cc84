DROP INDEX "deliveries_held";--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "told_in" uuid;--> statement-breakpoint
CREATE INDEX "deliveries_held" ON "deliveries" USING btree ("recipient_id","held_until") WHERE held_until is not null;