CREATE TABLE "telegram_live_messages" (
	"chat_id" bigint NOT NULL,
	"message_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"wallet" text NOT NULL,
	"handle" text,
	"stage" text,
	"shown" text,
	"news" integer NOT NULL,
	"due_at" timestamp with time zone NOT NULL,
	"leased_until" timestamp with time zone,
	"expires_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "telegram_live_messages_chat_id_message_id_pk" PRIMARY KEY("chat_id","message_id")
);
--> statement-breakpoint
CREATE INDEX "telegram_live_messages_due" ON "telegram_live_messages" USING btree ("due_at");--> statement-breakpoint
CREATE INDEX "telegram_live_messages_handle" ON "telegram_live_messages" USING btree ("handle");