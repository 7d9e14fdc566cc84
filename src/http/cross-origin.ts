/**
 * Cross-origin requests of the API and of agents. Pages of every origin may send them: a token is in a header and never
 * in a cookie, so no page gets a right that it does not have. Credentials of the browser are never allowed.
 *
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { API_PREFIX } from '#src/operations/openapi/openapi.ts'

/** Agents, and how they find the service and get a token. The page on which a person agrees is no such path. */
const OPEN_PATHS =
  /^\/(?:mcp(?:\/server-card)?|oauth\/(?:register|token)|\.well-known\/(?:oauth-|mcp\/).*)$/
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
/** Named one by one, because `*` does not include `Authorization`. */
const REQUEST_HEADERS = [
  'authorization',
  'accept-language',
  'content-type',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'x-request-id',
  'last-event-id',
  'mcp-protocol-version',
  'mcp-session-id',
  'mcp-method',
  'mcp-name',
].join(', ')
const RESPONSE_HEADERS = [
  'content-disposition',
  'etag',
  'idempotent-replayed',
  'location',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'www-authenticate',
  'x-request-id',
].join(', ')
/** Seconds for which a browser may keep the answer to a preflight; browsers have lower limits of their own. */
const PREFLIGHT_SECONDS = 86_400

/** Lets pages of every origin read an answer of the API, also a refusal. */
export function allowPages({ url }: FastifyRequest, reply: FastifyReply): void {
  if (!isOpen(url)) return
  reply.header('access-control-allow-origin', '*')
  reply.header('access-control-expose-headers', RESPONSE_HEADERS)
}

/** Answers a preflight of the API. @returns false for any other request, which it leaves alone */
export function answerPreflight(request: FastifyRequest, reply: FastifyReply): boolean {
  const { method, url, headers } = request
  const isPreflight = method === 'OPTIONS' && 'access-control-request-method' in headers
  if (!isPreflight || !isOpen(url)) return false
  reply
    .code(204)
    .header('access-control-allow-methods', METHODS)
    .header('access-control-allow-headers', REQUEST_HEADERS)
    .header('access-control-max-age', String(PREFLIGHT_SECONDS))
    .send()
  return true
}

function isOpen(url: string): boolean {
  const path = url.split('?')[0] ?? ''
  return path.startsWith(`${API_PREFIX}/`) || OPEN_PATHS.test(path)
}
