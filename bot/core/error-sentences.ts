import type { Translate } from '#src/i18n/translate.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { App } from '#src/operations/define.ts'
import { refusalText } from '#src/operations/problem.ts'

/** An error as one sentence of plain text for a chat. */
export function sentenceOf(t: Translate, error: AppError): string {
  switch (error.code) {
    case 'insufficient_scope':
      return t('bot:error.scope')
    case 'etag_mismatch':
      return t('bot:error.changed')
    default:
      return refusalText(t, error)
  }
}

/** Time from which the operation may be requested again; undefined if the error is not a rate limit. */
export function nextAllowedAt(
  { app }: { readonly app: Pick<App, 'clock'> },
  error: unknown,
): Date | undefined {
  if (!(error instanceof AppError) || error.code !== 'rate_limited') return undefined
  const { retryAfterSeconds = 0 } = error.details
  return new Date(app.clock.now().getTime() + retryAfterSeconds * 1000)
}
