import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { ACTIVE_TOKENS_MAX } from '#src/auth/model.ts'
import { escapeHtml } from '#src/i18n/translate.ts'
import { RATE_CLASSES } from '#src/operations/gate/limits.ts'
import { serviceOnly } from '../support/harness.ts'
import { signIn } from '../support/people.ts'

/** An assistant that is hosted elsewhere knows the address of the service alone, and a person who has a wallet. */

const RETURN = 'https://assistant.example.com/callback'
const ALICE = PEOPLE.alice.account

let service: Awaited<ReturnType<typeof serviceOnly>>
let base: string
let origin: string

beforeAll(async () => {
  service = await serviceOnly({ TRUST_PROXY: '1' })
  base = await service.server.listen({ port: 0, host: '127.0.0.1' })
  origin = service.app.publicUrl
})
let networks = 0
beforeEach(async () => {
  networks++
  await service.sql`delete from tokens`
})
afterAll(() => service.close())

/** Requests to the public address reach the test's, from another network in each test. */
const fetchHere: typeof fetch = async (url, init) => {
  const headers = new Headers(init?.headers)
  headers.set('x-forwarded-for', `198.51.100.${networks}`)
  return await fetch(String(url).replace(origin, base), { redirect: 'manual', ...init, headers })
}

/** The assistant: it remembers what it registered and got, and where it sent the browser. */
function assistant(scope?: string) {
  const seen = {
    client: undefined as OAuthClientInformationMixed | undefined,
    tokens: undefined as OAuthTokens | undefined,
    verifier: '',
    state: undefined as OAuthDiscoveryState | undefined,
    sentTo: undefined as URL | undefined,
  }
  const provider: OAuthClientProvider = {
    redirectUrl: RETURN,
    clientMetadata: {
      redirect_uris: [RETURN],
      client_name: 'Assistant <b>',
      token_endpoint_auth_method: 'none',
      ...(scope !== undefined && { scope }),
    },
    state: () => 'state of the assistant',
    clientInformation: () => seen.client,
    saveClientInformation: (client) => void Object.assign(seen, { client }),
    tokens: () => seen.tokens,
    saveTokens: (tokens) => void Object.assign(seen, { tokens }),
    redirectToAuthorization: (url) => void Object.assign(seen, { sentTo: url }),
    saveCodeVerifier: (verifier) => void Object.assign(seen, { verifier }),
    codeVerifier: () => seen.verifier,
    saveDiscoveryState: (state) => void Object.assign(seen, { state }),
    discoveryState: () => seen.state,
  }
  const transport = () =>
    new StreamableHTTPClientTransport(new URL(`${origin}/mcp?sign-in`), {
      authProvider: provider,
      fetch: fetchHere,
    })
  return { seen, transport }
}

/** The person's browser: it has a page, and sends its forms. */
async function post(url: URL, fields: Record<string, string>) {
  const answer = await fetchHere(url, { method: 'POST', body: new URLSearchParams(fields) })
  return { answer, text: await answer.text() }
}

/** Signs on the page as a person without a wallet in the browser. @returns where the browser goes back to */
async function agree(url: URL, ticked: Record<string, string> = { write: 'on' }): Promise<URL> {
  const { answer } = await post(url, { ...(await signed(url, ticked)), answer: 'claim' })
  return new URL((answer.headers.get('refresh') ?? '').replace('0; url=', ''))
}

/** The message of the page, signed by the person or by somebody else. */
async function signed(url: URL, ticked: Record<string, string> = {}, by = ALICE) {
  const shown = await post(url, { ...ticked, wallet: ALICE.address, answer: 'message' })
  const text = /<pre[^>]*id="text">([^<]*)</.exec(shown.text)?.[1] ?? ''
  const message = text.replaceAll('&amp;', '&').replaceAll('&#39;', "'")
  return { message, signature: await by.signMessage({ message }) }
}

