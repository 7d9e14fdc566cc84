CREATE TABLE "topup_purchases" (
	"handle" text PRIMARY KEY NOT NULL,
	"wallet" text NOT NULL,
	"slots" integer NOT NULL,
	"periods" integer NOT NULL,
	"auto_renew" boolean NOT NULL,
	"subscription_id" integer,
	"reason" text,
	"created_at" timestamp with time zone NOT NULL,
	"done_at" timestamp with time zone
);
