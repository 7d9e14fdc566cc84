CREATE TABLE "fsp_rewards" (
	"reward_epoch" integer NOT NULL,
	"beneficiary" text NOT NULL,
	"claim_type" integer NOT NULL,
	"voter" text,
	"amount_wei" numeric(78, 0),
	"claimed" boolean NOT NULL,
	CONSTRAINT "fsp_rewards_reward_epoch_beneficiary_claim_type_pk" PRIMARY KEY("reward_epoch","beneficiary","claim_type")
);
--> statement-breakpoint
ALTER TABLE "sent_messages" ADD COLUMN "help" text;--> statement-breakpoint
CREATE INDEX "fsp_rewards_waiting" ON "fsp_rewards" USING btree ("voter") WHERE not claimed;