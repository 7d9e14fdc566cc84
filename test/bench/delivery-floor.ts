import { randomUUID } from 'node:crypto'
import { Agent } from 'undici'
import { webhookBody } from '#src/channels/hooks/webhook.ts'
import { envelopeOf } from '../support/envelopes.ts'

/**
 * The floor of `delivery`: undici alone posts the same bodies. Run as a process of its own:
 * `delivery-floor.ts <receiver> <posts> <at a time>`.
 */
const [, , url = '', posts, atATime] = process.argv
const agent = new Agent({ connections: Number(atATime), pipelining: 1 })
const { origin, pathname: path } = new URL(url)
const body = webhookBody(envelopeOf({}))
let left = Number(posts)
const startedAt = performance.now()

async function loop(): Promise<void> {
  while (left > 0) {
    left -= 1
    const headers = { 'content-type': 'application/json', 'x-watchdog-delivery': randomUUID() }
    const answer = await agent.request({ origin, path, method: 'POST', headers, body })
    await answer.body.dump()
  }
}

await Promise.all(Array.from({ length: Number(atATime) }, loop))
await agent.close()
const { user, system } = process.cpuUsage()
// Share of a core that this process used since it started.
process.stdout.write(`${(user + system) / 1000 / (performance.now() - startedAt)}\n`)