async function register(metadata: object) {
  const answer = await fetchHere(`${origin}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(metadata),
  })
  return { status: answer.status, body: await answer.json() }
}

async function exchange(fields: Record<string, string>) {
  const body = new URLSearchParams({ grant_type: 'authorization_code', ...fields })
  const answer = await fetchHere(`${origin}/oauth/token`, { method: 'POST', body })
  return { status: answer.status, body: await answer.json(), headers: answer.headers }
}

const VERIFIER = 'v'.repeat(43)
const CHALLENGE = Buffer.from(
  await crypto.subtle.digest('SHA-256', new TextEncoder().encode(VERIFIER)),
).toString('base64url')

async function authorizeUrl(
  over: Record<string, string | undefined> = {},
  addresses: readonly string[] = [RETURN],
) {
  const { body } = await register({ redirect_uris: addresses })
  const asked = {
    response_type: 'code',
    client_id: body.client_id as string,
    redirect_uri: RETURN,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    state: 'x y',
    ...over,
  }
  const url = new URL(`${origin}/oauth/authorize`)
  for (const [name, value] of Object.entries(asked)) {
    if (value !== undefined) url.searchParams.set(name, value)
  }
  return { url, clientId: body.client_id as string }
}

test('an assistant is added by the address alone: it finds the way, a person signs, and its token is one of the wallet’s', async () => {
  const { seen, transport } = assistant()
  const first = transport()
  const client = new Client({ name: 'assistant', version: '1' })
  await expect(client.connect(first)).rejects.toThrow(UnauthorizedError)
  const url = seen.sentTo ?? new URL('about:blank')
  expect(url.searchParams.get('resource')).toBe(`${origin}/mcp`)
  const page = await (await fetchHere(url)).text()
  expect(page).toContain('assistant.example.com asks to act for your wallet')
  expect(page).toContain(escapeHtml('Assistant <b>'))
  const back = await agree(url, { write: 'on' })
  expect(back.origin + back.pathname).toBe(RETURN)
  expect(back.searchParams.get('state')).toBe('state of the assistant')
  await first.finishAuth(back.searchParams)
  expect(seen.tokens).toMatchObject({ token_type: 'Bearer', scope: 'read write' })
  await client.connect(transport())
  const names = (await client.listTools()).tools.map(({ name }) => name)
  expect(names).toContain('createWatch')
  const { structuredContent } = await client.callTool({ name: 'listTokens', arguments: {} })
  expect(structuredContent).toMatchObject({
    data: [{ label: 'assistant.example.com', scopes: ['read', 'write'], status: 'active' }],
  })
  const [{ id }] = Object(structuredContent).data
  await service.sql`update tokens set revoked_at = ${service.clock.now()} where id = ${id}`
  await expect(client.listTools()).rejects.toThrow()
  await client.close()
})

test('a wallet with as many tokens as it may have is told so on the page, before the assistant gets a code', async () => {
  for (let count = 0; count < ACTIVE_TOKENS_MAX; count++) {
    const from = `203.0.113.${count + 1}`
    await signIn(service, 'alice', [], from)
  }
  const { url } = await authorizeUrl()
  const { message, signature } = await signed(url)
  const full = await post(url, { message, signature, answer: 'claim' })
  expect([full.answer.status, full.answer.headers.get('refresh')]).toEqual([422, null])
  expect(/id="refusal">([^<]*)</.exec(full.text)?.[1]).toContain('active API tokens')
  // The signature is still good after a revocation.
  await service.sql`delete from tokens`
  const { answer } = await post(url, { message, signature, answer: 'claim' })
  expect(answer.headers.get('refresh')).toContain('code=')
})

test('a banned wallet is told so on the page, and gives no code', async () => {
  await service.sql`
    insert into bans (wallet, reason, banned_at) values (${ALICE.address}, 'test', now())`
  const { url } = await authorizeUrl()
  const { message, signature } = await signed(url)
  const { answer } = await post(url, { message, signature, answer: 'claim' })
  await service.sql`delete from bans `
  expect([answer.status, answer.headers.get('refresh')]).toEqual([422, null])
})

describe('a code', () => {
  const codeOf = async () => {
    const { url, clientId } = await authorizeUrl()
    const code = (await agree(url)).searchParams.get('code') ?? ''
    const fields = { code, client_id: clientId, redirect_uri: RETURN, code_verifier: VERIFIER }
    return fields
  }

  test('is good for one exchange, also if two come at once', async () => {
    const fields = await codeOf()
    const both = await Promise.all([exchange(fields), exchange(fields)])
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 400])
    expect(both.find(({ status }) => status === 400)?.body.error).toBe('invalid_grant')
    expect(await service.sql`select from tokens`).toHaveLength(1)
    expect(await service.sql`select from tokens where revoked_at is null`).toHaveLength(0)
    expect(both[0]?.headers.get('cache-control')).toBe('no-store')
  })

  test('that comes again takes back the token it gave, and no other; a thief without the verifier takes none', async () => {
    const [other, fields] = [await codeOf(), await codeOf()]
    const tokenOf = async (code: typeof fields) => (await exchange(code)).body.access_token
    const kept = await tokenOf(other)
    service.clock.advance(1)
    const token = await tokenOf(fields)
    service.clock.advance(1)
    const statusOf = async (bearer: string) => {
      const headers = { authorization: `Bearer ${bearer}` }
      return (await fetchHere(`${origin}/api/x402/auth/tokens`, { headers })).status
    }
    await exchange({ ...fields, code_verifier: 'w'.repeat(43) })
    expect([await statusOf(token), await statusOf(kept)]).toEqual([200, 200])
    expect((await exchange(fields)).body.error).toBe('invalid_grant')
    expect([await statusOf(token), await statusOf(kept)]).toEqual([401, 200])
  })

  test('is exchanged although others behind the same address have used up their requests', async () => {
    const fields = await codeOf()
    for (let count = 0; count < RATE_CLASSES.public.requests; count++) {
      await fetchHere(`${origin}/api/x402/pricing`)
    }
    expect((await exchange({ ...fields, code: 'x' })).status).toBe(429)
    expect((await exchange(fields)).status).toBe(200)
    for (let count = 0; count < RATE_CLASSES.public.requests; count++) await exchange(fields)
    expect((await exchange(fields)).status).toBe(429)
  })

  test('is of one client, one address and one verifier, and ends after two minutes', async () => {
    const fields = await codeOf()
    const other = await register({ redirect_uris: [RETURN], client_name: 'other' })
    for (const wrong of [
      { client_id: other.body.client_id },
      { redirect_uri: `${RETURN}/` },
      { code_verifier: 'w'.repeat(43) },
      { code_verifier: CHALLENGE },
      { code: `${fields.code}A` },
      { code: 'x' },
    ]) {
      const { status, body } = await exchange({ ...fields, ...wrong })
      expect([wrong, status, body.error]).toEqual([wrong, 400, 'invalid_grant'])
    }
    const { code_verifier: _, ...without } = fields
    expect((await exchange(without as never)).body.error).toBe('invalid_request')
    const target = { ...fields, resource: 'https://elsewhere.example.com/mcp' }
    expect((await exchange(target)).body.error).toBe('invalid_target')
    const grant = { ...fields, grant_type: 'refresh_token' }
    expect((await exchange(grant)).body.error).toBe('unsupported_grant_type')
    service.clock.advance(120)
    expect((await exchange(fields)).body.error).toBe('invalid_grant')
    expect(await service.sql`select from tokens`).toHaveLength(0)
    const twice = await fetchHere(`${origin}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams([...Object.entries(fields), ['code', 'x']]),
    })
    expect([twice.status, await twice.json()]).toMatchObject([400, { error: 'invalid_request' }])
  })

  test('needs a signature for this page: not one of another wallet, host or scope', async () => {
    const { url } = await authorizeUrl()
    const claim = async (body: object) => {
      const { message } = (
        await service.server.inject({
          method: 'POST',
          url: '/api/x402/auth/challenge',
          payload: { wallet: ALICE.address, ...body },
        })
      ).json()
      const signature = await ALICE.signMessage({ message })
      return await post(url, { message, signature, answer: 'claim' })
    }
    for (const body of [
      { scopes: ['write'] },
      { scopes: ['write'], label: 'claude.example.com' },
      { scopes: ['spend'], label: 'assistant.example.com' },
    ]) {
      const { answer } = await claim(body)
      expect([body, answer.status, answer.headers.get('refresh')]).toEqual([body, 422, null])
    }
    const { message, signature } = await signed(url, {}, PEOPLE.bob.account)
    const { answer } = await post(url, { message, signature, answer: 'claim' })
    expect([answer.status, answer.headers.get('refresh')]).toEqual([422, null])
  })

  test('is not given for more than the program asked for, and never for spending without a tick', async () => {
    const scopesOf = async (scope: string | undefined, ticked: Record<string, string>) => {
      const { url, clientId } = await authorizeUrl({ scope })
      const code = (await agree(url, ticked)).searchParams.get('code') ?? ''
      const fields = { code, client_id: clientId, redirect_uri: RETURN, code_verifier: VERIFIER }
      return (await exchange(fields)).body.scope
    }
    expect(await scopesOf('read', { write: 'on', spend: 'on' })).toBe('read')
    expect(await scopesOf('read write spend', { write: 'on' })).toBe('read write')
    expect(await scopesOf('write spend', { spend: 'on' })).toBe('read spend')
    const { url } = await authorizeUrl({ scope: 'read write spend' })
    const page = await (await fetchHere(url)).text()
    expect(page).toMatch(/name="write" checked/)
    expect(page).toMatch(/name="spend">/)
  })
})

