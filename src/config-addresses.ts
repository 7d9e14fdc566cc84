import { z } from 'zod'

/** Addresses and headers of the environment. Their errors never repeat the value, which may be a key. */

/** Without slashes at the end of its path. A query stays as it is: it may be a key. */
export const httpUrl = z
  .url({ protocol: /^https?$/ })
  .transform((text) => text.replace(/^([^?#]*?)\/+$/, '$1'))
export const baseUrl = httpUrl.refine((text) => {
  const { search, hash, username, password } = new URL(text)
  return [search, hash, username, password].every((part) => part === '')
}, 'a base URL: no query, no fragment, no credentials')
/** Pages link to each other from the root. Messages to sign contain the address, so it is short. */
const ORIGIN_LENGTH_MAX = 200
export const origin = baseUrl
  .refine(
    (text) => new URL(text).pathname === '/' && /^[\x21-\x7e]*$/.test(text),
    'an origin such as https://watchdog.example.org, without a path, in ASCII',
  )
  .refine((text) => text.length <= ORIGIN_LENGTH_MAX, `at most ${ORIGIN_LENGTH_MAX} characters`)
/**
 * One server or several, as in libpq: `postgres://user@first:5432,second:5432/watchdog`. The folder of a Unix socket is
 * percent-encoded: `postgres://user@%2Frun%2Fpostgresql/watchdog`.
 */
export const databaseUrl = z
  .string()
  .refine(
    (text) =>
      z
        .url({ protocol: /^postgres(ql)?$/ })
        .safeParse(text.replace(/^(\w+:\/\/(?:[^/?]*@)?[^,/?@]+)(?:,[^,/?@]+)+/, '$1')).success,
    'an address such as postgres://user:password@host:5432/name, or several hosts with commas between them',
  )
export const datasetUrl = httpUrl.refine(
  (text) => text.includes('{epoch}'),
  'a URL with {epoch} in it',
)
export const json = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    context.addIssue('not JSON')
    return z.NEVER
  }
})
export const headers = z.record(
  z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'a header name'),
  z.string().regex(/^[\x20-\x7e]*$/, 'printable ASCII'),
)
/** Headers of each endpoint, by its position: a JSON list of objects, or null for none. */
export const rpcHeaders = json.pipe(
  z.array(headers.nullable()).transform((list) => list.map((headers) => headers ?? {})),
)
/** Where people reach the operator. It is shown to everybody, so it has no credentials and is short. */
const SUPPORT_LENGTH_MAX = 200
export const supportUrl = z
  .string()
  .refine(
    (text) => isPage(text) || /^mailto:[\w.+-]+@[\w-]+(\.[\w-]+)+$/.test(text),
    'an https URL without credentials, or mailto: and one address',
  )
  .refine((text) => text.length <= SUPPORT_LENGTH_MAX, `at most ${SUPPORT_LENGTH_MAX} characters`)

function isPage(text: string): boolean {
  if (!/^https:\/\/[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === ''
}

/** The P-chain of a node: its address, or that of the API. A key is in path or query. */
export const pChainUrl = httpUrl
  .refine((text) => {
    const { username, password } = new URL(text)
    return username === '' && password === ''
  }, 'an address without user and password: P_CHAIN_RPC_HEADERS has room for them')
  .refine(
    (text) => !/\/bc\/(?!P$)[^/]+/.test(new URL(text).pathname),
    'an address of the P-chain, or of the node: this is another chain',
  )
/** An address of mail, alone or after a name: `Watchdog <alerts@example.org>`. */
export const sender = z
  .string()
  .refine(
    (text) => /^[^\s@<>]+@[^\s@<>]+$/.test(/^[^<>\r\n]*<([^<>]*)>$/.exec(text)?.[1] ?? text),
    'an address such as alerts@example.org, or Watchdog <alerts@example.org>',
  )
/** A fragment is not part of a request, and WebSockets refuse it. */
export const isWsUrl = (text: string) =>
  z.url({ protocol: /^wss?$/ }).safeParse(text).success && !text.includes('#')
