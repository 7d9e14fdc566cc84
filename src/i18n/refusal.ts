import { checkedKey, hasText, type Translate } from './translate.ts'

/** Title of an error, from its stored code; the code itself if there is no text. */
export function refusalTitle(t: Translate, code: string): string {
  const key = `errors:${code}.title`
  return hasText(key) ? t(checkedKey(key)) : code
}
