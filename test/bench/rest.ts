import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { fillWatches, withDatabase } from './database.ts'
import { requestsPerSecond } from './load.ts'
import { startServer } from './process.ts'
import { type Measurement, median } from './report.ts'

const ROUNDS = 7
const SECONDS = 2
const CONNECTIONS = 32
const GOAL_RATIO = 0.7
const WATCHES = 1000

/** Authenticated `GET /watches/{id}` beside bare Fastify with the same two indexed queries. */
export async function benchRest(): Promise<Measurement[]> {
  return withDatabase(async (databaseUrl) => {
    await fillWatches(databaseUrl, WATCHES)
    const service = await startServer('./rest-subject.ts', databaseUrl)
    const floor = await startServer('./rest-floor.ts', databaseUrl)
    try {
      const token = await signIn(service.url)
      const options = {
        path: '/api/x402/watches/500',
        headers: { authorization: `Bearer ${token}` },
        connections: CONNECTIONS,
        seconds: SECONDS,
      }
      const subjects: number[] = []
      const floors: number[] = []
      for (let round = 0; round <= ROUNDS; round++) {
        const below = await requestsPerSecond(floor.url, options)
        const subject = await requestsPerSecond(service.url, options)
        // The first round warms both up.
        if (round === 0) continue
        floors.push(below)
        subjects.push(subject)
      }
      const ratio = median(subjects.map((value, round) => value / (floors[round] ?? Number.NaN)))
      return [
        {
          bench: 'rest',
          measure: 'authenticated GET /watches/{id}',
          value: median(subjects),
          unit: 'requests/s',
          floor: median(floors),
          ratio,
          goal: `>= ${GOAL_RATIO} of bare Fastify with the same two queries`,
          met: ratio >= GOAL_RATIO,
        },
      ]
    } finally {
      floor.stop()
      service.stop()
    }
  })
}

/** A token of the wallet that the watches belong to. */
async function signIn(url: string): Promise<string> {
  const { account } = PEOPLE.bob
  const post = async (path: string, body: object) => {
    const response = await fetch(`${url}/api/x402${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return (await response.json()) as Record<string, string>
  }
  const { message = '' } = await post('/auth/challenge', { wallet: account.address })
  const signature = await account.signMessage({ message })
  const { token = '' } = await post('/auth/token', { message, signature })
  return token
}
