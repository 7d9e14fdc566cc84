/** Choice of a time zone: by region and city, or by typing a place. Pure. */

import { packed } from '#src/actions/codec.ts'
import { formatTime } from '#src/i18n/format.ts'
import { checkedKey, type Translate } from '#src/i18n/translate.ts'
import { cityOf, findZones, modernZone, ZONE_NAMES } from '#src/i18n/zones.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { Button, Rows } from '#src/telegram/buttons.ts'
import { act, back, inRows, pageRow, type Reader, screen, type View } from './view.ts'

/** Regions by short name, with the prefixes of their zones. */
const REGIONS = {
  eu: ['Europe/', 'Arctic/', 'Atlantic/'],
  as: ['Asia/', 'Indian/'],
  af: ['Africa/'],
  am: ['America/'],
  pa: ['Pacific/', 'Australia/', 'Antarctica/'],
} as const satisfies Readonly<Record<string, readonly string[]>>
type Region = keyof typeof REGIONS

/** Most common zone of a language; missing for a language that is spoken in many zones. */
const GUESSES: Readonly<Partial<Record<Locale, string>>> = {
  de: 'Europe/Berlin',
  fr: 'Europe/Paris',
  bn: 'Asia/Dhaka',
  zh: 'Asia/Shanghai',
  hi: 'Asia/Kolkata',
  ar: 'Africa/Cairo',
}

/** Suggested zones: the zone of the language, and UTC, without the current zone. */
export function suggestedZones(locale: Locale, current: string): readonly string[] {
  return [GUESSES[locale], 'UTC'].filter(
    (zone): zone is string => zone !== undefined && zone !== modernZone(current),
  )
}

/** Maximum number of zones that are offered for typed text. */
const MATCHES_MAX = 6

/** Zones that match a typed text, best match first; empty if none matches. */
export function zonesFor(text: string): readonly string[] {
  return findZones(text).slice(0, MATCHES_MAX)
}

/** Maximum length of a city's name on a button that shares its row. */
const CITY_MAX = 10

/** A button that sets a zone, with its city and the time there. */
export function zoneButton({ t }: Reader, zone: string, now: Date, data: string): Button {
  return act(
    `${cutText(cityOf(zone, t.locale), CITY_MAX)} ${formatTime(now, t.locale, zone)}`,
    data,
  )
}

/** Buttons of the regions. */
export function regionRows(t: Translate): Rows {
  const names = Object.keys(REGIONS)
  const buttons = names.map((region) =>
    act(t(checkedKey(`bot:region.${region}`)), packed('settings.zone', { region, page: 1 })),
  )
  return inRows(buttons, 3)
}

const PAGE_SIZE = 12

/** The cities of a region, twelve per page; undefined for an unknown region. */
export function cityList(
  reader: Reader,
  region: string,
  options: { readonly page: number; readonly now: Date },
): View | undefined {
  const { t } = reader
  if (!isRegion(region)) return undefined
  const zones = ZONE_NAMES.filter((zone) => REGIONS[region].some((start) => zone.startsWith(start)))
  const inOrder = zones.toSorted((a, b) =>
    cityOf(a, t.locale).localeCompare(cityOf(b, t.locale), t.locale),
  )
  const pages = Math.ceil(inOrder.length / PAGE_SIZE)
  const page = Math.min(Math.max(options.page, 1), pages)
  const shown = inOrder.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)
  return screen(
    [t.html('bot:zone.cities', { region: t(checkedKey(`bot:region.${region}`)) })],
    [
      ...inRows(
        shown.map((zone) =>
          zoneButton(reader, zone, options.now, packed('settings.zoneSet', { zone })),
        ),
        2,
      ),
      pageRow(page, pages, (to) => packed('settings.zone', { region, page: to })),
      [back(t('bot:button.zone'), packed('settings.zone', { region: 'all', page: 1 }))],
    ],
  )
}

function isRegion(name: string): name is Region {
  return Object.hasOwn(REGIONS, name)
}
