import { createHash } from 'node:crypto'
import { createInterface } from 'node:readline'
import { sql } from 'drizzle-orm'
import { connect } from '#src/db/connection.ts'
import { envelopeOf } from '../support/envelopes.ts'

/**
 * Fixed work that no other process shares, for the floor of `scale`: parsing, hashing and writing JSON with about
 * as much
 * memory as the service, and a statement that reads no table and waits for no lock. Run as a process of its own:
 * `scale-floor-work.ts <database url>`. For each line `<units> <at once>` it does so many units, and prints `done`.
 */

const KEPT = 10_000
const READS = 20
const STATEMENT_ROWS = 500
const CONNECTIONS_MAX = 16

const text = JSON.stringify(
  Array.from({ length: 4 }, (_, index) => envelopeOf({ deliveryId: String(index) })),
)
/** Objects spread over the heap; each unit reads some of them. */
const kept: unknown[] = Array.from({ length: KEPT }, () => JSON.parse(text))
const connection = connect(process.argv[2] ?? '', { max: CONNECTIONS_MAX })

let place = 0
async function doUnit(): Promise<void> {
  for (let read = 0; read < READS; read += 1) {
    place = (place + 7919) % KEPT
    JSON.stringify(kept[place])
  }
  kept[place] = JSON.parse(text)
  const hash = createHash('sha256').update(JSON.stringify(kept[place])).digest('hex')
  const rows = await connection.db.execute(sql`
    select sum(hashtext(${hash} || n)) from generate_series(1, ${STATEMENT_ROWS}::int) n`)
  if (rows.length !== 1) throw new Error('the statement of the floor found nothing')
}

process.stdout.write('ready\n')
for await (const line of createInterface({ input: process.stdin })) {
  const [units = 0, atOnce = 0] = line.split(' ').map(Number)
  let begun = 0
  const work = async () => {
    while (begun < units) {
      begun += 1
      await doUnit()
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  process.stdout.write('done\n')
}
await connection.close()
