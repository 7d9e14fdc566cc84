/** Checks that a webhook comes from Watchdog. WebCrypto only: Node, browsers and workers. */
import type { WebhookPayload } from './generated/models.ts'
import type { EventData, EventName } from './generated/operations.ts'

const TOLERANCE_SECONDS = 300
const TIMESTAMP = /^[1-9][0-9]{0,11}$/
const SIGNATURE = /^sha256=([0-9a-f]{64})$/

/**
 * The body of a webhook. `event` says which `data` it has, so `switch (webhook.event)` narrows it. Later releases
 * add events and properties: ignore those that you do not know.
 */
export type Webhook<Name extends EventName = EventName> = {
  readonly [One in Name]: Omit<WebhookPayload, 'event' | 'data'> & {
    readonly event: One
    /** `test` is true in a test, whose event is only an example. */
    readonly data: EventData[One] & { readonly test?: boolean }
  }
}[Name]

/** Headers that can be asked for one by name: those of the Fetch API in any implementation, and maps. */
export interface ReadableHeaders {
  get(name: string): string | readonly string[] | null | undefined
}

/** Names and values in one list, or in pairs. */
export type HeaderList = readonly string[] | readonly (readonly [string, string])[]

/** Headers of a request: of the Fetch API, of Node, a map, an object with names in any case, a list, or pairs. */
export type WebhookHeaders =
  | ReadableHeaders
  | HeaderList
  | Readonly<Record<string, string | readonly string[] | undefined>>

/** A request that has arrived. */
export interface WebhookRequest {
  /** The signing secret exactly as it was shown: `whsec_…`. Several while one replaces another. */
  readonly secret: string | readonly string[]
  readonly headers: WebhookHeaders
  /** The bytes as they came, before any parsing. A text stands for its UTF-8. */
  readonly body: Uint8Array | ArrayBuffer | string
  /** Now, in seconds since 1970. */
  readonly nowSeconds?: number
}

/** Reason why a request is refused. */
export type WebhookRefusal =
  | 'no timestamp'
  | 'too old or too new'
  | 'wrong signature'
  | 'unknown payload'

/** A request that is not from Watchdog, or too old. Answer it with status 400. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
  readonly reason: WebhookRefusal

  constructor(reason: WebhookRefusal) {
    super(reason)
    this.reason = reason
  }
}

/**
 * The payload of a genuine request. The same `deliveryId` may come more than once: drop what you have seen.
 *
 * @throws WebhookError for any other request; TypeError for a body that is not the bytes or the text as they came
 */
export async function verifyWebhook(request: WebhookRequest): Promise<Webhook> {
  const body = bytesOf(request.body)
  const reason = await refusalOf(request, body)
  if (reason !== undefined) throw new WebhookError(reason)
  return readPayload(body)
}

async function refusalOf(
  { secret, headers, nowSeconds = Date.now() / 1000 }: WebhookRequest,
  body: Bytes,
): Promise<WebhookRefusal | undefined> {
  const timestamp = headerOf(headers, 'x-watchdog-timestamp') ?? ''
  if (!TIMESTAMP.test(timestamp)) return 'no timestamp'
  if (!(Math.abs(nowSeconds - Number(timestamp)) <= TOLERANCE_SECONDS)) return 'too old or too new'
  const signed = joined(new TextEncoder().encode(`${timestamp}.`), body)
  // The second is there for 24 hours while a secret is being changed.
  const signatures = ['x-watchdog-signature', 'x-watchdog-signature-next']
    .map((name) => SIGNATURE.exec(headerOf(headers, name) ?? '')?.[1])
    .filter((hex) => hex !== undefined)
  for (const candidate of typeof secret === 'string' ? [secret] : secret) {
    const key = await hmacKey(candidate)
    for (const hex of signatures) {
      // Compares in constant time.
      if (await crypto.subtle.verify('HMAC', key, bytesOfHex(hex), signed)) return undefined
    }
  }
  return 'wrong signature'
}

/** @throws TypeError for an empty secret, which anybody could sign with */
async function hmacKey(secret: string): Promise<CryptoKey> {
  if (secret === '') throw new TypeError('the secret is empty')
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const bytes = new TextEncoder().encode(secret)
  return await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify'])
}

function readPayload(body: Bytes): Webhook {
  const value = parse(new TextDecoder().decode(body))
  const isKnown =
    typeof value === 'object' &&
    value !== null &&
    'payloadVersion' in value &&
    value.payloadVersion === 2
  if (!isKnown) throw new WebhookError('unknown payload')
  // Safe: signed by the service, in the version whose document the types are generated from.
  return value as Webhook
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** @param name in lower case */
function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  const direct = isReadable(headers) ? headers.get(name) : undefined
  if (typeof direct === 'string') return direct
  const [, value] = entriesOf(headers).find(([key]) => String(key).toLowerCase() === name) ?? []
  const first = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' ? first : undefined
}

function isReadable(headers: WebhookHeaders): headers is ReadableHeaders {
  return 'get' in headers && typeof headers.get === 'function'
}

/** Names with values, in the case in which they came. */
function entriesOf(headers: WebhookHeaders): (readonly [unknown, unknown])[] {
  if (headers instanceof Map) return [...headers]
  if (!Array.isArray(headers)) return Object.entries(headers)
  const list: readonly unknown[] = headers
  return list.flatMap((item, index): (readonly [unknown, unknown])[] => {
    if (Array.isArray(item)) return [[item[0], item[1]]]
    // As in `rawHeaders` of Node: name, value, name, value.
    return index % 2 === 0 ? [[item, list[index + 1]]] : []
  })
}

type Bytes = Uint8Array<ArrayBuffer>

function bytesOf(body: WebhookRequest['body']): Bytes {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  const tag = Object.prototype.toString.call(body)
  // By their tags, because each realm has classes of its own.
  if (/^\[object (?:Uint8Array|ArrayBuffer)\]$/.test(tag)) return new Uint8Array(body)
  throw new TypeError(
    'body must be the bytes or the text of the request as they came (Uint8Array, ArrayBuffer or string), before any parser',
  )
}

function joined(start: Bytes, end: Bytes): Bytes {
  const bytes = new Uint8Array(start.length + end.length)
  bytes.set(start)
  bytes.set(end, start.length)
  return bytes
}

function bytesOfHex(hex: string): Bytes {
  return Uint8Array.from({ length: hex.length / 2 }, (_, index) =>
    Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16),
  )
}
