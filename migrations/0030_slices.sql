CREATE TABLE "slice_leases" (
	"name" text NOT NULL,
	"slice" smallint NOT NULL,
	"owner" uuid,
	"number" bigint NOT NULL,
	CONSTRAINT "slice_leases_name_slice_pk" PRIMARY KEY("name","slice")
);
--> statement-breakpoint
CREATE TABLE "slice_members" (
	"name" text NOT NULL,
	"member" uuid NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "slice_members_name_member_pk" PRIMARY KEY("name","member")
);
--> statement-breakpoint
CREATE TABLE "published_blocks" (
	"name" text PRIMARY KEY NOT NULL,
	"block_number" integer NOT NULL,
	"block_hash" text NOT NULL,
	"block_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "slice_cursors" (
	"type" text NOT NULL,
	"slice" smallint NOT NULL,
	"block_number" integer,
	"block_at" timestamp with time zone,
	"observed_at" timestamp with time zone,
	"failing_since" timestamp with time zone,
	"checked_at" timestamp with time zone,
	CONSTRAINT "slice_cursors_type_slice_pk" PRIMARY KEY("type","slice")
);
--> statement-breakpoint
CREATE INDEX "targets_slice" ON "targets" USING btree ("type",(get_byte(decode(md5(key), 'hex'), 0) % 32),"id");