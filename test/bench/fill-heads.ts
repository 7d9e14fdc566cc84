import type { Connection } from '#src/db/connection.ts'

/** Writes the heads of deliveries that a benchmark has written directly into the database. */
export async function fillHeads({ sql }: Connection): Promise<void> {
  await sql`
    insert into delivery_heads (recipient_id, channel, partition_key, urgency, due_at, is_silent, version)
    select recipient_id, min(channel), min(partition_key), max(urgency), min(next_attempt_at), false, 0
    from delivery_queue where next_attempt_at is not null group by recipient_id`
  await sql`analyze delivery_heads`
}