describe('a request of a program', () => {
  test('with an unknown program or another address goes nowhere', async () => {
    const signed = (await register({ redirect_uris: [RETURN] })).body.client_id
    for (const over of [
      { client_id: 'x' },
      { client_id: `${signed}A` },
      { client_id: undefined },
      { redirect_uri: 'https://assistant.example.com/callback/../evil' },
      { redirect_uri: `${RETURN}?next=evil` },
      { redirect_uri: undefined },
    ]) {
      const answer = await fetchHere((await authorizeUrl(over)).url)
      expect([over, answer.status, answer.headers.get('location')]).toEqual([over, 404, null])
    }
    const { url } = await authorizeUrl()
    url.searchParams.append('redirect_uri', 'https://evil.example.com/')
    expect((await fetchHere(url)).status).toBe(404)
  })

  test.each([
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ code_challenge: undefined }, 'invalid_request'],
    [{ code_challenge: 'short' }, 'invalid_request'],
    [{ scope: 'read admin' }, 'invalid_scope'],
    [{ resource: 'https://elsewhere.example.com/mcp' }, 'invalid_target'],
  ])('that is wrong (%o) is told to it if the person wishes', async (over, error) => {
    const answer = await fetchHere((await authorizeUrl(over)).url)
    const moves = ['location', 'refresh'].map((name) => answer.headers.get(name))
    expect([answer.status, ...moves]).toEqual([400, null, null])
    const [, href = ''] = /id="back" href="([^"]+)"/.exec(await answer.text()) ?? []
    const back = new URL(href.replaceAll('&amp;', '&'))
    expect(Object.fromEntries(back.searchParams)).toEqual({ error, state: 'x y', iss: origin })
    expect(back.origin + back.pathname).toBe(RETURN)
  })

  test('names the whole host, also a long one; its token has the end of it', async () => {
    const end = `${'a'.repeat(20)}.assistants.example.com`
    const one = `https://b${end}/`
    const { url } = await authorizeUrl({ redirect_uri: one }, [one])
    const page = await (await fetchHere(url)).text()
    expect(page).toContain(`b${end} asks to act`)
    const back = await agree(url)
    expect([back.host, back.searchParams.has('code')]).toEqual([`b${end}`, true])
    const [challenge] = await service.sql`select label from challenges where label like '…%'`
    expect(challenge?.['label']).toMatch(/^….{39}$/)
    expect(`b${end}`.endsWith(challenge?.['label'].slice(1))).toBe(true)
  })

  test('is not accepted any number of times with one signature', async () => {
    const { url } = await authorizeUrl()
    const { message, signature } = await signed(url)
    const statuses = new Set<number>()
    for (let count = 0; count <= RATE_CLASSES.preview.requests; count++) {
      const { answer } = await post(url, { message, signature, answer: 'claim' })
      statuses.add(answer.status)
    }
    expect([...statuses]).toEqual([200, 422])
  })

  test('has a page that nobody keeps or frames, with a way to say no', async () => {
    const answer = await fetchHere((await authorizeUrl()).url)
    expect(answer.headers.get('cache-control')).toContain('no-store')
    expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
    const page = await answer.text()
    expect(page).toContain(
      'https://assistant.example.com/callback?error=access_denied&amp;state=x+y',
    )
  })

  test('has a page also if its address is longer than a QR code holds', async () => {
    const { url } = await authorizeUrl({ state: 's'.repeat(3000) })
    const answer = await fetchHere(url)
    expect(answer.status).toBe(200)
    const page = await answer.text()
    expect(page).toContain('asks to act for your wallet')
    expect(page).not.toContain('class="qr"')
    expect(await (await fetchHere((await authorizeUrl()).url)).text()).toContain('class="qr"')
  })

  test('cannot reorder the words of the page by its name', async () => {
    const name = 'שלום'
    const { body } = await register({ redirect_uris: [RETURN], client_name: name })
    const { url } = await authorizeUrl({ client_id: body.client_id })
    expect(await (await fetchHere(url)).text()).toContain(`\u2068${name}\u2069`)
  })

  test('ticks nothing by a form of another site', async () => {
    const { url } = await authorizeUrl({ scope: 'read write spend' })
    const body = new URLSearchParams({ spend: 'on', wallet: ALICE.address, answer: 'message' })
    const sent = async (site: string, to = url.href) => {
      const headers = { 'sec-fetch-site': site }
      return await fetchHere(to, { method: 'POST', body, headers })
    }
    expect(await (await sent('same-origin')).text()).toMatch(/name="spend" checked/)
    for (const site of ['cross-site', 'same-site']) {
      const answer = await sent(site)
      const [status, to = ''] = [answer.status, answer.headers.get('location') ?? undefined]
      expect([site, status, to]).toEqual([site, 303, url.pathname + url.search])
      expect(await (await fetchHere(origin + to)).text()).toMatch(/name="spend">/)
    }
    // The address of the answer is never on another host.
    const elsewhere = await sent('cross-site', `${origin}//evil.example.com/x`)
    expect(elsewhere.headers.get('location') ?? '/').toMatch(/^\/(?!\/)/)
  })

  test.each([
    ['no address', {}],
    ['another scheme', { redirect_uris: ['javascript://x/%0aalert(1)'] }],
    ['a program’s scheme', { redirect_uris: ['cursor://callback'] }],
    ['plain http', { redirect_uris: ['http://assistant.example.com/callback'] }],
    ['a fragment', { redirect_uris: [`${RETURN}#x`] }],
    ['a password', { redirect_uris: ['https://a:b@assistant.example.com/'] }],
    ['too many', { redirect_uris: Array.from({ length: 6 }, (_, index) => `${RETURN}${index}`) }],
    ['too long', { redirect_uris: [RETURN + 'x'.repeat(250)] }],
    ['a text', 'x'],
  ])('is not registered with %s', async (_what, metadata) => {
    const { status, body } = await register(metadata as object)
    expect([status, body.error]).toEqual([400, 'invalid_client_metadata'])
  })

  test('of a program on the same computer may return to any port of it, and nowhere else', async () => {
    const known = 'http://127.0.0.1:33418/callback'
    const statusOf = async (address: string) =>
      (await fetchHere((await authorizeUrl({ redirect_uri: address }, [known])).url)).status
    expect(await statusOf('http://127.0.0.1:51004/callback')).toBe(200)
    for (const other of [
      'http://127.0.0.1:51004/other',
      'http://127.0.0.1:51004/callback?x',
      'http://localhost:33418/callback',
      'https://127.0.0.1:33418/callback',
      'http://x@127.0.0.1:33418/callback',
      'http://127.0.0.1.example.com:33418/callback',
    ]) {
      expect([other, await statusOf(other)]).toEqual([other, 404])
    }
    const { url } = await authorizeUrl({ redirect_uri: RETURN.replace('.com/', '.com:8443/') })
    expect((await fetchHere(url)).status).toBe(404)
  })

  test('of a program on the same computer is registered; a name that hides something or ends its quotation is left out', async () => {
    const local = { redirect_uris: ['http://127.0.0.1:33418/callback'], client_name: 'a\u202eb' }
    const { status, body } = await register(local)
    expect([status, body.client_name, body.token_endpoint_auth_method]).toEqual([
      201,
      undefined,
      'none',
    ])
    for (const client_name of ['Claude”. Checked by Watchdog. “', '„A“', '「一」', '«Б»', 'a"b']) {
      const { redirect_uris } = local
      expect((await register({ redirect_uris, client_name })).body.client_name).toBe(undefined)
    }
    const named = { ...local, client_name: 'Ana’s agent (v2)' }
    expect((await register(named)).body.client_name).toBe('Ana’s agent (v2)')
  })
})

