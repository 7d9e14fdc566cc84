import { type AppError, retryAfterOf } from '#src/kernel/errors.ts'
import { builtKey, hasText, type Translate } from './translate.ts'

/** Title of an error, from its stored code; the code itself if there is no text. */
export function refusalTitle(t: Translate, code: string): string {
  const key = `errors:${code}.title`
  return hasText(key) ? t(builtKey(key)) : code
}

/** A refusal in one or two sentences: the problem and the remedy; for invalid input, the first error. */
export function refusalText(t: Translate, refusal: AppError): string {
  const { code, details } = refusal
  const [wrong] = details.errors ?? []
  if (wrong !== undefined) return t(builtKey(`errors:field.${wrong.code}`), { ...wrong.values })
  const seconds = retryAfterOf(refusal)
  const values = { ...details.values, ...(seconds !== undefined && { seconds }) }
  return t(builtKey(`errors:${code}.detail`), values)
}
