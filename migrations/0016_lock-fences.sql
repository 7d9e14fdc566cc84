CREATE TABLE "lock_fences" (
	"name" text PRIMARY KEY NOT NULL,
	"number" bigint NOT NULL
);
