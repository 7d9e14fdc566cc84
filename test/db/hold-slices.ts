/**
 * Holds a share of slices of the database at the URL until it is killed, and writes for one of them
 * repeatedly. Prints
 * a line for each write: its slice, or `refused`.
 */
import { sql as query } from 'drizzle-orm'
import { connect } from '#src/db/connection.ts'
import { createLeases, FenceError } from '#src/db/leases.ts'
import { isConnectionFailure } from '#src/db/session.ts'
import { createSlices } from '#src/db/slices.ts'

const [url = '', name = ''] = process.argv.slice(2)
const { db, sql } = connect(url)
const slices = createSlices({ db, leases: createLeases(sql), name, wakes: [] })
const writer = process.pid

setInterval(() => void slices.share().catch(() => undefined), 200)
await slices.share()
process.send?.('sharing')
for (let turn = 0; ; turn += 1) {
  const held = slices.held()
  const slice = held[turn % held.length]
  if (slice === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    continue
  }
  try {
    // Read, then written a moment later: two owners at once would write the same value.
    await slices.fenceOf([slice]).transact(db, async (tx) => {
      const [row] = await tx.execute<{ value: number }>(
        query`select count(*)::int as value from slice_writes where slice = ${slice}`,
      )
      await new Promise((resolve) => setTimeout(resolve, 20))
      await tx.execute(query`
        insert into slice_writes (slice, value, writer) values (${slice}, ${row?.value ?? 0}, ${writer})`)
    })
  } catch (error) {
    // A process that was frozen in a transaction finds its connection closed.
    if (!(error instanceof FenceError || isConnectionFailure(error))) throw error
  }
}
