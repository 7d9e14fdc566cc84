import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  CodeChallenge,
  clientHost,
  clientLabel,
  isOwnResource,
  mayReturnTo,
  readClient,
} from '#src/auth/oauth.ts'
import { typed } from '#src/i18n/translate.ts'
import { SCOPES, type Scope } from '#src/kernel/caller.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { App } from '#src/operations/define.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { authorizeClient } from '#src/operations/pages/oauth.ts'
import { createChallenge } from '#src/operations/rest/auth.ts'
import { chainParams } from '../chain-params.ts'
import { formOf } from '../form.ts'
import { localeOf, sendPage } from '../layout.ts'
import { qrImage } from '../qr.ts'
import { answerScript, isScript, type RefusalView, refusalOf } from '../refusal-page.ts'
import { walletApps } from '../wallet-apps.ts'

/** A program that asks, checked: the browser may return to its address. */
const Asker = z.object({
  client_id: z.string(),
  redirect_uri: z.string(),
  state: z.string().optional(),
})
/** The rest of the request. What is wrong with it is told to the program. */
const Asked = z.object({
  response_type: z.literal('code'),
  code_challenge: CodeChallenge,
  code_challenge_method: z.literal('S256'),
  scope: z.string().default('read write'),
  resource: z.string().optional(),
})
const PARAMETERS = [...Object.keys(Asker.shape), ...Object.keys(Asked.shape)]

/** A request of a program for the right to act for a wallet. */
interface Request {
  readonly clientId: string
  readonly redirectUri: string
  readonly codeChallenge: string
  readonly state: string | undefined
  readonly scopes: readonly Scope[]
  readonly host: string
  /** What the program calls itself, which nobody checked. */
  readonly name: string
}

/** Content of the page beside the request. */
interface Shown {
  readonly chosen: readonly string[]
  readonly wallet: string
  readonly message?: string | undefined
  readonly signature?: string | undefined
  readonly refusal?: RefusalView | undefined
}

/**
 * `/oauth/authorize`: a person lets a program act for a wallet, by signing as on `/tokens`. The program gets a code, and
 * for it an API token that is listed and revoked there. The browser returns by `Refresh`, because the content security
 * policy of the page allows no form to lead to another origin.
 */
export function authorizePage(server: FastifyInstance, app: App): void {
  server.get('/oauth/authorize', async (request, reply) => {
    const asked = readRequest(app, request.query)
    if (typeof asked === 'string') return refuse(app, request, reply, asked)
    const chosen = asked.scopes.filter((scope) => scope !== 'spend')
    return await send(app, request, reply, asked, { chosen, wallet: '' })
  })
  server.post('/oauth/authorize', async (request, reply) => {
    const asked = readRequest(app, request.query)
    if (typeof asked === 'string') throw new AppError('not_found', 'link_not_valid')
    if (isScript(request)) {
      return await answerScript(request, reply, () => makeMessage(app, request, asked))
    }
    const { wallet, signature, chosen, message } = formFields(request)
    try {
      if (formOf(request).answer !== 'claim') {
        const made = await makeMessage(app, request, asked)
        return await send(app, request, reply, asked, { chosen, wallet, ...made })
      }
      const { clientId, redirectUri, codeChallenge, scopes } = asked
      const body = { message, signature, clientId, redirectUri, codeChallenge, scopes }
      const { code } = await ask(app, request, authorizeClient, body)
      return sendBack(app, request, reply, asked, answerUrl(app, asked, { code }))
    } catch (error) {
      const refusal = refusalOf(error, localeOf(request))
      const isKept = ['dependency_unavailable', 'validation_failed'].includes(refusal.code)
      const kept = isKept ? { message, signature } : {}
      return await send(app, request, reply, asked, { chosen, wallet, refusal, ...kept })
    }
  })
}

/**
 * The request of a program. If it is wrong, the address that tells the program so.
 *
 * @throws AppError not_found `link_not_valid` for an unknown program or address, to which nobody is sent
 */
