import { formatWeekday } from '#src/i18n/format.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { cardWords } from '#src/pictures/weekly-card.ts'
import { type PictureWords, pictureWords } from '#src/pictures/words.ts'
import type { ProviderView } from '#src/watches/provider-view.ts'

const AS_OF = new Date('2026-11-20T14:05:12.000Z')
/** Numbers of blocks with every plural form; their durations use every unit of time. */
const BLOCKS = [0, 1, 2, 3, 12, 100, 1_234_567]
const HOURS = [0.5, 2, 5, 30, 84]

/** Every text that a picture can show, apart from names of providers, in all plural forms. */
export function everyPictureText(...locales: readonly Locale[]): readonly string[] {
  const views = [
    ...BLOCKS.map((blocks) => viewOf(blocks, HOURS[0])),
    ...HOURS.map((hours) => viewOf(null, hours)),
    viewOf(null, undefined),
  ]
  const words = locales.flatMap((locale) =>
    views.map((view) => pictureWords(view, { locale, timezone: 'UTC' })),
  )
  return [...new Set([...words.flatMap(textsOf), ...locales.flatMap(cardTexts)])]
}

/** Texts of weekly cards: every month and day of the week, and the labels of all figures. */
function cardTexts(locale: Locale): readonly string[] {
  const counted = { known: 12_345, bad: 6789 }
  const weeks = Array.from({ length: 12 }, (_, month) =>
    cardWords({
      locale,
      name: 'Alpha',
      address: '0x12ab4F1111111111111111111111111111cd3412',
      firstDay: `2026-${String(month + 1).padStart(2, '0')}-10`,
      incidents: 3,
      provider: { days: [], rounds: counted, duties: counted },
      balance: { units: '1', decimals: 0, symbol: 'FLR' },
    }),
  )
  const days = Array.from({ length: 7 }, (_, day) =>
    formatWeekday(new Date(AS_OF.getTime() + day * 24 * HOUR_MS), locale, 'UTC'),
  )
  return [
    ...weeks.flatMap(({ week, lines }) => [
      week,
      ...lines.flatMap(({ label, value }) => [label, value]),
    ]),
    ...days,
  ]
}

/** The texts of one picture. */
function textsOf({ duties, about, fastUpdates, weight, next }: PictureWords): readonly string[] {
  const tiles = [fastUpdates, weight, next].flatMap(({ label, value }) => [label, value])
  return [...Object.values(duties), about.join(' · '), ...tiles]
}

function viewOf(blocks: number | null, hours: number | undefined): ProviderView {
  return {
    provider: '0x12ab4F1111111111111111111111111111cd3412',
    addresses: null,
    rewardEpoch: 452,
    registered: true,
    registeredNext: hours === undefined ? true : null,
    registrationOpensAt: new Date(AS_OF.getTime() + (hours ?? 0) * HOUR_MS),
    inPolicy: true,
    weight: 0.0231,
    currentRound: 1_519_402,
    rounds: [],
    others: hours === undefined ? null : { total: 97, failed: blocks === null ? 40 : 1 },
    fastUpdates:
      blocks === null
        ? null
        : { lastUpdateBlock: 1, blocksSinceUpdate: blocks, probabilityOfSilence: 0.3 },
    last30Days: null,
    minimalConditions: { anchor: null, fdc: null, uptime: null, fastUpdates: null },
    validators: null,
    balances: [],
    asOf: AS_OF,
    stale: false,
  }
}
