CREATE TABLE "feed_points" (
	"feed" text NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"value" numeric(78, 0) NOT NULL,
	"decimals" smallint NOT NULL,
	"grade" smallint NOT NULL,
	CONSTRAINT "feed_points_feed_at_pk" PRIMARY KEY("feed","at")
);
--> statement-breakpoint
CREATE TABLE "publications" (
	"kind" text NOT NULL,
	"reward_epoch_id" integer NOT NULL,
	"data" jsonb NOT NULL,
	"seen_at" timestamp with time zone NOT NULL,
	CONSTRAINT "publications_kind_reward_epoch_id_pk" PRIMARY KEY("kind","reward_epoch_id")
);
--> statement-breakpoint
CREATE TABLE "read_ranges" (
	"name" text NOT NULL,
	"from_block" integer NOT NULL,
	"to_block" integer NOT NULL,
	CONSTRAINT "read_ranges_name_from_block_pk" PRIMARY KEY("name","from_block")
);
--> statement-breakpoint
CREATE TABLE "vote_signatures" (
	"reward_epoch_id" integer NOT NULL,
	"kind" text NOT NULL,
	"voter" text NOT NULL,
	"hash" text NOT NULL,
	"signed_at" timestamp with time zone NOT NULL,
	"is_last" boolean NOT NULL,
	CONSTRAINT "vote_signatures_reward_epoch_id_kind_voter_hash_pk" PRIMARY KEY("reward_epoch_id","kind","voter","hash")
);
--> statement-breakpoint
ALTER TABLE "observation_cursors" ADD COLUMN "checked_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "observation_cursors" ADD COLUMN "alarm" text;--> statement-breakpoint
ALTER TABLE "observation_cursors" ADD COLUMN "alarm_told" text;--> statement-breakpoint
ALTER TABLE "targets" ADD COLUMN "lens" jsonb;--> statement-breakpoint
ALTER TABLE "targets" ADD COLUMN "summary" jsonb;--> statement-breakpoint
CREATE INDEX "feed_points_grade" ON "feed_points" USING btree ("grade","at");--> statement-breakpoint
CREATE INDEX "topups_open" ON "topups" USING btree ("asset","expires_at");