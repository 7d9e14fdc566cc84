CREATE TABLE "received_deliveries" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "received_deliveries_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"address" text NOT NULL,
	"received_at" timestamp with time zone NOT NULL,
	"headers" json NOT NULL,
	"body" text NOT NULL
);
--> statement-breakpoint
CREATE INDEX "received_deliveries_address" ON "received_deliveries" USING btree ("address","id");--> statement-breakpoint
CREATE INDEX "received_deliveries_age" ON "received_deliveries" USING btree ("received_at");