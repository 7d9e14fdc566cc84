/** Holds the lease of a job in the database at the URL until it is killed; sends a message when it has it. */
import { setTimeout as wait } from 'node:timers/promises'
import { connect } from '#src/db/connection.ts'
import { createLeases } from '#src/db/leases.ts'

const [url = '', job = ''] = process.argv.slice(2)
const never = new AbortController().signal
await createLeases(connect(url).sql).whileHolding(job, never, async () => {
  process.send?.('holding')
  await wait(60_000)
})
