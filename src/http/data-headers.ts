/** Headers that pass between a client and an upstream, and those that are removed. */

/** Headers by lower-case name, as in Node. */
type Headers = Readonly<Record<string, string | string[] | undefined>>

/**
 * Headers of a single connection.
 * @see RFC 9110, section 7.6.1
 */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

const POLICY = 'content-security-policy'

/** Headers between the client and this service: identity, payment, route. */
const FROM_CLIENT_ONLY = new Set([
  ...HOP_BY_HOP,
  'authorization',
  'cookie',
  'expect',
  'forwarded',
  'http2-settings',
  'payment-signature',
  'x-payment',
  'x-real-ip',
  'x-request-id',
])

/** Headers that only this service may set, or that would apply to its whole origin. */
const FROM_US_ONLY = new Set([
  ...HOP_BY_HOP,
  'alt-svc',
  'clear-site-data',
  'payment-required',
  'payment-response',
  'ratelimit',
  'ratelimit-policy',
  'service-worker-allowed',
  'set-cookie',
  'strict-transport-security',
  'x-content-type-options',
  'x-credits-balance',
  'x-credits-charged',
  'x-free-tier-remaining',
  'x-payment-response',
  'x-request-id',
])

/**
 * Policy of every answer below `/data`: a document of an upstream runs nothing, and is of no origin. Otherwise it would
 * be of the origin in which people sign and pay.
 */
export const DATA_POLICY = "sandbox; default-src 'none'"

/** Whether a header of an answer is never taken from the upstream: only Fastify or this service may set it. */
export function isReservedForService(name: string): boolean {
  return FROM_US_ONLY.has(name)
}

/** Headers of a request for an upstream. */
export function headersForUpstream(
  headers: Headers,
  request: { readonly id: string; readonly method: string },
): Record<string, string | string[]> {
  const isBodyless = request.method === 'GET' || request.method === 'HEAD'
  const passed = Object.entries(headers).filter(
    ([name]) =>
      !FROM_CLIENT_ONLY.has(name) &&
      !name.startsWith('x-forwarded-') &&
      // Fastify reads no body of GET and HEAD. Their Content-Length would announce a body that is not sent.
      !(isBodyless && name.startsWith('content-')),
  )
  return { ...defined(passed), 'x-request-id': request.id }
}

/**
 * Headers of an upstream's answer for the client. Redirects to the upstream are rewritten to this service. `DATA_POLICY`
 * is added to the upstream's own policies: browsers enforce all of them, so a stricter one stays in force.
 */
export function headersForClient(
  headers: Headers,
  { upstream, prefix }: { readonly upstream: string; readonly prefix: string },
): Record<string, string | string[]> {
  const named = new Set(listOf(headers['connection']))
  const passed = Object.entries(headers).filter(
    ([name]) => !FROM_US_ONLY.has(name) && !named.has(name) && !name.startsWith('access-control-'),
  )
  const { location, [POLICY]: own = [], ...others } = defined(passed)
  const rest = { ...others, [POLICY]: [...[own].flat(), DATA_POLICY] }
  if (typeof location !== 'string') return rest
  return { ...rest, location: locationForClient(location, upstream, prefix) }
}

function locationForClient(location: string, upstream: string, prefix: string): string {
  const base = new URL(upstream)
  const target = URL.parse(location, base)
  const path = base.pathname.replace(/\/$/, '')
  // A path without a leading slash is relative to the request and needs no change.
  const isAbsolute = location.startsWith('/') || URL.canParse(location)
  if (target === null || !isAbsolute || target.origin !== base.origin) return location
  if (target.pathname !== path && !target.pathname.startsWith(`${path}/`)) return location
  return `${prefix}${target.pathname.slice(path.length)}${target.search}${target.hash}`
}

function listOf(header: string | string[] | undefined): readonly string[] {
  return String(header ?? '')
    .split(',')
    .map((part) => part.trim().toLowerCase())
}

function defined(
  entries: readonly (readonly [string, string | string[] | undefined])[],
): Record<string, string | string[]> {
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
