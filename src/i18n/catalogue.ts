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

/** Texts by key, as in one file. */
type Texts = Readonly<Record<string, string>>

/** Every text by locale, file and key, loaded when the process starts. */
export const TEXTS: Readonly<Record<string, Record<string, Texts>>> = Object.fromEntries(
  LOCALES.map((locale) => [
    locale,
    Object.fromEntries(NAMESPACES.map((name) => [name, readTexts(locale, name)])),
  ]),
)

/** Every English key, `<file>:<key>`, without plural suffix; with and without its context. */
export const TEXT_KEYS: ReadonlySet<string> = new Set(
  Object.entries(TEXTS.en ?? {}).flatMap(([name, texts]) =>
    Object.keys(texts).flatMap((ending) => {
      const key = `${name}:${ending.replace(/_(zero|one|two|few|many|other)$/, '')}`
      return [key, key.replace(/_(critical|warning|info)$/, '')]
    }),
  ),
)

/** Reads one file of texts; empty if the file does not exist for the locale. */
function readTexts(locale: Locale, name: string): Texts {
  const file = new URL(`../../locales/${locale}/${name}.json`, import.meta.url)
  if (!existsSync(file)) return {}
  return z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(file, 'utf8')))
}
