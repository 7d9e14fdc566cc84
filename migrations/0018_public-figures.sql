CREATE TABLE "figure_hours" (
	"kind" text NOT NULL,
	"hour" timestamp with time zone NOT NULL,
	"counts" jsonb NOT NULL,
	CONSTRAINT "figure_hours_kind_hour_pk" PRIMARY KEY("kind","hour")
);
--> statement-breakpoint
CREATE TABLE "public_figures" (
	"id" text PRIMARY KEY NOT NULL,
	"figures" jsonb NOT NULL,
	"as_of" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "ledger_proofs" ADD COLUMN "totals_until" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "ledger_proofs" ADD COLUMN "total_wallets" bigint;--> statement-breakpoint
ALTER TABLE "ledger_proofs" ADD COLUMN "total_credits_sold" bigint;--> statement-breakpoint
ALTER TABLE "ledger_proofs" ADD COLUMN "total_credits_spent" bigint;--> statement-breakpoint
ALTER TABLE "ledger_proofs" ADD COLUMN "total_topups" bigint;--> statement-breakpoint
CREATE INDEX "accounts_created" ON "accounts" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "ledger_entries_created" ON "ledger_entries" USING btree ("created_at");