import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { NAMESPACES } from '#src/i18n/catalogue.ts'
import type { Locale } from '#src/kernel/locale.ts'

/**
 * Records the English text that each translation was made from: `locales/sources/<locale>.json`
 * contains its hash by key. Where the English text has another hash now, the translation is stale.
 */

/** Texts of one locale by `<file>:<key>`, plural forms with their endings. */
export type Catalogue = Readonly<Record<string, string>>

/** Hashes of English texts by `<file>:<key>`, without plural endings. */
export type Stamps = Readonly<Record<string, string>>

/** A translation to check again. */
export interface StaleText {
  /** Without plural ending. */
  readonly key: string
  readonly why: 'the English text has changed' | 'not translated yet' | 'not in English'
}

const ENDING = /_(?:zero|one|two|few|many|other)$/
const HASH_LENGTH = 12

/** A key without its plural ending. */
function baseOf(key: string): string {
  return key.replace(ENDING, '')
}

/** A text with all its plural forms, by ending; `''` is the one without. */
export function formsOf(texts: Catalogue, base: string): Readonly<Record<string, string>> {
  const endings = ['', '_zero', '_one', '_two', '_few', '_many', '_other']
  return Object.fromEntries(
    endings.flatMap((ending) => {
      const text = texts[base + ending]
      return text === undefined ? [] : [[ending, text]]
    }),
  )
}

/**
 * The hash that is stored for a translation of this English text. No-break spaces count as spaces.
 */
export function stampOf(english: Catalogue, base: string): string {
  const forms = JSON.stringify(formsOf(english, base)).replace(/[\u00a0\u202f]/g, ' ')
  return createHash('sha256').update(forms).digest('hex').slice(0, HASH_LENGTH)
}

/** The keys of a catalogue in its order, without plural endings. */
export function basesOf(texts: Catalogue): readonly string[] {
  return [...new Set(Object.keys(texts).map(baseOf))]
}

/** Keys whose translation was not made from the English text of now. */
export function staleTexts(english: Catalogue, stamps: Stamps): readonly StaleText[] {
  const bases = basesOf(english)
  const gone = Object.keys(stamps).filter((key) => !bases.includes(key))
  return [
    ...bases.flatMap((key): StaleText[] => {
      if (stamps[key] === stampOf(english, key)) return []
      const isNew = stamps[key] === undefined
      return [{ key, why: isNew ? 'not translated yet' : 'the English text has changed' }]
    }),
    ...gone.map((key): StaleText => ({ key, why: 'not in English' })),
  ]
}

/** Stamps after these keys were translated from the English text of now, in the order of the catalogue. */
export function stamped(english: Catalogue, stamps: Stamps, keys: readonly string[]): Stamps {
  return Object.fromEntries(
    basesOf(english).flatMap((key) => {
      const stamp = keys.includes(key) ? stampOf(english, key) : stamps[key]
      return stamp === undefined ? [] : [[key, stamp]]
    }),
  )
}

/** The texts in the files of a locale. */
export function readCatalogue(locale: Locale): Catalogue {
  return Object.assign({}, ...NAMESPACES.map((name) => readFileTexts(locale, name)))
}

function readFileTexts(locale: Locale, name: string): Catalogue {
  const path = new URL(`../../locales/${locale}/${name}.json`, import.meta.url)
  return existsSync(path) ? withFile(name, readFileSync(path, 'utf8')) : {}
}

/** The texts of one file, its name before each key. */
export function withFile(name: string, raw: string): Catalogue {
  const texts: Record<string, string> = JSON.parse(raw)
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [`${name}:${key}`, text]))
}

/**
 * Writes texts of a locale into its files, where they differ; nothing else of the files changes.
 *
 * @returns the keys that were written
 */
export function writeTexts(locale: Locale, texts: Catalogue): readonly string[] {
  return NAMESPACES.flatMap((name) => {
    const path = new URL(`../../locales/${locale}/${name}.json`, import.meta.url)
    const written: string[] = []
    const lines = readFileSync(path, 'utf8').replace(/^( *"(.+?)": )(".*")(,?)$/gm, (...match) => {
      const [whole, before = '', key = '', value = '', comma = ''] = match
      const text = texts[`${name}:${key}`]
      if (text === undefined || text === JSON.parse(value)) return whole
      written.push(`${name}:${key}`)
      return `${before}${escaped(text)}${comma}`
    })
    if (written.length > 0) writeFileSync(path, lines)
    return written
  })
}

/** JSON with invisible characters as escapes. */
function escaped(text: string): string {
  const code = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(text).replace(/[\u00a0\u202f\u200e\u200f\u2066-\u2069]/g, code)
}

/** The stamps of a locale. */
export function readStamps(locale: Locale): Stamps {
  const path = stampsPath(locale)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
}

export function writeStamps(locale: Locale, stamps: Stamps): void {
  writeFileSync(stampsPath(locale), `${JSON.stringify(stamps, null, 2)}\n`)
}

function stampsPath(locale: Locale): URL {
  return new URL(`../../locales/sources/${locale}.json`, import.meta.url)
}
