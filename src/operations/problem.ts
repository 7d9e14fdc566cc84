/** The problem document of an error, in a language. */

import { withUsdPrice } from '#src/billing/price-text.ts'
import { checkedKey, type TextValues, type Translate } from '#src/i18n/translate.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import {
  type AppError,
  type ErrorCode,
  type ErrorDetails,
  FIELD_ERRORS_MAX,
  type FieldError,
  type FieldProblem,
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
  readonly errors?: readonly FieldError[] | undefined
}

/** Maximum length of a pointer. Names are the caller's, and one long name may stand in the pointer of every error. */
const POINTER_MAX = 200

/**
 * Problem body in the reader's language. Lists at most `FIELD_ERRORS_MAX` errors; a pointer that is too long ends in an
 * ellipsis.
 *
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
      errors: errors.slice(0, FIELD_ERRORS_MAX).map((field) => ({
        pointer: shortPointer(field.pointer),
        code: field.code,
        detail: fieldText(t, field),
      })),
    }),
  }
}

function shortPointer(pointer: string): string {
  return cutText(pointer, POINTER_MAX)
}

/** What is wrong with a value, in a sentence or two: the same at every front door. */
export function fieldText(t: Translate, { code, detail = code, values }: FieldProblem): string {
  return t(checkedKey(`errors:field.${detail}`), { ...values })
}

/** A refusal in one or two sentences: the problem and the remedy; for invalid input, the first error. */
export function refusalText(t: Translate, refusal: AppError): string {
  const { code, details } = refusal
  const [wrong] = details.errors ?? []
  if (wrong !== undefined) return fieldText(t, wrong)
  const seconds = retryAfterOf(refusal)
  const values = { ...details.values, ...(seconds !== undefined && { seconds }) }
  return t(checkedKey(`errors:${code}.detail`), withUsdPrice(t, code, values))
}
