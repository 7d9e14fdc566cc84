import type { FastifyReply, FastifyRequest } from 'fastify'
import { reportRefusal, toAppError } from '#src/db/refusal.ts'
import { translator } from '#src/i18n/translate.ts'
import { type AppError, ERROR_STATUS, retryAfterOf } from '#src/kernel/errors.ts'
import { negotiateLocale } from '#src/kernel/locale.ts'
import { traceOf } from '#src/kernel/trace.ts'
import type { App } from '#src/operations/define.ts'
import { problemBody } from '#src/operations/problem.ts'

/**
 * Answers a refusal as `application/problem+json` in the language of `Accept-Language`; any other error is
 * logged with its stack and answered as `internal`.
 *
 * @see RFC 9457
 */
export function answerError(
  app: App,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const problem = toAppError(error)
  if (problem.kind === 'internal') {
    app.log.error({ requestId: request.id, error: traceOf(error) }, 'request failed')
  } else if (problem !== error) reportRefusal(app, problem)
  const locale = negotiateLocale(request.headers['accept-language'])
  const t = translator(locale)
  const { details, code } = problem
  const seconds = retryAfterOf(problem)
  const values = { ...details.values, ...(seconds !== undefined && { seconds }) }
  const view = { ...details, code, values, requestId: request.id }
  const challenge = challengeOf(problem)
  if (seconds !== undefined) reply.header('retry-after', String(seconds))
  if (details.isReplay === true) reply.header('idempotent-replayed', 'true')
  if (challenge !== undefined) reply.header('www-authenticate', challenge)
  return reply
    .code(ERROR_STATUS[problem.kind])
    .header('content-language', locale)
    .type('application/problem+json; charset=utf-8')
    .send(JSON.stringify(problemBody(t, app.publicUrl, view)))
}

/**
 * Value of `WWW-Authenticate` for a refusal; undefined if it needs none.
 * @see RFC 6750, section 3
 */
function challengeOf({ kind, code, details }: AppError): string | undefined {
  if (kind === 'unauthenticated') {
    return code === 'missing_token' ? 'Bearer' : 'Bearer error="invalid_token"'
  }
  if (code !== 'insufficient_scope') return undefined
  return `Bearer error="insufficient_scope", scope="${details.values?.['scope']}"`
}
