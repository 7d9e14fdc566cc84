/** All locales. English is the fallback. */
export const LOCALES = ['en', 'de', 'fr', 'bn', 'zh', 'hi', 'ar'] as const

export type Locale = (typeof LOCALES)[number]

/** Each language by its own name, for menus. */
export const LOCALE_NAMES: Readonly<Record<Locale, string>> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  bn: 'বাংলা',
  zh: '中文',
  hi: 'हिन्दी',
  ar: 'العربية',
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
