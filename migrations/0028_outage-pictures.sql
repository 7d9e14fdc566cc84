CREATE TABLE "outage_pictures" (
	"recipient_id" integer NOT NULL,
	"watch_id" integer NOT NULL,
	"kind" text NOT NULL,
	"provider" text NOT NULL,
	"name" text NOT NULL,
	"message_id" text NOT NULL,
	"alert_id" integer NOT NULL,
	"planned_at" timestamp with time zone NOT NULL,
	"taken" boolean NOT NULL,
	CONSTRAINT "outage_pictures_recipient_id_watch_id_pk" PRIMARY KEY("recipient_id","watch_id")
);
--> statement-breakpoint
CREATE INDEX "outage_pictures_due" ON "outage_pictures" USING btree ("planned_at") WHERE not taken;