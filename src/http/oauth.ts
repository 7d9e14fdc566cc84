/**
 * The authorization server for programs: its metadata, the registration of clients, and the exchange of codes. The page on
 * which a person agrees is `/oauth/authorize`, see `src/pages/tokens/authorize.ts`.
 *
 * @see RFC 8414, RFC 7591, RFC 6749
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { codeKey, isOwnResource } from '#src/auth/oauth.ts'
import { translator } from '#src/i18n/translate.ts'
import { SCOPES } from '#src/kernel/caller.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { App } from '#src/operations/define.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { exchangeCode, registerClient } from '#src/operations/pages/oauth.ts'
import { refusalText } from '#src/operations/problem.ts'

/** Paths of the server; programs of every origin may call them. */
const OAUTH_PATHS = {
  metadata: '/.well-known/oauth-authorization-server',
  authorize: '/oauth/authorize',
  register: '/oauth/register',
  token: '/oauth/token',
} as const

const FORM_TYPE = 'application/x-www-form-urlencoded'
const BODY_BYTES_MAX = 8192
/** Refusals that are the client's, and not of the moment. */
const OF_CLIENT = ['invalid', 'unauthenticated', 'forbidden', 'conflict', 'not_found']

/** Adds the routes of the authorization server. */
export function registerOAuth(server: FastifyInstance, app: App): void {
  const { publicUrl } = app
  server.get(OAUTH_PATHS.metadata, (_request, reply) =>
    reply.header('cache-control', 'public, max-age=3600').send({
      issuer: publicUrl,
      authorization_endpoint: publicUrl + OAUTH_PATHS.authorize,
      token_endpoint: publicUrl + OAUTH_PATHS.token,
      registration_endpoint: publicUrl + OAUTH_PATHS.register,
      scopes_supported: SCOPES,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      authorization_response_iss_parameter_supported: true,
      service_documentation: `${publicUrl}/docs`,
    }),
  )
  const errorHandler = refusing(() => 'invalid_client_metadata')
  const options = { bodyLimit: BODY_BYTES_MAX, errorHandler }
  server.post(OAUTH_PATHS.register, options, async (request, reply) => {
    const raw = { body: request.body, limitKey: request.clientNetwork }
    const { output } = await invoke(app, registerClient, undefined, raw)
    return await reply
      .code(201)
      .header('cache-control', 'no-store')
      .send({
        ...output,
        client_id_issued_at: Math.floor(app.clock.now().getTime() / 1000),
        grant_types: ['authorization_code'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      })
  })
  server.register(async (scope) => addTokenRoute(scope, app))
}

/** The one route with a form for a body. */
function addTokenRoute(scope: FastifyInstance, app: App): void {
  const asText = { parseAs: 'string', bodyLimit: BODY_BYTES_MAX } as const
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(FORM_TYPE, asText, async (_request: unknown, text: string | Buffer) =>
    fieldsOf(text.toString()),
  )
  const errorHandler = refusing(({ kind }) =>
    kind === 'invalid' ? 'invalid_request' : 'invalid_grant',
  )
  scope.post(OAUTH_PATHS.token, { errorHandler }, async (request, reply) => {
    const { grant_type: grant, resource, ...body } = Object(request.body)
    if (grant !== 'authorization_code') return refuseAs(reply, 'unsupported_grant_type')
    if (resource !== undefined && !isOwnResource(app.publicUrl, resource)) {
      return refuseAs(reply, 'invalid_target')
    }
    // All people of a hosted assistant come from its network: what others do there must not let a code expire.
    const limitKey = codeKey(app, Object(body).code) ?? request.clientNetwork
    const { output } = await invoke(app, exchangeCode, undefined, { body, limitKey })
    const seconds = (output.expiresAt.getTime() - app.clock.now().getTime()) / 1000
    return await reply.header('cache-control', 'no-store').send({
      access_token: output.token,
      token_type: 'Bearer',
      expires_in: Math.floor(seconds),
      scope: output.scopes.join(' '),
    })
  })
}

/** The fields of a form. A field that stands twice is refused, because two readers could take different ones. */
function fieldsOf(text: string): object {
  const pairs = [...new URLSearchParams(text)]
  const fields = new Map(pairs)
  if (fields.size < pairs.length) throw new AppError('invalid', 'validation_failed', { errors: [] })
  return Object.fromEntries(fields)
}

/**
 * Answers refusals in the form of OAuth, also those of a body that cannot be read. Other errors are left to the handler
 * of the server.
 */
function refusing(codeOf: (error: AppError) => string) {
  return (error: unknown, _request: FastifyRequest, reply: FastifyReply) => {
    if (!(error instanceof AppError) || !OF_CLIENT.includes(error.kind)) throw error
    return refuseAs(reply, codeOf(error), refusalText(translator('en'), error))
  }
}

function refuseAs(reply: FastifyReply, error: string, text?: string): FastifyReply {
  return reply
    .code(400)
    .header('cache-control', 'no-store')
    .send({ error, ...(text !== undefined && { error_description: text }) })
}
