import { describe, expect, test } from 'vitest'
import type { DisplayValue } from '#src/kernel/display-values.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { REGISTRY as WATCH_TYPES } from '#src/watches/types/index.ts'
import { placeholdersOf } from '../support/text-rules.ts'
import { faultsOfValues } from './placeholder-rules.ts'
import { kindOf, PLACEHOLDERS, type PlaceholderKind } from './placeholders.ts'
import { basesOf, formsOf, readCatalogue } from './sources.ts'
import { allUses, type Use, usesIn } from './uses.ts'

const english = readCatalogue('en')
const bases = basesOf(english)

/** Placeholders of a key in any of its plural forms and for any severity. */
function placeholdersIn(base: string): ReadonlySet<string> {
  const texts = ['', '_critical', '_warning', '_info'].flatMap((context) =>
    Object.values(formsOf(english, base + context)),
  )
  return new Set(texts.flatMap((text) => [...placeholdersOf(text)]))
}

describe('the table of placeholders', () => {
  test('has every placeholder of the texts, and no other', () => {
    const used = bases.flatMap((base) => [...placeholdersIn(base)])
    expect(used.filter((name) => !(name in PLACEHOLDERS))).toEqual([])
    expect(Object.keys(PLACEHOLDERS).filter((name) => !used.includes(name))).toEqual([])
  })

  test('names keys that have the placeholder', () => {
    const strays = Object.entries(PLACEHOLDERS).flatMap(([name, entry]) =>
      Object.keys(typeof entry === 'string' ? {} : entry)
        .filter((pattern) => pattern !== 'otherwise')
        .filter((pattern) => !bases.some((key) => fits(pattern, key, name)))
        .map((pattern) => `${name}: ${pattern}`),
    )
    expect(strays).toEqual([])
  })

  test('gives the kinds of values that the code inserts', () => {
    expect(allUses().length).toBeGreaterThan(300)
    expect(allUses().flatMap(faultsOfUse)).toEqual([])
  })

  test('gives the kinds of values that alerts insert', () => {
    const wrong = WATCH_TYPES.flatMap(({ signals }) =>
      signals.flatMap((signal) =>
        Object.entries(signal.examples).flatMap(([event, data]) => {
          const { facts } = signal.present(event, data)
          return [`messages:${event}.title`, `messages:${event}.body`].flatMap((key) =>
            [...placeholdersIn(key)].flatMap((name) => {
              const fact = facts[name]
              const kind = kindOf(name, key)
              const isRight = fact === undefined || (kind && FACTS[fact.kind].includes(kind))
              return isRight ? [] : [`${key} {{${name}}} is ${fact.kind}, not ${kind}`]
            }),
          )
        }),
      ),
    )
    expect(wrong).toEqual([])
  })

  test('finds code that inserts another kind of value', () => {
    const faults = (source: string) => usesIn('x.ts', source).flatMap(faultsOfUse)
    expect(faults("t('bot:zone.title', { zone: id(a), time: clockTime(reader, now) })")).toEqual([])
    expect(faults("t('bot:zone.title', { zone: id(a), time: nearTime(reader, a, now) })")).toEqual([
      'x.ts: bot:zone.title {{time}} is clock in the table, near in “nearTime(reader, a, now)”',
    ])
    expect(
      faults("t('notices:slotPrice', {\n  duration: formatDuration(9, l, 'short'),\n})"),
    ).toEqual([
      "x.ts: notices:slotPrice {{duration}} is longDuration in the table, shortDuration in “formatDuration(9, l, 'short')”",
    ])
  })
})

function fits(pattern: string, key: string, name: string): boolean {
  const isKey = pattern.endsWith('*') ? key.startsWith(pattern.slice(0, -1)) : key === pattern
  return isKey && placeholdersIn(key).has(name)
}

/** Kinds that a display value may have in a text. */
const FACTS: Readonly<Record<DisplayValue['kind'], readonly PlaceholderKind[]>> = {
  amount: ['amount'],
  decimal: ['amount'],
  price: ['amount'],
  percent: ['amount'],
  // A provider is shown by its name where it has one.
  address: ['address', 'name'],
  transaction: ['address'],
  block: ['identifier'],
  chance: ['amount'],
  identifier: ['identifier', 'code'],
  number: ['number'],
  instant: ['instant', 'moment'],
  duration: ['longDuration'],
  counted: ['counted'],
  share: ['counted'],
  estimate: ['amount'],
  term: ['term', 'sentence'],
  name: ['name', 'code', 'list'],
}

