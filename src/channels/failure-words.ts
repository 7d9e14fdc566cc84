import { hasText, type Translate } from '#src/i18n/translate.ts'

/** Why a send failed, in a few words: the status of an answer, or the words of a code. Never the code itself. */
export function failureWords(t: Translate, reason: string): string {
  const status = /^status_(\d{3})$/.exec(reason)?.[1]
  if (status !== undefined) return status
  const key = `notices:failure.${reason}`
  return t(hasText(key) ? key : 'notices:failure.other')
}
