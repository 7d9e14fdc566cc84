import { Client } from 'undici'

type Headers = Readonly<Record<string, string>>

/** Rate and latencies that a load reached. */
export interface LoadResult {
  readonly perSecond: number
  /** Times from a request to the end of its answer. */
  readonly p50Ms: number
  readonly p99Ms: number
}

/** A GET request, or any other with a body. */
export interface LoadRequest {
  readonly path: string
  readonly headers?: Headers
  readonly method?: 'GET' | 'POST'
  readonly body?: string
}

/**
 * Sends requests on `connections` connections, on each one after another without a pause, for `seconds` or until
 * `requestOf` returns undefined. Bodies of answers are not parsed, so that the load needs less CPU time than the
 * server.
 *
 * @throws Error if an answer has another status than 200
 */
export async function runLoad(
  origin: string,
  options: {
    /** The request with this number, counted over all connections. */
    readonly requestOf: (request: number) => LoadRequest | undefined
    readonly connections: number
    readonly seconds?: number
    /** Called with the headers of every answer. */
    readonly onAnswer?: (headers: Readonly<Record<string, unknown>>) => void
  },
): Promise<LoadResult> {
  const { requestOf, connections, seconds = Number.POSITIVE_INFINITY, onAnswer } = options
  const startedAt = performance.now()
  const endsAt = startedAt + seconds * 1000
  const waits: number[] = []
  let asked = 0
  const work = async () => {
    const client = new Client(origin, { pipelining: 1 })
    while (performance.now() < endsAt) {
      const request = requestOf(asked++)
      if (request === undefined) break
      const sentAt = performance.now()
      const headers = await answerTo(client, request)
      waits.push(performance.now() - sentAt)
      onAnswer?.(headers)
    }
    await client.close()
  }
  await Promise.all(Array.from({ length: connections }, work))
  const elapsedSeconds = (performance.now() - startedAt) / 1000
  waits.sort((a, b) => a - b)
  const at = (share: number) => waits[Math.ceil(waits.length * share) - 1] ?? Number.NaN
  return { perSecond: waits.length / elapsedSeconds, p50Ms: at(0.5), p99Ms: at(0.99) }
}

/** The headers of an answer, once all of it has arrived. */
function answerTo(
  client: Client,
  request: LoadRequest,
): Promise<Readonly<Record<string, unknown>>> {
  const { path, method = 'GET', headers = {}, body } = request
  const { promise, resolve, reject } = Promise.withResolvers<Readonly<Record<string, unknown>>>()
  let status = 0
  let answered: Readonly<Record<string, unknown>> = {}
  client.dispatch(
    { path, method, headers: { ...headers }, ...(body !== undefined && { body }) },
    {
      onRequestStart: () => undefined,
      onResponseStart: (_controller, statusCode, found) => {
        status = statusCode
        answered = found
      },
      onResponseData: () => undefined,
      onResponseEnd: () => {
        if (status === 200) resolve(answered)
        else reject(new Error(`${path} answered ${status}`))
      },
      onResponseError: (_controller, error) => reject(error),
    },
  )
  return promise
}
