import type { Locale } from '#src/kernel/locale.ts'
import { formatDuration } from './format.ts'

/** Forms of units that a preposition or postposition changes, in languages with cases. */
const FORMS: Partial<Record<Locale, readonly (readonly [RegExp, string])[]>> = {
  de: [[/Tage(?!\p{L})/gu, 'Tagen']],
  hi: [[/घंटा(?!\p{L})/gu, 'घंटे']],
  ar: [[/(ساعت|دقيقت|ثانيت|يوم)ان(?!\p{L})/gu, '$1ين']],
}

/** A duration in words after a preposition such as *within*, in the form that the language gives it there. */
export function formatSpan(seconds: number, locale: Locale): string {
  const forms = FORMS[locale] ?? []
  return forms.reduce(
    (text, [found, form]) => text.replace(found, form),
    formatDuration(seconds, locale, 'long'),
  )
}
