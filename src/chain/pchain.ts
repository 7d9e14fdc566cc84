import { z } from 'zod'
import { connectionCause } from './endpoints/connection-cause.ts'
import { EndpointError } from './endpoints/failures.ts'
import { SECONDS_MAX } from './endpoints/schemas.ts'

/** A current validator, as the queried node sees it. */
export interface Validator {
  /** null if the node does not report it. */
  readonly connected: boolean | null
  /** End of its stake. */
  readonly endsAt: Date | null
}

/** Client of the P-chain, on which validators stake. */
export interface PChain {
  /** Its address, which may contain a key. */
  readonly url: string
  /**
   * The given nodes that are current validators, by `NodeID-…`.
   *
   * @throws EndpointError with the reason if the P-chain node does not answer; the signal's reason when the caller aborts
   */
  validators(
    nodeIds: readonly string[],
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<string, Validator>>
}

const TIMEOUT_MS = 10_000
const API_PATH = '/ext/bc/P'
/** Epoch seconds, as text or as a number. */
const Seconds = z.preprocess(
  (value) => (typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value),
  z.int().min(0).max(SECONDS_MAX),
)
/**
 * Validators of the primary network, as nodes of all versions return them: times are texts or numbers, delegators
 * are present or not. A response with a malformed node id is refused: the id may be of a requested node, which
 * would count as not listed.
 */
const Answer = z.object({
  result: z.object({
    validators: z.array(
      z.looseObject({
        nodeID: z.string().regex(/^NodeID-[1-9A-HJ-NP-Za-km-z]+$/),
        connected: z.boolean().nullish().catch(null),
        // A malformed time counts as unknown; the rest of the response is valid.
        endTime: Seconds.optional().catch(undefined),
      }),
    ),
  }),
})

/** Address of the P-chain API of a node. Path and query of the given address may be a key, and stay. */
function apiOf(url: string): URL {
  const api = new URL(url)
  const path = api.pathname.replace(/\/+$/, '')
  api.pathname = path.endsWith(API_PATH) ? path : path + API_PATH
  return api
}

/**
 * Creates a client of a node's P-chain API.
 *
 * @param url the node, with or without the path of the API
 * @param headers of each request, such as a key
 */
export function createPChain({
  url,
  headers = {},
}: {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
}): PChain {
  const api = apiOf(url)

  return {
    url,
    async validators(nodeIds, signal) {
      const limit = AbortSignal.timeout(TIMEOUT_MS)
      try {
        const response = await fetch(api, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          // Another host must not get the headers.
          redirect: 'manual',
          body: JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            method: 'platform.getCurrentValidators',
            params: { nodeIDs: nodeIds },
          }),
          signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
        })
        if (!response.ok) throw new EndpointError(`status ${response.status}`)
        const { result } = Answer.parse(await response.json())
        return new Map(
          result.validators.map(({ nodeID, connected, endTime }) => [
            nodeID,
            {
              connected: connected ?? null,
              endsAt: endTime === undefined ? null : new Date(endTime * 1000),
            },
          ]),
        )
      } catch (error) {
        signal?.throwIfAborted()
        throw asEndpointError(error)
      }
    },
  }
}

function asEndpointError(error: unknown): EndpointError {
  if (error instanceof EndpointError) return error
  if (error instanceof z.ZodError) return new EndpointError('malformed response')
  if (error instanceof SyntaxError) return new EndpointError('not JSON')
  return new EndpointError(connectionCause(error) ?? 'connection failed')
}
