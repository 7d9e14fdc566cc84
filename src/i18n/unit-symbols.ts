import type { Locale } from '#src/kernel/locale.ts'

/** The symbols of units as the texts of the locale have them, in place of the abbreviations of `Intl`. */
const SYMBOLS: Partial<
  Record<Locale, readonly (readonly [abbreviation: RegExp, symbol: string])[]>
> = {
  en: [
    [/hr\b/, 'h'],
    [/sec\b/, 's'],
  ],
  de: [
    [/Std\./, 'h'],
    [/Min\./, 'min'],
    [/Sek\./, 's'],
  ],
}

/** A short duration with the symbols of its units: *1 h, 30 min* for *1 hr, 30 min*. */
export function withSymbols(duration: string, locale: Locale): string {
  const symbols = SYMBOLS[locale] ?? []
  return symbols.reduce((text, [found, symbol]) => text.replace(found, symbol), duration)
}
