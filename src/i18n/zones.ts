import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import { zoneName } from './intl.ts'
import { LARGE_CITIES } from './large-cities.ts'
import data from './zone-names.json' with { type: 'json' }

/**
 * Search for time zones by IANA name and, in all seven languages, by country and by city. Large cities after
 * which no zone is named are found, too.
 */

interface Zone {
  readonly name: string
  /** ISO 3166 country codes. */
  readonly countries: readonly string[]
  /** City names, indexed like `LOCALES`. */
  readonly cities: readonly string[]
}

const UTC: Zone = { name: 'UTC', countries: [], cities: LOCALES.map(() => 'UTC') }

const ZONES: readonly Zone[] = [
  ...Object.entries(data.zones).map(([name, row]) => {
    const [countries = '', ...cities] = row.split('|')
    return { name, countries: countries.split(' ').filter(Boolean), cities }
  }),
  UTC,
]

const RENAMED: ReadonlyMap<string, string> = new Map(Object.entries(data.renamed))

/** The IANA names of all zones a user can choose, in order. */
export const ZONE_NAMES: readonly string[] = ZONES.map(({ name }) => name)

/**
 * The current IANA name of a zone in its canonical spelling: `Asia/Kolkata` for `asia/calcutta`. Unknown
 * names are returned unchanged.
 */
export function modernZone(name: string): string {
  const ianaName = zoneName(name)
  return ianaName === '' ? name : (RENAMED.get(ianaName) ?? ianaName)
}

/** The city of a zone in a locale. */
export function cityOf(zone: string, locale: Locale): string {
  const cityZone = ZONES.find(({ name }) => name === zone)
  return (
    cityZone?.cities[LOCALES.indexOf(locale)] ??
    zone.split('/').at(-1)?.replaceAll('_', ' ') ??
    zone
  )
}

/** Zones that match a text, best match first; empty if none does. */
export function findZones(text: string): readonly string[] {
  const searched = plain(text)
  if (searched.length < 2) return []
  const exact = zonesWhere(({ places }) => places.includes(searched))
  if (exact.length > 0) return exact
  const inCountry = zonesWhere(({ countries }) => countries.includes(searched))
  if (inCountry.length > 0) return inCountry
  const startingWith = zonesWhere(({ places }) =>
    places.some((place) => place.startsWith(searched)),
  )
  const others = zonesWhere(
    ({ places, countries }) =>
      places.some((place) => place.includes(searched)) ||
      countries.some((country) => country.startsWith(searched)),
  )
  return [...new Set([...startingWith, ...others])]
}

/** Names of a zone, normalized for comparison. */
interface Names {
  readonly zone: string
  /** Cities, and the IANA name with its former names. */
  readonly places: readonly string[]
  readonly countries: readonly string[]
}

function zonesWhere(fits: (names: Names) => boolean): readonly string[] {
  return allNames().flatMap((names) => (fits(names) ? [names.zone] : []))
}

let names: readonly Names[] | undefined

/** Builds the index at the first search, because it needs the name of each country in each language. */
function allNames(): readonly Names[] {
  names ??= ZONES.map(({ name, countries, cities }) => {
    const older = [...RENAMED].flatMap(([old, modern]) => (modern === name ? [old] : []))
    const others = LARGE_CITIES[name]?.flatMap((row) => row.split('|')) ?? []
    const zoneNames = [name, ...older].flatMap((each) => [each, each.split('/').at(-1) ?? each])
    return {
      zone: name,
      places: unique([...zoneNames, ...cities, ...others].map(plain)),
      countries: unique(countries.flatMap(countryNames).map(plain)),
    }
  })
  return names
}

function countryNames(country: string): readonly string[] {
  return LOCALES.flatMap((locale) =>
    countryFormats(locale).flatMap((format) => format.of(country) ?? []),
  )
}

const formats = new Map<Locale, readonly Intl.DisplayNames[]>()

/** Formats of full and of short names: *United Kingdom* and *UK*. */
function countryFormats(locale: Locale): readonly Intl.DisplayNames[] {
  const made =
    formats.get(locale) ??
    (['long', 'short'] as const).map(
      (style) => new Intl.DisplayNames(locale, { type: 'region', style, fallback: 'none' }),
    )
  formats.set(locale, made)
  return made
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].filter((text) => text !== '')
}

/**
 * Normalizes a name: removes case, accents, the nukta, Arabic vowel signs and forms of alef, spaces, signs
 * and the Chinese word for city at the end.
 */
function plain(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f\u064b-\u065f\u0670\u093c\u09bc\u0640]/g, '')
    .replaceAll('ß', 'ss')
    .replaceAll('ى', 'ي')
    .replaceAll('ة', 'ه')
    .replace(/[^\p{L}\p{M}\p{N}/+]+/gu, '')
    .replace(/市$/, '')
}
