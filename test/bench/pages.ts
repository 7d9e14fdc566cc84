import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'undici'
import { withDatabase } from './database.ts'
import { fillWallets, type TokenOwner } from './metering.ts'
import { type Measurement, median } from './report.ts'
import { startServer } from './start-server.ts'

const SECONDS = 10
const CONNECTIONS = 8
/** Pause between two requests of the other caller. */
const BETWEEN_MS = 20
const GOAL_RATIO = 3

/** Times of the other caller's requests. */
interface Waits {
  readonly p50Ms: number
  readonly p95Ms: number
}

/**
 * Opens each public page on eight connections of one client for ten seconds, without a pause, while another caller
 * reads a watch with a token fifty times a second. The floor is the same caller while nobody opens a page.
 */
export async function benchPages(): Promise<Measurement[]> {
  return withDatabase(async (databaseUrl) => {
    const owners = await fillWallets(databaseUrl)
    const subject = await startServer('./pages-subject.ts', databaseUrl)
    const { origin, pathname } = new URL(subject.url)
    try {
      await readFor(origin, owners, 3)
      const measurements: Measurement[] = []
      for (const path of pages(pathname)) {
        const alone = await readFor(origin, owners, SECONDS / 2)
        const load = openPages(origin, path, `198.51.100.${measurements.length + 1}`)
        const [beside, answers] = await Promise.all([readFor(origin, owners, SECONDS), load])
        const shown = path.replace(/^(\/a\/).*/, '$1<code>')
        const { rate, refused } = answers
        process.stdout.write(
          `${shown}: ${rate.toFixed(0)} answers a second, ${(refused * 100).toFixed(0)} % refused; other caller alone ` +
            `${figures(alone)} ms, beside it ${figures(beside)} ms\n`,
        )
        measurements.push(measurement(shown, beside.p50Ms, alone.p50Ms))
      }
      return measurements
    } finally {
      subject.stop()
    }
  })
}

/** One page of each kind that needs no sign-in; `?x` and a changing number pass caches of addresses. */
function pages(alertPath: string): readonly string[] {
  return [
    ...[
      '/?x=',
      `${alertPath}?x=`,
      '/docs?x=',
      '/docs/watches?x=',
      '/docs/search?x=',
      '/docs/search?q=limit+',
    ],
    ...[
      '/docs/api?x=',
      '/docs/events?x=',
      '/problems?x=',
      '/providers?x=',
      '/providers?q=',
      '/pay/none?x=',
    ],
    ...[
      '/connect/none?x=',
      '/confirm/none?x=',
      '/unsubscribe/none?x=',
      '/nowhere?x=',
      '/openapi.json?x=',
    ],
  ]
}

/** Reads a watch as each wallet in turn, for some seconds. */
async function readFor(
  origin: string,
  owners: readonly TokenOwner[],
  seconds: number,
): Promise<Waits> {
  const client = new Client(origin)
  const endsAt = performance.now() + seconds * 1000
  const waits: number[] = []
  while (performance.now() < endsAt) {
    const { token } = owners[waits.length % owners.length] ?? { token: '' }
    const sentAt = performance.now()
    const { statusCode, body } = await client.request({
      method: 'GET',
      path: '/api/x402/watches',
      headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': '203.0.113.7' },
    })
    await body.dump()
    if (statusCode !== 200) throw new Error(`the other caller got ${statusCode}`)
    waits.push(performance.now() - sentAt)
    await pause(BETWEEN_MS)
  }
  await client.close()
  waits.sort((a, b) => a - b)
  return { p50Ms: median(waits), p95Ms: waits[Math.ceil(waits.length * 0.95) - 1] ?? Number.NaN }
}

/** Opens a page again and again on every connection, as one client. */
async function openPages(
  origin: string,
  path: string,
  from: string,
): Promise<{ readonly rate: number; readonly refused: number }> {
  const endsAt = performance.now() + SECONDS * 1000
  let answered = 0
  let refused = 0
  const work = async () => {
    const client = new Client(origin)
    while (performance.now() < endsAt) {
      const { statusCode, body } = await client.request({
        method: 'GET',
        path: `${path}${answered}`,
        headers: { 'x-forwarded-for': from, accept: 'text/html' },
      })
      body.resume()
      await once(body, 'end')
      answered += 1
      if (statusCode === 429) refused += 1
    }
    await client.close()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, work))
  return { rate: answered / SECONDS, refused: refused / answered }
}

function figures({ p50Ms, p95Ms }: Waits): string {
  return `${p50Ms.toFixed(1)} (p95 ${p95Ms.toFixed(1)})`
}

function measurement(path: string, value: number, floor: number): Measurement {
  const ratio = value / floor
  return {
    bench: 'pages',
    measure: `another caller beside ${path}, p50`,
    value,
    unit: 'ms',
    floor,
    ratio,
    goal: `<= ${GOAL_RATIO} times the caller alone`,
    met: ratio <= GOAL_RATIO,
  }
}
