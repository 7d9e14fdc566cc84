/**
 * Requests to URLs that users choose. The requests cannot reach the service's network: only https on two
 * ports is allowed, and resolved addresses are checked in the same step that connects, so that a name
 * cannot resolve to another address afterwards.
 *
 * `allowPrivate` lifts these checks for tests and sandbox, whose receivers listen on this machine. It is an
 * option of this sender, so that tests and sandbox run all other code of production. A service has it only
 * with `WEBHOOK_ALLOW_PRIVATE`, which is off by default.
 */
import { Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, buildConnector, errors } from 'undici'
import { isHostLength } from '#src/kernel/mailbox.ts'
import { DeliveryError } from '../define.ts'
import type { FailureReason } from '../failure-reasons.ts'
import { exchange, type SafeAnswer } from './http-exchange.ts'
import { isPublicAddress } from './public-address.ts'

/** Timeout of a response, from the first DNS query to the status line. */
const REQUEST_TIMEOUT_MS = 15_000
const CONNECT_TIMEOUT_MS = 10_000
const DNS_TIMEOUT_MS = 3000
const DNS_TRIES = 2
const PORTS = ['', '443', '8443']

/** Sends one request to a public address only and returns its response. Never follows redirects. */
export type SafeSend = (
  url: string,
  request: {
    /** HTTP method; `POST` by default. */
    readonly method?: 'POST' | 'PATCH' | 'DELETE'
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
    readonly signal: AbortSignal
    /** A timeout shorter than the sender's own. */
    readonly timeoutMs?: number | undefined
  },
) => Promise<SafeAnswer>

/**
 * Checks the text of a URL without DNS, and returns the code of a field error or undefined.
 *
 * Decimal, octal and hexadecimal IPv4 hosts are treated as the address they encode.
 *
 * @param allowPrivate for tests and sandbox: http, any port and private hosts are allowed, too
 */
export function checkUserUrl(text: string, allowPrivate: boolean): 'url' | undefined {
  return allowedUrl(text, allowPrivate) === undefined ? 'url' : undefined
}

function allowedUrl(text: string, allowPrivate: boolean): URL | undefined {
  const url = URL.parse(text)
  return url !== null && isAllowed(url, allowPrivate) ? url : undefined
}

/**
 * Creates the only sender for user-chosen URLs.
 *
 * The sender throws DeliveryError `timeout`, `unknown_host`, `private_address`, `refused`, `reset`,
 * `certificate`, `bad_answer` or `unreachable`, or the reason of `signal` when the caller aborted.
 */
export function createSafeSend(options: {
  readonly allowPrivate: boolean
  readonly timeoutMs?: number | undefined
  /** Name servers; by default those of the machine. */
  readonly nameServers?: readonly string[]
  /** Called with the addresses of a host before connecting to it. */
  readonly onResolved?: (host: string, addresses: readonly string[]) => void
}): SafeSend {
  const agent = new Agent({
    allowH2: false,
    connect: options.allowPrivate
      ? { timeout: CONNECT_TIMEOUT_MS, allowH2: false }
      : guardedConnector(options),
  })
  const timeoutMs = options.timeoutMs ?? REQUEST_TIMEOUT_MS

  return async (text, { method = 'POST', headers, body, signal, timeoutMs: own = timeoutMs }) => {
    const url = allowedUrl(text, options.allowPrivate)
    if (url === undefined) throw new DeliveryError('url')
    const request = { origin: url.origin, path: url.pathname + url.search, method, headers, body }
    try {
      return await exchange(agent, request, { signal, timeoutMs: Math.min(timeoutMs, own) })
    } catch (error) {
      signal.throwIfAborted()
      throw new DeliveryError(reasonOf(error), { cause: error })
    }
  }
}

type LookupOptions = Pick<Parameters<typeof createSafeSend>[0], 'nameServers' | 'onResolved'>

class PrivateAddressError extends Error {
  readonly code = 'PRIVATE_ADDRESS'
}

/** Connects to public addresses only. Literal addresses skip the lookup, so they are checked here. */
function guardedConnector(options: LookupOptions): buildConnector.connector {
  const connect = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    allowH2: false,
    lookup: guardedLookup(options),
  })
  return (target, callback) => {
    const host = bareHost(target.hostname)
    if (isIP(host) !== 0 && !isPublicAddress(host)) callback(new PrivateAddressError(host), null)
    else connect(target, callback)
  }
}

/**
 * Resolves names by DNS queries, so that a slow name server blocks no shared thread, and names of this
 * machine's hosts file are not resolved. If one address is private, the whole response is refused.
 */
function guardedLookup({ nameServers, onResolved }: LookupOptions): LookupFunction {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES })
  if (nameServers !== undefined) resolver.setServers(nameServers)
  const resolve = async (name: string) => {
    const [ipv4, ipv6] = await Promise.allSettled([
      resolver.resolve4(name),
      resolver.resolve6(name),
    ])
    const found = [
      ...(ipv4.status === 'fulfilled' ? ipv4.value : []).map((address) => ({ address, family: 4 })),
      ...(ipv6.status === 'fulfilled' ? ipv6.value : []).map((address) => ({ address, family: 6 })),
    ]
    if (ipv4.status === 'rejected' && found.length === 0) throw ipv4.reason
    const refused = found.find(({ address }) => !isPublicAddress(address))
    if (refused !== undefined) throw new PrivateAddressError(refused.address)
    onResolved?.(
      name,
      found.map(({ address }) => address),
    )
    return found
  }
  return (name, options, callback) => {
    resolve(name).then(
      (found) => {
        const [first] = found
        if (options.all || first === undefined) callback(null, found)
        else callback(null, first.address, first.family)
      },
      (error) => callback(error, []),
    )
  }
}

function isAllowed(url: URL, allowPrivate: boolean): boolean {
  if (url.hostname === '' || url.username !== '' || url.password !== '') return false
  const host = bareHost(url.hostname)
  if (isIP(host) === 0 && !isHostLength(host.replace(/\.$/, ''))) return false
  if (allowPrivate) return /^https?:$/.test(url.protocol)
  if (url.protocol !== 'https:' || !PORTS.includes(url.port)) return false
  return isIP(host) === 0 ? isPublicName(host) : isPublicAddress(host)
}

/** Refuses names that only exist inside a network, without a query. */
function isPublicName(host: string): boolean {
  const name = host.replace(/\.$/, '')
  return name.includes('.') && !/\.(localhost|local|internal|intranet|home|lan|corp)$/i.test(name)
}

function bareHost(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}

/**
 * Reason of a failed request, as stored with the delivery. The order matters: timeouts also have codes `UND_ERR_…`.
 */
function reasonOf(error: unknown): FailureReason {
  if (error instanceof Error && error.name === 'TimeoutError') return 'timeout'
  if (error instanceof errors.HTTPParserError) return 'bad_answer'
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (/TIMEOUT|ETIMEDOUT|EAI_AGAIN/.test(code)) return 'timeout'
  if (/^(ENOTFOUND|ENODATA|ESERVFAIL|EREFUSED|EBADNAME)$/.test(code)) return 'unknown_host'
  if (code === 'PRIVATE_ADDRESS') return 'private_address'
  if (code === 'ECONNREFUSED') return 'refused'
  if (/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(code)) return 'reset'
  if (/CERT|TLS|SSL|SIGNATURE/.test(code)) return 'certificate'
  return /^(HPE_|UND_ERR_)/.test(code) ? 'bad_answer' : 'unreachable'
}
