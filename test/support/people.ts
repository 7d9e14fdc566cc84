import { type DevPerson, PEOPLE } from '#sandbox/devnet/accounts.ts'
import type { Service } from '#src/app.ts'
import type { Caller, Scope } from '#src/kernel/caller.ts'
import { requireDocumented } from './documented.ts'

/** Sends requests as one person: JSON body in, parsed answer out. */
export interface Client {
  readonly person: DevPerson
  readonly token: string
  readonly caller: Caller
  request<Body = Anything>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Headers,
  ): Promise<Answer<Body>>
}

type Headers = Readonly<Record<string, string>>

// biome-ignore lint/suspicious/noExplicitAny: a client without types reads answers like this
type Anything = any

/** An answer. The body has a generated type if a test names one. */
export interface Answer<Body = Anything> {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  /** The parsed body; undefined without one. */
  readonly body: Body
  readonly text: string
}

const PREFIX = '/api/x402'

/** Sends one request without a token, or with the given headers. */
export async function request<Body = Anything>(
  { server }: Pick<Service, 'server'>,
  method: string,
  path: string,
  body?: unknown,
  headers: Headers = {},
  remoteAddress = '127.0.0.1',
): Promise<Answer<Body>> {
  const response = await server.inject({
    method: method as 'GET',
    remoteAddress,
    url: PREFIX + path,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && {
      payload: typeof body === 'string' ? body : JSON.stringify(body),
    }),
  })
  const isJson = String(response.headers['content-type']).includes('json')
  const parsed = JSON.parse(isJson && response.payload ? response.payload : 'null') ?? undefined
  const status = response.statusCode
  requireDocumented(method, path, { status, code: status < 400 ? undefined : parsed?.code })
  return {
    status,
    headers: response.headers,
    body: parsed,
    text: response.payload,
  }
}

/** Signs in over REST: challenge, signature, token. */
export async function signIn(
  service: Pick<Service, 'server'>,
  name: keyof typeof PEOPLE,
  scopes: readonly Scope[] = ['write', 'spend'],
  remoteAddress = '127.0.0.1',
): Promise<Client> {
  const person = PEOPLE[name]
  const wallet = person.account.address
  const ask = (path: string, body: object) =>
    request(service, 'POST', path, body, {}, remoteAddress)
  const challenge = await ask('/auth/challenge', { wallet, scopes, label: name })
  const { message } = challenge.body
  const signature = await person.account.signMessage({ message })
  const { body } = await ask('/auth/token', { message, signature })
  const token: string = body.token
  return {
    person,
    token,
    caller: { wallet: body.wallet, scopes: body.scopes, via: 'http' },
    request: (method, path, payload, headers) =>
      request(service, method, path, payload, { authorization: `Bearer ${token}`, ...headers }),
  }
}

/** Accepts the terms and starts the trial, for one slot. */
export async function withTrial(client: Client): Promise<Client> {
  const { body } = await client.request('GET', '/account/terms')
  await client.request('POST', '/account/terms', { version: body.currentVersion })
  await client.request('POST', '/subscriptions/trial')
  return client
}
