import { z } from 'zod'
import type { FieldProblem } from './errors.ts'

/**
 * Schema of a text that has to match a pattern. Each format has a code, and so a sentence, of its own: "the format is not
 * valid" helps nobody.
 *
 * @param problemOf what is wrong with a text that does not match
 */
export function textFormat(pattern: RegExp, problemOf: (text: string) => FieldProblem) {
  return z
    .string()
    .check(({ value, issues }) => {
      if (pattern.test(value)) return
      const { code, detail, values } = problemOf(value)
      const params = { ...values, code, ...(detail !== undefined && { detail }) }
      issues.push({ code: 'custom', input: value, params, continue: false })
    })
    .meta({ pattern: pattern.source })
}
