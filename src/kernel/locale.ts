/**
 * Every locale: the name of its language in that language, for menus, and the language tag for `Intl`. The tags ask
 * for Latin digits (`nu-latn`): with `bn` alone `Intl` writes Bengali digits, and with `ar` or `hi` alone the digits
 * depend on the build of Node.
 */
const TABLE = {
  en: { name: 'English', tag: 'en' },
  de: { name: 'Deutsch', tag: 'de' },
  fr: { name: 'Français', tag: 'fr' },
  bn: { name: 'বাংলা', tag: 'bn-u-nu-latn' },
  zh: { name: '中文', tag: 'zh-Hans-u-nu-latn' },
  hi: { name: 'हिन्दी', tag: 'hi-u-nu-latn' },
  ar: { name: 'العربية', tag: 'ar-u-nu-latn' },
} as const

export type Locale = keyof typeof TABLE

/** All locales, in display order. English is the fallback. */
export const LOCALES = Object.keys(TABLE) as [Locale, ...Locale[]]

/** Name of a locale's language in that language. */
export function localeName(locale: Locale): string {
  return TABLE[locale].name
}

/** Language tag of a locale for `Intl`. */
export function intlTag(locale: Locale): string {
  return TABLE[locale].tag
}

/** Writing direction, in the values of the HTML `dir` attribute. */
export function directionOf(locale: Locale): 'ltr' | 'rtl' {
  return locale === 'ar' ? 'rtl' : 'ltr'
}

export function isLocale(value: unknown): value is Locale {
  return LOCALES.some((locale) => locale === value)
}

/**
 * Locale of a language tag by its primary subtag (`zh-Hans-CN` gives `zh`); undefined for an unsupported
 * language.
 */
export function localeOfTag(tag: string | undefined): Locale | undefined {
  const primary = tag?.trim().toLowerCase().split(/[-_]/)[0]
  return isLocale(primary) ? primary : undefined
}

/**
 * Best supported locale for an `Accept-Language` header.
 *
 * Highest quality first, ties in the given order; `*` and unsupported languages are skipped; `en` if none
 * fits.
 *
 * @see RFC 9110, section 12.5.4
 */
export function negotiateLocale(header: string | undefined): Locale {
  const wishes = (header ?? '')
    .split(',')
    .map((part) => {
      const [tag, ...parameters] = part.split(';')
      const quality = parameters.map((p) => /^\s*q=([\d.]+)\s*$/.exec(p)?.[1]).find(Boolean)
      return { locale: localeOfTag(tag), quality: quality === undefined ? 1 : Number(quality) }
    })
    .filter((wish) => wish.locale !== undefined && wish.quality > 0)
    .sort((a, b) => b.quality - a.quality)
  return wishes[0]?.locale ?? 'en'
}
