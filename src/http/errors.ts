/** The HTTP response of an error: status, headers and problem document. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type AppError, ERROR_STATUS } from '#src/kernel/errors.ts'
import { negotiateLocale } from '#src/kernel/locale.ts'
import type { App } from '#src/operations/define.ts'
import { reportProblem } from './problems.ts'

/**
 * Answers a refusal as `application/problem+json` in the language of `Accept-Language`; any other error is
 * logged with its stack and answered as `internal`.
 *
 * @param metadataUrl metadata of the protected resource, if the resource has any
 * @see RFC 9457
 */
export function answerError(
  app: App,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  metadataUrl?: string,
): FastifyReply {
  const locale = negotiateLocale(request.headers['accept-language'])
  const reported = reportProblem(app, error, { requestId: request.id, locale })
  const { problem, body, retryAfterSeconds } = reported
  const challenge = challengeOf(problem, metadataUrl)
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
  if (problem.details.isReplay === true) reply.header('idempotent-replayed', 'true')
  if (challenge !== undefined) reply.header('www-authenticate', challenge)
  return reply
    .code(ERROR_STATUS[problem.kind])
    .header('content-language', locale)
    .header('vary', 'accept-language')
    .header('cache-control', 'no-store')
    .type('application/problem+json; charset=utf-8')
    .send(JSON.stringify(body))
}

/**
 * Value of `WWW-Authenticate` for a refusal; undefined if it needs none.
 * @param metadataUrl where a program learns how to get a token
 * @see RFC 6750, section 3; RFC 9728, section 5
 */
function challengeOf(
  { kind, code, details }: AppError,
  metadataUrl: string | undefined,
): string | undefined {
  const metadata = metadataUrl === undefined ? [] : [`resource_metadata="${metadataUrl}"`]
  if (kind === 'unauthenticated') {
    const error = code === 'missing_token' ? [] : ['error="invalid_token"']
    return `Bearer ${[...error, ...metadata].join(', ')}`.trim()
  }
  if (code !== 'insufficient_scope') return undefined
  return `Bearer error="insufficient_scope", scope="${details.values?.['scope']}"`
}
