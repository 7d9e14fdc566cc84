CREATE TABLE "telegram_paces" (
	"bot_id" bigint NOT NULL,
	"chat_id" bigint NOT NULL,
	"next_at" timestamp with time zone NOT NULL,
	"sent_at" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"flooded_at" timestamp with time zone,
	CONSTRAINT "telegram_paces_bot_id_chat_id_pk" PRIMARY KEY("bot_id","chat_id")
);
--> statement-breakpoint
CREATE INDEX "telegram_paces_flooded" ON "telegram_paces" USING btree ("bot_id","flooded_at") WHERE flooded_at is not null;