/** Kinds of the results of formatters, by the beginning of the call. */
const FORMATTERS: readonly (readonly [RegExp, readonly PlaceholderKind[]])[] = [
  [/^formatDateTime\((?!.*year: false)/, ['instant']],
  [/^(?:nearTime|baselineTime)\(/, ['near']],
  [/^(?:clockTime|formatTime|writer\.time)\(/, ['clock']],
  [/^formatDate\(|^(?:day|date)\(reader/, ['day']],
  [/^time\(reader/, ['instant']],
  [/^formatDuration\(.*'long'\)$/s, ['longDuration']],
  [/^formatDuration\(.*'short'\)$/s, ['shortDuration']],
  [/^formatSpan\(/, ['governedDuration']],
  [/^format(?:Amount|Decimal|Price|Percent|Chance)\(/, ['amount']],
  [/^t\('units:|^credits\(|^count\(t,|^slots\(t,/, ['counted']],
  [/^typed\(/, ['name', 'code']],
  [/^formatList\(|^nameList\(/, ['list']],
  [/^formatNumber\(/, ['number']],
  [/^wholeAddress\(|^hashText\(/, ['address']],
  [/^id\(/, ['identifier', 'number', 'code', 'address', 'list', 'clock', 'name']],
]

function faultsOfUse({ key, placeholder, value, path }: Use): readonly string[] {
  if (!placeholdersIn(key).has(placeholder)) return []
  const kind = kindOf(placeholder, key)
  const made = FORMATTERS.find(([call]) => call.test(value))?.[1]
  if (kind === undefined || made === undefined || made.includes(kind)) return []
  const shown = value.replace(/\s+/g, ' ')
  return [`${path}: ${key} {{${placeholder}}} is ${kind} in the table, ${made[0]} in “${shown}”`]
}

describe('values in their sentences', () => {
  const faulty: readonly (readonly [Locale, string, string, string])[] = [
    ['en', 'messages:signing.done.body', 'Signed at {{signed}}.', '“at” before a date'],
    ['en', 'bot:zone.title', 'It was read on {{time}}.', '“on” before a time of day'],
    ['en', 'bot:rec.off', 'Off: at {{time}}.', 'a time or a date'],
    ['en', 'messages:x', 'FTSO commit with a {{reason}}', '“a” or “an”'],
    ['en', 'bot:slots.total', '{{credits}} are missing', 'one or many'],
    ['en', 'messages:x', 'New {{surprise}}', 'not in test/locales/placeholders.ts'],
    ['de', 'messages:reminder.open', 'Seit {{duration}} offen.', 'a duration in the dative'],
    ['de', 'bot:slots.term', 'Endet in <b>{{duration}}</b>', 'a duration in the dative'],
    ['de', 'messages:signing.done.body', 'Signiert um {{signed}}.', '“um” before a date'],
    ['de', 'pages:alert.closed', 'Geschlossen am {{time}}', 'before a time of day'],
    ['fr', 'messages:x', 'Le commit de {{provider}}', 'before a name'],
    ['fr', 'messages:x', 'Avant qu’{{provider}}', 'before a name'],
    ['fr', 'bot:rec.off', 'Inactif depuis {{time}}.', 'a date without “le”'],
    ['fr', 'messages:signing.done.body', 'Signé à {{signed}}.', 'a date without “le”'],
    ['fr', 'pages:alert.closed', 'Fermée le {{time}}', 'before a time of day'],
    ['bn', 'messages:signing.done.body', 'সময়: {{signed}}।', 'a danda'],
    ['bn', 'errors:field.too_big', 'সর্বোচ্চ {{maximum}} ।', 'a danda'],
    ['bn', 'messages:x', '{{provider}}র কমিট', 'an ending on a value'],
    ['bn', 'bot:slots.price', '{{duration}}-এর জন্য', 'an ending on a value'],
    ['hi', 'errors:field.too_big', 'सीमा {{maximum}}।', 'a danda'],
    ['hi', 'messages:reminder.open', '{{duration}} से खुला।', 'a postposition after a duration'],
    ['hi', 'messages:x', '{{provider}}का कमिट', 'an ending on a value'],
    ['ar', 'messages:reminder.open', 'مفتوح منذ {{duration}}.', 'after a preposition'],
    ['ar', 'bot:slots.total', 'السعر من \u2068{{credits}}\u2069.', 'after a preposition'],
  ]

  test.each(faulty)('are refused in %s: %s “%s”', (locale, key, text, fault) => {
    expect(faultsOfValues(locale, key, text).join('\n')).toContain(fault)
  })

  const sound: readonly (readonly [Locale, string, string])[] = [
    ['en', 'messages:signing.done.body', 'Signed on {{signed}}.'],
    ['en', 'pages:alert.closed', 'Closed at {{time}}'],
    ['en', 'bot:rec.off', 'Off since {{time}}.'],
    ['de', 'messages:reminder.open', 'Offen: {{duration}}.'],
    ['de', 'messages:signing.done.body', 'Signiert am {{signed}}.'],
    ['fr', 'messages:x', 'Le commit du fournisseur {{provider}}'],
    ['fr', 'messages:signing.done.body', 'Signé le {{signed}}.'],
    ['fr', 'messages:x', 'Le tour de vote {{round}}, là {{provider}}'],
    ['bn', 'bot:home.slots', '{{total}}টির মধ্যে {{used}}টি'],
    ['bn', 'messages:reminder.open', 'বিরতি: {{duration}}।'],
    ['hi', 'messages:reminder.open', 'अवधि: {{duration}}।'],
    ['ar', 'messages:reminder.open', 'المدة: {{duration}}.'],
    ['ar', 'messages:signing.done.body', 'وُقّع في {{signed}}.'],
  ]

  test.each(sound)('are accepted in %s: %s “%s”', (locale, key, text) => {
    expect(faultsOfValues(locale, key, text)).toEqual([])
  })
})
