import { existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'

/** The files of `locales/<locale>/`, without extension. */
export const NAMESPACES = [
  'bot',
  'errors',
  'mail',
  'messages',
  'notices',
  'operations',
  'pages',
  'signals',
  'units',
] as const

/** The texts of one file by key. Keys have the suffixes of their contexts and plural forms. */
type Texts = Readonly<Record<string, string>>

/** All texts by locale, file and key, read from the disk when the process starts. */
export const TEXTS: Readonly<Record<string, Record<string, Texts>>> = Object.fromEntries(
  LOCALES.map((locale) => [
    locale,
    Object.fromEntries(NAMESPACES.map((name) => [name, readTexts(locale, name)])),
  ]),
)

/**
 * Keys of all English texts as `<file>:<key>`, without the suffix of a plural form. A key with a context (a severity) is
 * also in the set without it.
 */
export const TEXT_KEYS: ReadonlySet<string> = new Set(
  Object.entries(TEXTS.en ?? {}).flatMap(([name, texts]) =>
    Object.keys(texts).flatMap((ending) => {
      const key = `${name}:${ending.replace(/_(zero|one|two|few|many|other)$/, '')}`
      return [key, key.replace(/_(critical|warning|info)$/, '')]
    }),
  ),
)

/**
 * Reads one file of texts; empty if the locale does not have the file.
 *
 * @throws SyntaxError or ZodError if the file is not an object of texts
 */
function readTexts(locale: Locale, name: string): Texts {
  const file = new URL(`../../locales/${locale}/${name}.json`, import.meta.url)
  if (!existsSync(file)) return {}
  return z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(file, 'utf8')))
}
