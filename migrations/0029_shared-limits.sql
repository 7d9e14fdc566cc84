CREATE TABLE "rate_counts" (
	"key" text PRIMARY KEY NOT NULL,
	"points" integer NOT NULL,
	"expire" timestamp with time zone
);
--> statement-breakpoint
CREATE INDEX "rate_counts_expire" ON "rate_counts" USING btree ("expire");