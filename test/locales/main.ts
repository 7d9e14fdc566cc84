/**
 * Commands for translators, run by `npm run locales:…`:
 *
 *     stale <locale> [--json] [keys…]     texts to translate: the English one before and now, the translation
 *     stamp <locale> <keys…>              these translations were made from the English texts of now
 *     stamp <locale> --edited [commit]    those that differ from a commit, else from main
 *     stamp <locale> --all
 *
 *     fix <locale> [keys…]                puts spaces, signs and isolates into its texts
 * check <locale>                      lists the faults that the rules of test/locales find in its
 * texts
 *
 * A key is `<file>:<key>` without plural ending; `*` at its end stands for any rest.
 */
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import { faultsOfLocale, ruleKeyOf } from './faults.ts'
import { catalogueAt, englishByStamp } from './history.ts'
import {
  basesOf,
  type Catalogue,
  formsOf,
  readCatalogue,
  readStamps,
  staleTexts,
  stamped,
  writeStamps,
  writeTexts,
} from './sources.ts'
import { typeset } from './typeset.ts'

const [command, name, ...words] = process.argv.slice(2)
const locale = LOCALES.find((each) => each === name)

if (locale === undefined) fail('which locale?')
else if (command === 'check') check(locale)
else if (command === 'fix') fix(locale)
else if (locale === 'en') fail('English is not translated')
else if (command === 'stale') listStale(locale)
else if (command === 'stamp') stamp(locale)
else fail('stale, stamp, check or fix?')

function check(of: Locale): void {
  const faults = faultsOfLocale(of)
  for (const fault of faults) print(fault)
  print(`${faults.length} faults in ${of}`)
}

function fix(of: Locale): void {
  const texts = Object.entries(readCatalogue(of)).filter(
    ([key]) => words.length === 0 || matches(words, ruleKeyOf(key)),
  )
  const set = texts.map(([key, text]) => [key, typeset(of, ruleKeyOf(key), text)])
  const written = writeTexts(of, Object.fromEntries(set))
  for (const key of written) print(key)
  print(`${written.length} texts mended in ${of}`)
}

function listStale(of: Locale): void {
  const english = readCatalogue('en')
  const stamps = readStamps(of)
  const translated = readCatalogue(of)
  const wanted = words.filter((word) => !word.startsWith('--'))
  const stale = staleTexts(english, stamps).filter(
    ({ key }) => wanted.length === 0 || matches(wanted, key),
  )
  const rows = stale.map((text) => ({
    ...text,
    before: englishByStamp(text.key, stamps[text.key] ?? ''),
    now: formsOf(english, text.key),
    translation: formsOf(translated, text.key),
  }))
  if (words.includes('--json')) print(JSON.stringify(rows, null, 2))
  else {
    for (const { key, why, before, now, translation } of rows) {
      print(`${key} (${why})`)
      show('was', before ?? {})
      show('now', now)
      show(of, translation)
      print('')
    }
    print(`${stale.length} stale in ${of}`)
  }
}

function show(label: string, forms: Readonly<Record<string, string>>): void {
  for (const [ending, text] of Object.entries(forms)) {
    print(`  ${label}${ending.replace('_', ' ')}: ${JSON.stringify(text)}`)
  }
}

function stamp(of: Locale): void {
  const english = readCatalogue('en')
  const before = readStamps(of)
  const translated = basesOf(readCatalogue(of)).filter((key) => basesOf(english).includes(key))
  const keys = chosenKeys(of, translated)
  writeStamps(of, stamped(english, before, keys))
  const left = staleTexts(english, readStamps(of))
  print(`${keys.length} stamped, ${left.length} stale in ${of}`)
}

function chosenKeys(of: Locale, translated: readonly string[]): readonly string[] {
  if (words[0] === '--all') return translated
  if (words[0] === '--edited') {
    const now = readCatalogue(of)
    const before = catalogueAt(words[1] ?? 'main', of)
    return translated.filter((key) => !isSame(formsOf(before, key), formsOf(now, key)))
  }
  const unknown = words.filter((word) => !translated.some((key) => matches([word], key)))
  if (unknown.length > 0) fail(`not a key of ${of}: ${unknown.join(' ')}`)
  return translated.filter((key) => matches(words, key))
}

function isSame(a: Catalogue, b: Catalogue): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function matches(wanted: readonly string[], key: string): boolean {
  return wanted.some((word) =>
    word.endsWith('*') ? key.startsWith(word.slice(0, -1)) : key === word,
  )
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function fail(why: string): void {
  process.stderr.write(`${why}\n`)
  process.exitCode = 1
}
