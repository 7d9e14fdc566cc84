/** Claims items at an instant, prints their ids, and holds them until it is killed. */
import { setTimeout as wait } from 'node:timers/promises'
import { connect } from '#src/db/connection.ts'
import { claimDueRows } from '#src/db/queue.ts'
import { DUE_QUEUE } from './queue-items.ts'

const [url = '', nowMs = '', leaseMs = '', limit = ''] = process.argv.slice(2)
const { db } = connect(url)
const now = new Date(Number(nowMs))
const rows = await claimDueRows(db, DUE_QUEUE, {
  now,
  leaseMs: Number(leaseMs),
  limit: Number(limit),
})
process.send?.(rows.map(({ id }) => id))
await wait(60_000)
