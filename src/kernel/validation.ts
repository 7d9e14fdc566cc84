import type { z } from 'zod'
import { AppError, type FieldError } from './errors.ts'
import { escapePointer } from './json-pointer.ts'

/**
 * Converts a zod error into the problem `validation_failed`, with one error per invalid place.
 *
 * @param prefix JSON pointer of the parsed value, such as `/settings`
 */
export function toValidationError(error: z.ZodError, prefix = ''): AppError {
  const errors = error.issues.flatMap((issue) => fieldErrors(issue, prefix))
  return new AppError('invalid', 'validation_failed', { errors })
}

function fieldErrors(issue: z.core.$ZodIssue, prefix: string): FieldError[] {
  const pointer = prefix + issue.path.map((part) => `/${escapePointer(String(part))}`).join('')
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? [{ pointer, code: 'required' }]
        : [{ pointer, code: 'type', values: { expected: issue.expected } }]
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({
        pointer: `${pointer}/${escapePointer(key)}`,
        code: 'unknown',
      }))
    case 'too_small':
      return issue.origin === 'string' || issue.origin === 'array'
        ? [{ pointer, code: 'too_short', values: { minimum: Number(issue.minimum) } }]
        : [{ pointer, code: 'too_small', values: { minimum: Number(issue.minimum) } }]
    case 'too_big':
      return issue.origin === 'string' || issue.origin === 'array'
        ? [{ pointer, code: 'too_long', values: { maximum: Number(issue.maximum) } }]
        : [{ pointer, code: 'too_big', values: { maximum: Number(issue.maximum) } }]
    case 'invalid_value':
      return [{ pointer, code: 'choice', values: { options: issue.values.join(', ') } }]
    case 'not_multiple_of':
      return [{ pointer, code: 'not_multiple', values: { step: Number(issue.divisor) } }]
    case 'invalid_format':
      return [{ pointer, code: 'format' }]
    case 'invalid_union':
      return unionErrors(issue, pointer)
    case 'custom':
      return [customError(issue, pointer)]
    default:
      return [{ pointer, code: 'invalid' }]
  }
}

/**
 * Errors of a union. For a wrong discriminator they list the choices; for several variants they are the
 * errors of the variant that matched furthest.
 */
function unionErrors(issue: z.core.$ZodIssueInvalidUnion, pointer: string): FieldError[] {
  if ('options' in issue && issue.options !== undefined) {
    return [{ pointer, code: 'choice', values: { options: issue.options.join(', ') } }]
  }
  const closest = [...issue.errors].sort((a, b) => depth(b) - depth(a))[0]
  if (closest === undefined || closest.length === 0) return [{ pointer, code: 'invalid' }]
  return closest.flatMap((inner) => fieldErrors(inner, pointer))
}

function depth(issues: readonly z.core.$ZodIssue[]): number {
  return Math.max(0, ...issues.map((issue) => issue.path.length))
}

function customError(issue: z.core.$ZodIssueCustom, pointer: string): FieldError {
  const { code, ...rest } = issue.params ?? {}
  const values = Object.fromEntries(
    Object.entries(rest).filter(
      (entry): entry is [string, string | number] =>
        typeof entry[1] === 'string' || typeof entry[1] === 'number',
    ),
  )
  return { pointer, code: typeof code === 'string' ? code : 'invalid', values }
}
