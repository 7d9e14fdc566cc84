import { Pool } from 'undici'

/** Requests answered per second while `connections` clients ask without pause. */
export async function requestsPerSecond(
  origin: string,
  options: {
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
    readonly connections: number
    readonly seconds: number
  },
): Promise<number> {
  const pool = new Pool(origin, { connections: options.connections, pipelining: 1 })
  const endsAt = performance.now() + options.seconds * 1000
  let answered = 0
  const client = async () => {
    while (performance.now() < endsAt) {
      const { statusCode, body } = await pool.request({
        method: 'GET',
        path: options.path,
        headers: options.headers,
      })
      await body.dump()
      if (statusCode !== 200) throw new Error(`${options.path} answered ${statusCode}`)
      answered += 1
    }
  }
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: options.connections }, client))
  const elapsedSeconds = (performance.now() - startedAt) / 1000
  await pool.close()
  return answered / elapsedSeconds
}
