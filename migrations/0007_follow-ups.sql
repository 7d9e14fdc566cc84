CREATE TABLE "telegram_follow_ups" (
	"chat_id" bigint NOT NULL,
	"message_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"wallet" text NOT NULL,
	"recipient_id" integer NOT NULL,
	"shown_at" timestamp with time zone NOT NULL,
	"due_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "telegram_follow_ups_chat_id_message_id_pk" PRIMARY KEY("chat_id","message_id")
);
--> statement-breakpoint
CREATE INDEX "telegram_follow_ups_due" ON "telegram_follow_ups" USING btree ("due_at");