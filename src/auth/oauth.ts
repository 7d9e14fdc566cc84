/**
 * OAuth 2.1 for assistants that a person adds by the address of `/mcp` alone: authorization codes with PKCE for public
 * clients. Nothing of it is stored. The id of a client is its signed registration. A code is signed, too, and stands for a
 * challenge that a wallet has signed: it is exchanged as that challenge is, once, for a token of the same kind.
 *
 * @see RFC 6749, RFC 7591, RFC 7636, RFC 9207
 */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Clock } from '#src/kernel/clock.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { LABEL_LENGTH_MAX, Label } from '#src/kernel/label.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'

interface Deps {
  readonly box: SecretBox
  readonly clock: Clock
}

const CLIENT_PURPOSE = 'oauth client'
const CODE_PURPOSE = 'oauth code'
/** Time in which a code can be exchanged. A program does so at once. */
const CODE_LIFETIME_MS = 2 * MINUTE_MS
const URI_LENGTH_MAX = 250
const URIS_MAX = 5
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/**
 * An address to which a browser returns with the code: https, or a program on the same computer. Schemes of programs are
 * refused, because any program on the computer may claim one.
 */
const RedirectUri = z
  .string()
  .max(URI_LENGTH_MAX)
  .refine((text) => {
    const url = URL.parse(text)
    if (url === null || /[#\s\\]/.test(text) || url.username !== '' || url.password !== '') {
      return false
    }
    return (
      url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.includes(url.hostname))
    )
  })

/** Marks that could end the quotation in which the page names a client, so that the rest would be read as the page's own. */
const QUOTES = /["“”„‟«»‹›「」『』〝〞＂]/

/** What a client says of itself when it registers. The rest of its metadata is not read. */
export const Registration = z.object({
  redirect_uris: z.array(RedirectUri).min(1).max(URIS_MAX),
  client_name: Label.refine((name) => !QUOTES.test(name))
    .optional()
    .catch(undefined),
})
export type Registration = z.output<typeof Registration>

const Verifier = z.string().regex(/^[A-Za-z0-9\-._~]{43,128}$/)
/** SHA-256 of a verifier in base64url: the one method that OAuth 2.1 keeps. */
export const CodeChallenge = z.string().regex(/^[A-Za-z0-9_-]{43}$/)

/** Who asked for a code, and where it is sent. */
export interface CodeRequest {
  readonly clientId: string
  readonly redirectUri: string
  readonly codeChallenge: string
}

/** The id of a client with this registration. */
export function signClient({ box }: Pick<Deps, 'box'>, client: Registration): string {
  return box.signLink(CLIENT_PURPOSE, JSON.stringify(client))
}

/** The registration of a client; undefined for an id that was not issued here. */
export function readClient({ box }: Pick<Deps, 'box'>, id: string): Registration | undefined {
  const text = box.readLink(CLIENT_PURPOSE, id)
  return text === undefined ? undefined : Registration.safeParse(JSON.parse(text)).data
}

/** The host to which a code is sent: what a person can check of a client. */
export function clientHost(redirectUri: string): string {
  return URL.parse(redirectUri)?.host ?? ''
}

/** The name of a client's token: its host, of a long one the end. */
export function clientLabel(redirectUri: string): string {
  const host = clientHost(redirectUri)
  return host.length > LABEL_LENGTH_MAX ? `…${host.slice(1 - LABEL_LENGTH_MAX)}` : host
}

/**
 * Whether a client may get its code at an address: at one that it registered. A program on the same computer may take any
 * port, because it learns its port from the system when it starts.
 *
 * @see RFC 8252, section 7.3
 */
export function mayReturnTo({ redirect_uris: registered }: Registration, address: string): boolean {
  if (registered.includes(address)) return true
  const local = withoutPort(address)
  return local !== undefined && registered.some((known) => withoutPort(known) === local)
}

/** The address of a program on the same computer without its port; undefined for any other address. */
function withoutPort(address: string): string | undefined {
  const url = RedirectUri.safeParse(address).success ? URL.parse(address) : null
  if (url?.protocol !== 'http:') return undefined
  url.port = ''
  return url.href
}

/** Whether a program asks for a token for `/mcp`, the one resource there is. */
export function isOwnResource(publicUrl: string, resource: unknown): boolean {
  const url = typeof resource === 'string' ? URL.parse(resource) : null
  return url?.origin === publicUrl && ['/', '/mcp'].includes(url.pathname)
}

/** Creates the code for a challenge that the wallet has signed. */
export function signCode({ box, clock }: Deps, nonce: string, request: CodeRequest): string {
  const until = (clock.now().getTime() + CODE_LIFETIME_MS).toString(36)
  return box.signLink(CODE_PURPOSE, [until, nonce, digestOf(request)].join('.'))
}

/** What the exchange of a code is counted by; undefined for a text that is no code. */
export function codeKey({ box }: Pick<Deps, 'box'>, code: unknown): string | undefined {
  const text = typeof code === 'string' ? box.readLink(CODE_PURPOSE, code) : undefined
  return text === undefined ? undefined : `code ${text}`
}

/**
 * The nonce of the challenge that a code stands for; undefined if the code is of another client, address or verifier, or
 * expired.
 */
export function readCode(
  { box, clock }: Deps,
  code: string,
  {
    clientId,
    redirectUri,
    verifier,
  }: Omit<CodeRequest, 'codeChallenge'> & { readonly verifier: string },
): string | undefined {
  const [until = '', nonce, digest] = box.readLink(CODE_PURPOSE, code)?.split('.') ?? []
  const isInTime = Number.parseInt(until, 36) > clock.now().getTime()
  if (!isInTime || !Verifier.safeParse(verifier).success) return undefined
  const codeChallenge = createHash('sha256').update(verifier).digest('base64url')
  return digest === digestOf({ clientId, redirectUri, codeChallenge }) ? nonce : undefined
}

function digestOf({ clientId, redirectUri, codeChallenge }: CodeRequest): string {
  const text = JSON.stringify([clientId, redirectUri, codeChallenge])
  return createHash('sha256').update(text).digest('base64url')
}
