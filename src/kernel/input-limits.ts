import { FIELD_ERRORS_MAX, type FieldError } from './errors.ts'
import { escapePointer } from './json-pointer.ts'

/** Maximum nesting of a JSON input; the outermost object or array is level 1. */
export const INPUT_DEPTH_MAX = 32

/**
 * Finds errors of a decoded JSON input that no schema checks: values nested deeper than `INPUT_DEPTH_MAX`, and text
 * that PostgreSQL cannot store (NUL, lone surrogates), in values and in property names.
 *
 * @returns at most 20 errors, empty for a valid input
 */
export function inputErrors(value: unknown): readonly FieldError[] {
  const errors: FieldError[] = []
  visit(value, '', 1, errors)
  return errors.slice(0, FIELD_ERRORS_MAX)
}

function visit(value: unknown, pointer: string, depth: number, errors: FieldError[]): void {
  if (errors.length >= FIELD_ERRORS_MAX) return
  if (typeof value === 'string') checkText(value, pointer, errors)
  if (typeof value !== 'object' || value === null) return
  if (depth > INPUT_DEPTH_MAX) {
    errors.push({ pointer, code: 'too_deep', values: { maximum: INPUT_DEPTH_MAX } })
    return
  }
  for (const [key, inner] of Object.entries(value)) {
    if (errors.length >= FIELD_ERRORS_MAX) return
    checkText(key, pointer, errors)
    visit(inner, `${pointer}/${escapePointer(key).toWellFormed()}`, depth + 1, errors)
  }
}

function checkText(text: string, pointer: string, errors: FieldError[]): void {
  if (text.includes('\0')) errors.push({ pointer, code: 'control_characters' })
  if (!text.isWellFormed()) errors.push({ pointer, code: 'malformed_text' })
}
