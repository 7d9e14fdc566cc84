import type { Locale } from '#src/kernel/locale.ts'
import { formatList } from './format.ts'
import { isolate, withoutDirections } from './isolates.ts'
import type { Translate } from './translate.ts'

/** Maximum number of watches that are named in one sentence; the rest is counted. */
const NAMES_MAX = 5

/** Names that people chose as a list in words. It is a value for a text, which makes it inert where it becomes HTML. */
export function nameList(names: readonly string[], locale: Locale): string {
  return formatList(names.map(isolatedName), locale)
}

/** The first labels as a list in words, with the number of those left out; undefined if there are no labels. */
export function firstLabels(t: Translate, labels: readonly string[]): string | undefined {
  if (labels.length === 0) return undefined
  const shown = labels.slice(0, NAMES_MAX).map(isolatedName)
  const otherCount = labels.length - shown.length
  const listed = otherCount === 0 ? shown : [...shown, t('notices:more', { count: otherCount })]
  return formatList(listed, t.locale)
}

function isolatedName(name: string): string {
  return isolate(withoutDirections(name))
}
