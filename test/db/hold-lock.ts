/**
 * Holds the named lock of the database at the URL until it is killed; prints a line when it has it.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { connect } from '#src/db/connection.ts'
import { whileHolding } from '#src/db/lock.ts'

const [url = '', name = ''] = process.argv.slice(2)
const never = new AbortController().signal
await whileHolding(connect(url).sql, name, never, async () => {
  process.send?.('holding')
  await wait(60_000)
})
