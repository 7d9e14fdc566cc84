import { builtKey, type Translate } from '#src/i18n/translate.ts'
import type { AppError } from '#src/kernel/errors.ts'

/** A refusal of the gate as one sentence for the reader: plain text. */
export function sentenceOf(t: Translate, { code, details }: AppError): string {
  if (code === 'insufficient_scope') return t('bot:error.scope')
  if (code === 'etag_mismatch') return t('bot:error.changed')
  const [first] = details.errors ?? []
  if (first !== undefined) return t(builtKey(`errors:field.${first.code}`), { ...first.values })
  const seconds = details.retryAfterSeconds
  const values = { ...details.values, ...(seconds !== undefined && { seconds }) }
  return t(builtKey(`errors:${code}.detail`), values)
}
