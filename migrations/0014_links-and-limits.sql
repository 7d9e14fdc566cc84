CREATE TABLE "mail_refusals" (
	"mailbox_digest" text PRIMARY KEY NOT NULL,
	"refused_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
DROP INDEX "confirmation_mails_address";--> statement-breakpoint
ALTER TABLE "confirmation_mails" ADD COLUMN "mailbox_digest" text;--> statement-breakpoint
ALTER TABLE "link_codes" ADD COLUMN "group_hash" text;--> statement-breakpoint
ALTER TABLE "link_codes" ADD COLUMN "group_chat_id" bigint;--> statement-breakpoint
ALTER TABLE "telegram_updates" ADD COLUMN "turn" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "confirmation_mails_wallet" ON "confirmation_mails" USING btree ("wallet","due_at");--> statement-breakpoint
CREATE INDEX "confirmation_mails_mailbox" ON "confirmation_mails" USING btree ("mailbox_digest","due_at");--> statement-breakpoint
CREATE INDEX "telegram_updates_turn" ON "telegram_updates" USING btree ("turn","update_id") WHERE handled_at is null;--> statement-breakpoint
CREATE INDEX "telegram_updates_chat" ON "telegram_updates" USING btree ("chat_key","update_id") WHERE handled_at is null;--> statement-breakpoint
ALTER TABLE "link_codes" ADD CONSTRAINT "link_codes_group_hash_unique" UNIQUE("group_hash");