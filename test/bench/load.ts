import { Pool } from 'undici'

type Headers = Readonly<Record<string, string>>

/** Requests answered per second while `connections` clients ask without pause. */
export async function requestsPerSecond(
  origin: string,
  options: {
    readonly path: string
    /** Headers of each request; a function gets the number of the request. */
    readonly headers: Headers | ((request: number) => Headers)
    readonly connections: number
    readonly seconds: number
    /** Called with the headers of every answer. */
    readonly onAnswer?: (headers: Readonly<Record<string, unknown>>) => void
  },
): Promise<number> {
  const pool = new Pool(origin, { connections: options.connections, pipelining: 1 })
  const endsAt = performance.now() + options.seconds * 1000
  let asked = 0
  let answered = 0
  const { headers: given, onAnswer } = options
  const headersOf = (request: number) => (typeof given === 'function' ? given(request) : given)
  const client = async () => {
    while (performance.now() < endsAt) {
      const { statusCode, headers, body } = await pool.request({
        method: 'GET',
        path: options.path,
        headers: headersOf(asked++),
      })
      await body.dump()
      if (statusCode !== 200) throw new Error(`${options.path} answered ${statusCode}`)
      answered += 1
      onAnswer?.(headers)
    }
  }
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: options.connections }, client))
  const elapsedSeconds = (performance.now() - startedAt) / 1000
  await pool.close()
  return answered / elapsedSeconds
}
