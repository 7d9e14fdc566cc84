import type { FastifyReply, FastifyRequest } from 'fastify'
import { withUsdPrice } from '#src/billing/price-text.ts'
import { logDatabaseFailure, toAppError } from '#src/db/request-errors.ts'
import { checkedKey, escapeHtml, html, type Translate } from '#src/i18n/translate.ts'
import { type AppError, ERROR_STATUS, retryAfterOf } from '#src/kernel/errors.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { App } from '#src/operations/define.ts'
import { addressOf, sendPage } from './layout.ts'

/** Answers with a refusal or a failure as a page: what happened, what to do, and links. */
export function answerFailure(
  app: App,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const problem = toAppError(error)
  const { kind } = problem
  if (kind === 'internal') {
    app.log.error(
      { requestId: request.id, error: loggableError(error) },
      'page answered with an error',
    )
  } else if (problem !== error) logDatabaseFailure(app, problem)
  const seconds = retryAfterOf(problem)
  if (seconds !== undefined) reply.header('retry-after', String(seconds))
  return sendPage(app, request, reply, {
    view: 'notice',
    status: ERROR_STATUS[kind],
    isUncached: true,
    data: (t) => ({
      ...problemText(t, problem),
      // A GET request changes nothing, so that it can be repeated.
      button:
        kind === 'upstream' && request.method === 'GET'
          ? { href: addressOf(request), label: t('pages:home.answer.retry') }
          : undefined,
      reference: kind === 'internal' ? referenceHtml(t, request.id) : undefined,
    }),
  })
}

/** Title and text of a problem. On pages `not_found` has a text of its own. */
function problemText(t: Translate, problem: AppError) {
  const { code, details } = problem
  const values = withUsdPrice(t, code, { ...details.values, seconds: retryAfterOf(problem) ?? 0 })
  if (code === 'not_found') {
    return { title: t('pages:nowhere.title'), text: t('pages:nowhere.text') }
  }
  return {
    title: t(checkedKey(`errors:${code}.title`), values),
    text: t(checkedKey(`errors:${code}.detail`), values),
  }
}

function referenceHtml(t: Translate, requestId: string): string {
  const reference = html(`<code><bdi dir="ltr">${escapeHtml(requestId)}</bdi></code>`)
  return t.html('pages:failed.reference', { reference })
}
