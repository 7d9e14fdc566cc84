/** The problem document of an error, in a language. */
import { withUsdPrice } from '#src/billing/price-text.ts'
import { checkedKey, type TextValues, type Translate } from '#src/i18n/translate.ts'
import {
  type AppError,
  type ErrorCode,
  type ErrorDetails,
  retryAfterOf,
} from '#src/kernel/errors.ts'
import { statusOfErrorCode } from '#src/kernel/problems.ts'

/** An error for its problem body. */
export interface ProblemView {
  readonly code: ErrorCode
  readonly requestId: string
  /** Key of another text than the code's own detail. */
  readonly detail?: ErrorDetails['detail']
  /** Values for the placeholders of the error's texts. */
  readonly values?: TextValues | undefined
  /** Further members of the body. */
  readonly members?: Readonly<Record<string, unknown>> | undefined
  /** Errors of an input. */
  readonly errors?:
    | readonly { readonly pointer: string; readonly code: string; readonly values?: TextValues }[]
    | undefined
}

/** Maximum number of errors that a problem lists. */
const ERRORS_MAX = 20
/** Maximum length of a pointer; a longer one is cut, so that an answer does not repeat what was sent. */
const POINTER_LENGTH_MAX = 200

/**
 * Problem body in the reader's language. It is bounded, however many errors the input has.
 * @see RFC 9457
 */
export function problemBody(t: Translate, publicUrl: string, problem: ProblemView) {
  const { code, requestId, members, errors, detail = `${code}.detail` } = problem
  const values = withUsdPrice(t, code, problem.values)
  return {
    type: `${publicUrl}/problems/${code}`,
    title: t(checkedKey(`errors:${code}.title`), values),
    status: statusOfErrorCode(code),
    detail: t(checkedKey(`errors:${detail}`), values),
    code,
    requestId,
    ...members,
    ...(errors && {
      errors: errors.slice(0, ERRORS_MAX).map((field) => ({
        pointer: field.pointer.slice(0, POINTER_LENGTH_MAX).toWellFormed(),
        code: field.code,
        detail: t(checkedKey(`errors:field.${field.code}`), field.values),
      })),
    }),
  }
}

/** A refusal in one or two sentences: the problem and the remedy; for invalid input, the first error. */
export function refusalText(t: Translate, refusal: AppError): string {
  const { code, details } = refusal
  const [wrong] = details.errors ?? []
  if (wrong !== undefined) return t(checkedKey(`errors:field.${wrong.code}`), { ...wrong.values })
  const seconds = retryAfterOf(refusal)
  const values = { ...details.values, ...(seconds !== undefined && { seconds }) }
  return t(checkedKey(`errors:${code}.detail`), withUsdPrice(t, code, values))
}
