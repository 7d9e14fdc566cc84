import postgres from 'postgres'
import { Agent } from 'undici'

/**
 * The floor of the time from an alert to its request: a NOTIFY wakes this process, one statement takes each new
 * delivery, and undici alone posts its envelope to the address in the column `partition_key`. Run as a process of its own:
 * `delivery-wire-floor.ts <database url>`.
 */
const sql = postgres(process.argv[2] ?? '', { max: 2, fetch_types: false })
const agent = new Agent({ pipelining: 1 })
let isAsked = false
let isTaking = false

async function takeAll(): Promise<void> {
  isAsked = true
  if (isTaking) return
  isTaking = true
  while (isAsked) {
    isAsked = false
    const rows = await sql<{ id: string; lane: string; envelope: unknown }[]>`
      update delivery_queue set status = 'delivered' where status = 'pending' and channel = 'webhook'
      returning id, partition_key as lane, envelope`
    for (const { id, lane, envelope } of rows) void post(id, lane, JSON.stringify(envelope))
  }
  isTaking = false
}

async function post(id: string, lane: string, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json', 'x-watchdog-delivery': id }
  const answer = await agent.request({
    ...{ origin: `http://${lane}`, path: '/', method: 'POST', headers, body },
  })
  await answer.body.dump()
}

await sql.listen('deliveries', () => void takeAll())
process.stdout.write('at work\n')
