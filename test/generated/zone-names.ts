/**
 * Makes `src/i18n/zone-names.json` from the Unicode CLDR: the city of each time zone in every locale, and its
 * countries. Run by `npm run zones`; the package is read from a temporary folder and is no dependency.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'

const DATES = 'cldr-dates-full@48.2.0'
const IDENTIFIERS = 'cldr-bcp47@48.2.0'

/** Zones by the parts of their names: a place with its city, or more parts. */
interface ZoneTree {
  readonly exemplarCity?: string
  readonly [part: string]: ZoneTree | string | undefined
}

interface Identifier {
  readonly _alias?: string
  readonly _iana?: string
}

const folder = mkdtempSync(join(tmpdir(), 'zone-names-'))
const dates = unpack(DATES)
const identifiers: { keyword: { u: { tz: Readonly<Record<string, Identifier | string>> } } } =
  readJson(unpack(IDENTIFIERS), 'bcp47/timezone.json')

/** The modern name of each zone that the runtime lists by an older one. */
const modern = new Map<string, string>()
for (const identifier of Object.values(identifiers.keyword.u.tz)) {
  if (typeof identifier === 'string') continue
  const aliases = identifier._alias?.split(' ') ?? []
  const name = identifier._iana ?? aliases[0] ?? ''
  for (const alias of aliases) modern.set(alias, name)
}

const trees = Object.fromEntries(LOCALES.map((locale) => [locale, treeOf(locale)]))
const regions = regionsByZone()
const listed = Intl.supportedValuesOf('timeZone').filter((zone) => zone.includes('/'))

write('zone-names.json', {
  source: `Unicode CLDR, ${DATES} and ${IDENTIFIERS}, by npm run zones`,
  columns: `countries|${LOCALES.join('|')}`,
  renamed: Object.fromEntries(
    listed.flatMap((zone) => (modern.get(zone) === zone ? [] : [[zone, modern.get(zone)]])),
  ),
  zones: Object.fromEntries(
    listed
      .map((zone): readonly [string, string] => {
        const names = LOCALES.map((locale) => cityOf(locale, zone))
        const countries = regions.get(zone) ?? []
        return [modern.get(zone) ?? zone, [countries.join(' '), ...names].join('|')]
      })
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  ),
})
writeFileSync(
  new URL('../../src/i18n/zone-names.LICENSE', import.meta.url),
  readFileSync(join(dates, 'LICENSE')),
)

function treeOf(locale: Locale): ZoneTree {
  const file: {
    main: Record<string, { dates: { timeZoneNames: { zone: ZoneTree } } }>
  } = readJson(dates, `main/${locale}/timeZoneNames.json`)
  return file.main[locale]?.dates.timeZoneNames.zone ?? {}
}

/** What CLDR calls the city of a zone; where it says nothing, the end of the zone's own name. */
function cityOf(locale: Locale, zone: string): string {
  let place: ZoneTree | string | undefined = trees[locale]
  for (const part of zone.split('/')) place = typeof place === 'object' ? place[part] : undefined
  const name = typeof place === 'object' ? place.exemplarCity : undefined
  const own = (modern.get(zone) ?? zone).split('/').at(-1) ?? zone
  return (name ?? own.replaceAll('_', ' ')).normalize('NFC')
}

function regionsByZone(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  for (const region of letters.flatMap((first) => letters.map((second) => first + second))) {
    if (new Intl.DisplayNames('en', { type: 'region', fallback: 'none' }).of(region)) {
      const zones = new Intl.Locale(`und-${region}`).getTimeZones() ?? []
      for (const zone of zones) found.set(zone, [...(found.get(zone) ?? []), region])
    }
  }
  return found
}

function unpack(name: string): string {
  const [file = ''] = execFileSync('npm', ['pack', '--silent', name], {
    cwd: folder,
    encoding: 'utf8',
  }).split('\n')
  const to = mkdtempSync(join(folder, 'package-'))
  execFileSync('tar', ['xzf', file, '-C', to, '--strip-components', '1'], { cwd: folder })
  return to
}

function readJson<Content>(root: string, path: string): Content {
  return JSON.parse(readFileSync(join(root, path), 'utf8'))
}

function write(name: string, content: unknown): void {
  const path = new URL(`../../src/i18n/${name}`, import.meta.url)
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`)
}
