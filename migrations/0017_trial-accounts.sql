CREATE TABLE "trial_accounts" (
	"telegram_user_id" bigint PRIMARY KEY NOT NULL,
	"wallet" text NOT NULL
);
--> statement-breakpoint
INSERT INTO "trial_accounts" ("telegram_user_id", "wallet")
SELECT "telegram_user_id", "wallet" FROM "trials" WHERE "telegram_user_id" IS NOT NULL
ON CONFLICT DO NOTHING;--> statement-breakpoint
INSERT INTO "trial_accounts" ("telegram_user_id", "wallet")
SELECT DISTINCT r."linked_by", r."wallet" FROM "recipients" r JOIN "trials" t ON t."wallet" = r."wallet"
WHERE r."linked_by" IS NOT NULL
ON CONFLICT DO NOTHING;
