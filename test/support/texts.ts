import { existsSync, readFileSync } from 'node:fs'
import { NAMESPACES } from '#src/i18n/catalogue.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { placeholdersOf, textFaultsOf } from './text-rules.ts'

type Texts = Readonly<Record<string, string>>

/**
 * Every problem of the texts of one locale: files, keys, plural forms, placeholders and the rules for
 * single texts. One line each: locale, file, key, problem.
 */
export function problemsOf(locale: Locale): readonly string[] {
  return NAMESPACES.flatMap((file) => {
    const raw = read(locale, file)
    const english = textsIn(read('en', file) ?? '{}')
    const line = (what: string) => `${locale} ${file}.json ${what}`
    if (raw === undefined) return [line(`is missing (${Object.keys(english).length} texts)`)]
    const values = valuesIn(raw)
    if (values === undefined) return [line('is not a JSON object')]
    const texts = textsIn(raw)
    return [
      ...faultsOfFile(raw, values),
      ...faultsOfKeys(locale, texts, english),
      ...missingPairKeys(file, texts),
      ...Object.entries(texts).flatMap(([key, text]) => {
        const { base } = formOf(key)
        const place = { locale, file, key: base.replace(CONTEXT, '') }
        const faults = [
          ...textFaultsOf(text, place),
          ...strayPlaceholders(locale, key, texts, english),
        ]
        return faults.map((fault) => `${key}: ${fault}`)
      }),
    ].map(line)
  })
}

const CONTEXT = /_(?:critical|warning|info)$/
const INVISIBLE = /[\u00a0\u202f\u200e\u200f\u2066-\u2069]/

function read(locale: Locale, file: string): string | undefined {
  const path = new URL(`../../locales/${locale}/${file}.json`, import.meta.url)
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

function valuesIn(raw: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(raw)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

function textsIn(raw: string): Texts {
  return Object.fromEntries(
    Object.entries(valuesIn(raw) ?? {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  )
}

/** Problems of a file's notation that its parsed form no longer shows. */
export function faultsOfFile(
  raw: string,
  values: Readonly<Record<string, unknown>>,
): readonly string[] {
  const written = [...raw.matchAll(/^\s*"((?:[^"\\]|\\.)*)"\s*:/gm)].map((match) => match[1] ?? '')
  const twice = written.filter((key, index) => written.indexOf(key) < index)
  const odd = Object.keys(values).filter((key) => typeof values[key] !== 'string')
  const hidden = raw.split('\n').filter((line) => INVISIBLE.test(line))
  return [
    ...twice.map((key) => `${key}: stands there twice`),
    ...odd.map((key) => `${key}: is not a text`),
    ...hidden.map(
      (line) => `${line.trim().slice(0, 60)}: write invisible characters as \\u escapes`,
    ),
  ]
}

/** Splits a key into base and plural form. */
function formOf(key: string): { readonly base: string; readonly form: string | undefined } {
  const match = /^(.*)_(zero|one|two|few|many|other)$/.exec(key)
  return { base: match?.[1] ?? key, form: match?.[2] }
}

/**
 * Missing, unknown and superfluous keys. Every plural category of the locale is required, and `zero` where
 * English has it; elsewhere `zero` is optional.
 */
export function faultsOfKeys(locale: Locale, texts: Texts, english: Texts): readonly string[] {
  const categories = new Intl.PluralRules(locale).resolvedOptions().pluralCategories
  const required = Object.keys(english).flatMap((key) => {
    const { base, form } = formOf(key)
    const forms = categories.map((category) => `${base}_${category}`)
    if (form === undefined) return [key]
    return form === 'zero' ? [...forms, key] : forms
  })
  const zeros = Object.keys(english).map((key) => `${formOf(key).base}_zero`)
  const counted = new Set(
    Object.keys(english).flatMap((key) => (formOf(key).form ? [formOf(key).base] : [])),
  )
  const isAllowed = (key: string) =>
    required.includes(key) || (zeros.includes(key) && counted.has(formOf(key).base))
  return [
    ...[...new Set(required)].filter((key) => !(key in texts)).map((key) => `${key}: is missing`),
    ...Object.keys(texts)
      .filter((key) => !isAllowed(key))
      .map((key) => {
        const isForm = formOf(key).form !== undefined && counted.has(formOf(key).base)
        return `${key}: ${isForm ? `is a plural form that ${locale} does not have` : 'is not in English'}`
      }),
  ]
}

/** Texts that are always read together, so that code may build the key of either. */
const PAIRS: Readonly<Record<string, readonly [string, string]>> = {
  errors: ['.title', '.detail'],
  messages: ['.title', '.body'],
}

/** Keys without their counterpart: a title without its detail, a detail without its title. */
export function missingPairKeys(file: string, texts: Texts): readonly string[] {
  const [first, second] = PAIRS[file] ?? ['', '']
  const bases = new Set(Object.keys(texts).map((key) => formOf(key).base.replace(CONTEXT, '')))
  const other = (key: string, from: string, to: string) =>
    from !== '' && key.endsWith(from) ? [`${key.slice(0, -from.length)}${to}`] : []
  return [...bases]
    .flatMap((key) => [...other(key, first, second), ...other(key, second, first)])
    .filter((key) => !bases.has(key))
    .map((key) => `${key}: is missing beside its other half`)
}

/** Placeholders that a text has or lacks compared to the English one. */
export function strayPlaceholders(
  locale: Locale,
  key: string,
  texts: Texts,
  english: Texts,
): readonly string[] {
  const { base } = formOf(key)
  const model = english[`${base}_other`] ?? english[base]
  const text = texts[key]
  if (model === undefined || text === undefined) return []
  const expected = placeholdersOf(model)
  const actual = placeholdersOf(text)
  const lacks = [...expected].filter((name) => !actual.has(name))
  const isFree = mayLeaveOutCount(locale, key, texts)
  return [
    ...lacks.filter((name) => name !== 'count' || !isFree).map((name) => `lacks {{${name}}}`),
    ...[...actual]
      .filter((name) => !expected.has(name))
      .map((name) => `has {{${name}}}, English has not`),
  ]
}

/** Whether the form means exactly one number, and may omit the count. */
function mayLeaveOutCount(locale: Locale, key: string, texts: Texts): boolean {
  const { base, form } = formOf(key)
  if (form === 'zero') return true
  if (form === 'two') return locale === 'ar'
  if (form !== 'one') return false
  return ['en', 'de', 'ar'].includes(locale) || `${base}_zero` in texts
}