/** What the registry of servers says of an entry, as far as this service has its members. @see its schema of 2025-12-11 */
const RegistryEntry = z.strictObject({
  $schema: z.url(),
  name: z
    .string()
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  // A version, no range.
  version: z.string().regex(/^\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/),
  websiteUrl: z.url(),
  remotes: z.array(
    z.strictObject({
      type: z.literal('streamable-http'),
      url: z.string().regex(/^https?:\/\/\S+$/),
    }),
  ),
})

describe('the documents', () => {
  const read = async (path: string) => {
    const answer = await fetchHere(origin + path)
    expect([path, answer.status]).toEqual([path, 200])
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    return await answer.json()
  }

  test('lead from a refusal to the authorization server', async () => {
    const refused = await fetchHere(`${origin}/mcp`, {
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'listWatches' },
      }),
    })
    expect(refused.status).toBe(401)
    const [, metadata = ''] =
      /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? []
    const resource = await read(metadata.replace(origin, ''))
    expect(resource).toMatchObject({ resource: `${origin}/mcp`, authorization_servers: [origin] })
    expect(await read('/.well-known/oauth-protected-resource')).toEqual(resource)
    expect(await read('/.well-known/oauth-authorization-server')).toMatchObject({
      issuer: origin,
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
    })
  })

  test('describe the server for a registry', async () => {
    const host = new URL(origin).hostname.split('.').toReversed().join('.')
    for (const path of [
      '/.well-known/mcp/server.json',
      '/.well-known/mcp/server-card.json',
      '/mcp/server-card',
    ]) {
      const document = await read(path)
      expect([path, RegistryEntry.safeParse(document).error]).toEqual([path, undefined])
      expect(document.name).toBe(`${host}/flare-watchdog`)
      expect(document.remotes).toEqual([{ type: 'streamable-http', url: `${origin}/mcp` }])
    }
  })
})