function readRequest(app: App, query: unknown): Request | string {
  const asker = Asker.safeParse(query).data
  const client = asker && readClient(app, asker.client_id)
  if (asker === undefined || client === undefined || !mayReturnTo(client, asker.redirect_uri)) {
    throw new AppError('not_found', 'link_not_valid')
  }
  const { client_id: clientId, redirect_uri: redirectUri, state } = asker
  const refuse = (error: string) => answerUrl(app, { redirectUri, state }, { error })
  const asked = Asked.safeParse(query)
  if (!asked.success) {
    const isOther = asked.error.issues.some(({ path }) => path[0] === 'response_type')
    return refuse(isOther ? 'unsupported_response_type' : 'invalid_request')
  }
  const { code_challenge: codeChallenge, scope, resource } = asked.data
  const names = scope.split(' ').filter((name) => name !== '')
  const scopes = SCOPES.filter((known) => names.includes(known))
  if (names.some((name) => !scopes.includes(name as Scope))) return refuse('invalid_scope')
  if (resource !== undefined && !isOwnResource(app.publicUrl, resource))
    return refuse('invalid_target')
  const host = clientHost(redirectUri)
  const name = client.client_name ?? host
  return { clientId, redirectUri, codeChallenge, state, scopes, host, name }
}

/** Where the browser returns to, with the answer. @see RFC 9207 for `iss` */
function answerUrl(
  { publicUrl }: App,
  { redirectUri, state }: Pick<Request, 'redirectUri' | 'state'>,
  answer: Readonly<Record<string, string>>,
): string {
  const url = new URL(redirectUri)
  const values = { ...answer, ...(state !== undefined && { state }), iss: publicUrl }
  for (const [name, value] of Object.entries(values)) url.searchParams.set(name, value)
  return url.href
}

/** Creates the challenge, with no more scopes than the program asked for, and its host as the name of the token. */
async function makeMessage(app: App, request: FastifyRequest, { scopes, redirectUri }: Request) {
  const { wallet, chosen } = formFields(request)
  const granted = scopes.filter((scope) => scope === 'read' || chosen.includes(scope))
  const body = { wallet, scopes: granted, label: clientLabel(redirectUri) }
  const { message } = await ask(app, request, createChallenge, body)
  return { message }
}

/** Invokes an operation as a reader. Limits count by the network. */
async function ask<Output>(
  app: App,
  request: FastifyRequest,
  operation: Parameters<typeof invoke<Output>>[1],
  body: unknown,
): Promise<Output> {
  const raw = { body, locale: localeOf(request), limitKey: request.clientNetwork }
  return (await invoke(app, operation, undefined, raw)).output
}

function formFields(request: FastifyRequest) {
  const form = formOf(request)
  const text = (name: string) => {
    const field = form[name]
    return typeof field === 'string' ? field : ''
  }
  return {
    wallet: text('wallet').trim(),
    signature: text('signature').trim(),
    // Browsers send line ends as CR LF, whatever the text contains.
    message: text('message').replaceAll('\r\n', '\n'),
    chosen: SCOPES.filter((scope) => form[scope] === 'on'),
  }
}

async function send(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: Request,
  { chosen, wallet, message, signature, refusal }: Shown,
): Promise<FastifyReply> {
  const address = app.publicUrl + request.url
  const qr = await qrImage(address)
  const { host, name, scopes } = asked
  return sendPage(app, request, reply, {
    view: 'authorize',
    status: refusal === undefined ? 200 : 422,
    isUncached: true,
    parameters: PARAMETERS,
    data: (t) => ({
      title: t('pages:authorize.title', { host }),
      ...{ host, name: typed(name), refusal, address, qr },
      rights: scopes
        .filter((scope) => scope !== 'read' && (scope !== 'spend' || app.billing.enabled))
        .map((scope) => ({ scope, isChosen: chosen.includes(scope) })),
      denyUrl: answerUrl(app, asked, { error: 'access_denied' }),
      choice: { intent: 'create', wallet },
      elsewhere: { message, signature },
      apps: walletApps(address),
      chain: JSON.stringify(chainParams()),
      script: '/scripts/tokens.js',
      signAction: request.url,
    }),
  })
}

/**
 * Answers a wrong request: the program hears of it if the person presses the button. Anybody may register an address, so an
 * automatic redirection would let anybody use this host to lead people to it.
 *
 * @see RFC 9700, section 4.11.2
 */
function refuse(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  backUrl: string,
): FastifyReply {
  return sendPage(app, request, reply, {
    view: 'authorized',
    status: 400,
    isUncached: true,
    parameters: PARAMETERS,
    data: (t) => ({
      title: t('errors:validation_failed.title'),
      lead: t('pages:authorize.wrong', { host: clientHost(backUrl) }),
      host: clientHost(backUrl),
      backUrl,
    }),
  })
}

function sendBack(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  { host }: Request,
  backUrl: string,
): FastifyReply {
  reply.header('refresh', `0; url=${backUrl}`)
  return sendPage(app, request, reply, {
    view: 'authorized',
    isUncached: true,
    data: (t) => ({
      title: t('pages:authorize.done', { host }),
      lead: t('pages:authorize.done.lead', { host }),
      host,
      backUrl,
    }),
  })
}
