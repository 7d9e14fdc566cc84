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

/**
 * The files of each locale, read when the process starts, so that all texts are of its own release. They stay bytes until
 * somebody reads the locale: as texts they take three times the memory.
 */
const FILES = new Map(
  LOCALES.map((locale) => [
    locale,
    NAMESPACES.map((name) => [name, readBytes(locale, name)] as const),
  ]),
)

/**
 * All texts of a locale by file and key; each call parses its files.
 *
 * @throws SyntaxError or ZodError if a file is not an object of texts
 */
export function textsIn(locale: Locale): Readonly<Record<string, Texts>> {
  const files = FILES.get(locale) ?? []
  return Object.fromEntries(files.map(([name, bytes]) => [name, textsOf(bytes)]))
}

/**
 * Keys of all English texts as `<file>:<key>`, without the suffix of a plural form. A key with a context (a severity) is
 * also in the set without it.
 */
export const TEXT_KEYS: ReadonlySet<string> = new Set(
  Object.entries(textsIn('en')).flatMap(([name, texts]) =>
    Object.keys(texts).flatMap((ending) => {
      const key = `${name}:${ending.replace(/_(zero|one|two|few|many|other)$/, '')}`
      return [key, key.replace(/_(critical|warning|info)$/, '')]
    }),
  ),
)

/**
 * Reads one file of texts; undefined if the locale does not have the file.
 *
 * @throws Error if it was not copied to its end
 */
function readBytes(locale: Locale, name: string): Buffer | undefined {
  const file = new URL(`../../locales/${locale}/${name}.json`, import.meta.url)
  if (!existsSync(file)) return undefined
  const bytes = readFileSync(file)
  if (!bytes.subarray(-8).toString('latin1').trimEnd().endsWith('}'))
    throw new Error(`${file} is cut off`)
  return bytes
}

function textsOf(bytes: Buffer | undefined): Texts {
  if (bytes === undefined) return {}
  return z.record(z.string(), z.string()).parse(JSON.parse(bytes.toString('utf8')))
}
