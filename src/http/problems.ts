/**
 * Converts any thrown error to a problem document. Logs unexpected errors, and failures of the database at most every
 * ten seconds. For REST and agents.
 */
import { logDatabaseFailure, toAppError } from '#src/db/request-errors.ts'
import { translator } from '#src/i18n/translate.ts'
import { type AppError, retryAfterOf } from '#src/kernel/errors.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { App } from '#src/operations/define.ts'
import { problemBody } from '#src/operations/problem.ts'

/** An error as callers see it. */
export interface ReportedProblem {
  readonly problem: AppError
  readonly body: ReturnType<typeof problemBody>
  /** Seconds of the `Retry-After` header; undefined if there is none. */
  readonly retryAfterSeconds: number | undefined
}

/**
 * Logs an unexpected error with its stack, and failures of the database at most every ten seconds. Describes any error
 * in a language.
 */
export function reportProblem(
  app: App,
  error: unknown,
  { requestId, locale }: { readonly requestId: string; readonly locale: Locale },
): ReportedProblem {
  const problem = toAppError(error)
  if (problem.kind === 'internal') {
    app.log.error({ requestId, error: loggableError(error) }, 'request failed')
  } else if (problem !== error) logDatabaseFailure(app, problem)
  const { supportUrl } = app
  const support =
    problem.kind === 'internal' && supportUrl !== undefined
      ? { detail: 'internal.support' as const, url: supportUrl }
      : undefined
  const { details, code } = problem
  const retryAfterSeconds = retryAfterOf(problem)
  const values = {
    ...details.values,
    ...(retryAfterSeconds !== undefined && { seconds: retryAfterSeconds }),
    ...(support && { url: support.url }),
  }
  const view = { ...details, ...(support && { detail: support.detail }), code, values, requestId }
  return { problem, body: problemBody(translator(locale), app.publicUrl, view), retryAfterSeconds }
}
