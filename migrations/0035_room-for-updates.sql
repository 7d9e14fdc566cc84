-- Rows that are often updated stay on their page, so that an update writes no index. Pages that are full already
-- empty as their rows are updated.
ALTER TABLE "signal_states" SET (fillfactor = 50);--> statement-breakpoint
ALTER TABLE "alert_budgets" SET (fillfactor = 50);
