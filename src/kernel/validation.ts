import { z } from 'zod'
import { AppError, FIELD_ERRORS_MAX, type FieldError, type FieldProblem } from './errors.ts'
import { escapePointer } from './json-pointer.ts'
import { bySimilarity, closeName } from './similar.ts'

/** A decoded input, or the problem `validation_failed` with one error per invalid place. */
export type ParsedInput<T> =
  | { readonly success: true; readonly data: T }
  | { readonly success: false; readonly errors: readonly FieldError[]; readonly error: AppError }

/**
 * Decodes an input.
 *
 * @param prefix JSON pointer of the value, such as `/settings`
 */
export function parseInput<T>(schema: z.ZodType<T>, value: unknown, prefix = ''): ParsedInput<T> {
  const parsed = schema.safeParse(value, { reportInput: true, error: knownNames })
  if (parsed.success) return parsed
  const errors = parsed.error.issues.flatMap((issue) => fieldErrors(issue, prefix))
  return { success: false, errors, error: new AppError('invalid', 'validation_failed', { errors }) }
}

/**
 * The message of an issue about unknown properties: the names that the object has, for `unknownNames`. No other part of the
 * issue says which object refused them.
 */
function knownNames({ code, inst }: z.core.$ZodRawIssue): string | undefined {
  if (code !== 'unrecognized_keys' || !(inst instanceof z.ZodObject)) return undefined
  return Object.keys(inst.shape).join(' ')
}

/** Errors of unknown names, with the known one that was probably meant. */
export function unknownNames(
  pointer: string,
  unknown: readonly string[],
  known: readonly string[],
): FieldError[] {
  return unknown.map((name, index) => ({
    pointer: `${pointer}/${escapePointer(name)}`,
    // Further errors are not reported.
    ...unknownProblem('unknown', index < FIELD_ERRORS_MAX ? known : [], name),
  }))
}

/** The problem of a name that is not known, with the known one that was probably meant: `<code>_closest`. */
export function unknownProblem(code: string, known: readonly string[], name: string): FieldProblem {
  const closest = closeName(known, name)
  return closest === undefined ? { code } : { code, detail: `${code}_closest`, values: { closest } }
}

function fieldErrors(issue: z.core.$ZodIssue, prefix: string): FieldError[] {
  const pointer = prefix + issue.path.map((part) => `/${escapePointer(String(part))}`).join('')
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? [{ pointer, code: 'required' }]
        : [{ pointer, ...typeProblem(issue.expected) }]
    case 'unrecognized_keys':
      return unknownNames(pointer, issue.keys, issue.message.split(' '))
    case 'too_small':
      return [{ pointer, ...tooSmall(issue, Number(issue.minimum)) }]
    case 'too_big':
      return [{ pointer, ...tooBig(issue, Number(issue.maximum)) }]
    case 'invalid_value':
      return [{ pointer, ...choiceProblem(issue.values.map(String), issue.input) }]
    case 'not_multiple_of':
      return [{ pointer, code: 'not_multiple', values: { step: Number(issue.divisor) } }]
    case 'invalid_union':
      return unionErrors(issue, pointer)
    case 'custom':
      return [customError(issue, pointer)]
    default:
      return [{ pointer, code: 'invalid' }]
  }
}

function tooSmall(issue: z.core.$ZodIssueTooSmall, minimum: number): FieldProblem {
  const number = lengthOf(issue.input)
  if (number === undefined) return { code: 'too_small', values: { minimum } }
  const detail = issue.origin === 'string' && { detail: 'too_short_text' }
  return { code: 'too_short', ...detail, values: { minimum, number } }
}

function tooBig(issue: z.core.$ZodIssueTooBig, maximum: number): FieldProblem {
  const number = lengthOf(issue.input)
  if (number === undefined) return { code: 'too_big', values: { maximum } }
  const detail = issue.origin === 'string' && { detail: 'too_long_text' }
  return { code: 'too_long', ...detail, values: { maximum, number } }
}

function lengthOf(value: unknown): number | undefined {
  return typeof value === 'string' || Array.isArray(value) ? value.length : undefined
}

/** Number of allowed values that an error names, so that an answer is not much larger than its request. */
const OPTIONS_MAX = 8

/** The problem of a value that is none of the allowed ones; a text is answered with those most similar to it first. */
export function choiceProblem(options: readonly string[], value: unknown): FieldProblem {
  const isText = typeof value === 'string' && options.length > 1
  const sorted = isText ? bySimilarity(options, value, (name) => name) : options
  const named = sorted.slice(0, OPTIONS_MAX)
  const values = { options: [...named, ...(named.length < sorted.length ? ['…'] : [])].join(', ') }
  return { code: 'choice', ...(isText && { detail: 'choice_closest' }), values }
}

function typeProblem(expected: string): FieldProblem {
  return expected === 'int' ? { code: 'integer' } : { code: 'type', values: { expected } }
}

function propertyOf(value: unknown, name: string | undefined): unknown {
  const isObject = typeof value === 'object' && value !== null && name !== undefined
  return isObject ? Reflect.get(value, name) : undefined
}

/**
 * Errors of a union. For a wrong discriminator they list the choices; for several variants they are the
 * errors of the variant that matched furthest.
 */
function unionErrors(issue: z.core.$ZodIssueInvalidUnion, pointer: string): FieldError[] {
  if ('options' in issue && issue.options !== undefined) {
    const options = issue.options.map(String)
    return [{ pointer, ...choiceProblem(options, propertyOf(issue.input, issue.discriminator)) }]
  }
  const [closest] = issue.errors.toSorted(
    (a, b) => depth(b) - depth(a) || Number(knowsMore(b)) - Number(knowsMore(a)),
  )
  if (closest === undefined || closest.length === 0) return [{ pointer, code: 'invalid' }]
  return closest.flatMap((inner) => fieldErrors(inner, pointer))
}

/** Whether a text was recognised as that of the variant, with a mistake such as a missing digit of an address. */
function knowsMore(issues: readonly z.core.$ZodIssue[]): boolean {
  return issues.some(
    (issue) =>
      issue.code === 'custom' &&
      (issue.params?.['detail'] !== undefined || issue.params?.['code'] === 'checksum'),
  )
}

function depth(issues: readonly z.core.$ZodIssue[]): number {
  return Math.max(0, ...issues.map((issue) => issue.path.length))
}

function customError(issue: z.core.$ZodIssueCustom, pointer: string): FieldError {
  const { code, detail, ...rest } = issue.params ?? {}
  const values = Object.fromEntries(
    Object.entries(rest).filter(
      (entry): entry is [string, string | number] =>
        typeof entry[1] === 'string' || typeof entry[1] === 'number',
    ),
  )
  return {
    pointer,
    code: typeof code === 'string' ? code : 'invalid',
    ...(typeof detail === 'string' && { detail }),
    values,
  }
}
