/** The card of a week: the last seven days of a provider or of a wallet, in one picture that is made to be passed on. Pure. */
import { z } from 'zod'
import {
  formatAmount,
  formatNumber,
  formatPercent,
  formatSpan,
  formatWeekday,
  shortAddress,
} from '#src/i18n/format.ts'
import { translator } from '#src/i18n/translate.ts'
import { directionOf, LOCALES } from '#src/kernel/locale.ts'
import { Address } from '#src/kernel/units.ts'
import { brand } from './brand.ts'
import { type Colours, PALETTES } from './colours.ts'
import { fitting, LETTER_SIZES, MARK_SIZE, markOf, rightToLeft, rounded, text } from './drawing.ts'
import { OUTLINE_UNITS, outlineOf } from './outlines.ts'
import { drawableName } from './provider-picture.ts'
import { drawTile } from './tiles.ts'

const DAYS = 7
const Count = z.int().min(0)
const Counted = z.object({ known: Count, bad: Count })

/** What a card shows. It is the content of the signed link of its picture, so that nothing is stored. */
export const WeeklyCard = z.object({
  locale: z.enum(LOCALES),
  name: z.string(),
  /** Of the provider's identity, or of the wallet. */
  address: Address,
  /** Monday of the week. */
  firstDay: z.iso.date(),
  incidents: Count,
  provider: z
    .object({ days: z.array(Counted).length(DAYS), rounds: Counted, duties: Counted })
    .exactOptional(),
  balance: z
    .object({
      units: z.string().regex(/^\d{1,78}$/),
      decimals: z.int().min(0).max(77),
      symbol: z.string(),
    })
    .exactOptional(),
})
export type WeeklyCard = z.output<typeof WeeklyCard>

const CARD_WIDTH = 1280
const HEIGHT = 672
const MARGIN = 48
const DAYS_Y = 244
const DAY_HEIGHT = 96
const DAY_GAP = 12
const TILES_Y = 388
const BRAND_Y = 632
/** Share of bad rounds from which on a day counts as bad rather than blemished. */
const BAD_SHARE = 0.01

/** The words of a card: for the picture, and for the message above it. */
export function cardWords(card: WeeklyCard) {
  const { locale, firstDay, provider, balance, incidents } = card
  const t = translator(locale)
  const [from, to] = spanOf(firstDay)
  const share = (counted: z.output<typeof Counted>) =>
    t('units:share', {
      part: formatNumber(counted.known - counted.bad, locale),
      total: formatNumber(counted.known, locale),
    })
  const lines = [
    ...(provider === undefined
      ? []
      : [
          { label: t('messages:picture.rounds'), value: share(provider.rounds) },
          { label: t('messages:picture.duties'), value: share(provider.duties) },
        ]),
    ...(balance === undefined
      ? []
      : [
          {
            label: t('messages:picture.balance'),
            value: formatAmount({ ...balance, units: BigInt(balance.units) }, locale),
          },
        ]),
    { label: t('messages:picture.incidents'), value: formatNumber(incidents, locale) },
  ]
  return {
    week: formatSpan(from, to, locale, 'UTC'),
    lines,
    headline:
      provider === undefined || provider.rounds.known === 0
        ? undefined
        : formatPercent(1 - provider.rounds.bad / provider.rounds.known, locale),
  }
}

/** First and last day of a week, as instants of UTC. */
function spanOf(firstDay: string): readonly [Date, Date] {
  const from = new Date(`${firstDay}T00:00:00.000Z`)
  const to = new Date(from)
  to.setUTCDate(to.getUTCDate() + DAYS - 1)
  return [from, to]
}

/** Draws a card. Deterministic. */
export function drawWeeklyCard(card: WeeklyCard, host: string): string {
  const colours = PALETTES.dark
  const isRightToLeft = directionOf(card.locale) === 'rtl'
  const parts = [
    `<rect width="${CARD_WIDTH}" height="${HEIGHT}" fill="${colours.card}"/>`,
    header(card, colours, isRightToLeft),
    card.provider === undefined ? '' : days(card, colours),
    figures(card, colours, isRightToLeft),
    brand(
      host,
      { x: isRightToLeft ? MARGIN : CARD_WIDTH - MARGIN, y: BRAND_Y, isRightToLeft },
      colours,
    ),
  ]
  const font = 'font-family="DejaVu Sans, sans-serif"'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${CARD_WIDTH} ${HEIGHT}" lang="${card.locale}" ${font}>${parts.join('')}</svg>`
}

function header(card: WeeklyCard, colours: Colours, isRightToLeft: boolean): string {
  const name = drawableName(card.name) ?? shortAddress(card.address)
  const { week, headline } = cardWords(card)
  const [start, end] = isRightToLeft
    ? ([CARD_WIDTH - MARGIN, MARGIN] as const)
    : ([MARGIN, CARD_WIDTH - MARGIN] as const)
  const atStart = isRightToLeft ? ({ anchor: 'end' } as const) : {}
  const atEnd = isRightToLeft ? {} : ({ anchor: 'end' } as const)
  const wrapped = (content: string) => (isRightToLeft ? rightToLeft(content) : content)
  const width = headline === undefined ? CARD_WIDTH - 2 * MARGIN : 700
  return [
    text(start, 112, wrapped(name), {
      size: fitting(name, LETTER_SIZES.name, { width, isBold: true }),
      fill: colours.text,
      isBold: true,
      ...atStart,
    }),
    text(start, 176, wrapped(week), {
      size: fitting(week, LETTER_SIZES.small, { width }),
      fill: colours.muted,
      ...atStart,
    }),
    headline === undefined
      ? ''
      : text(end, 144, headline, { size: 96, fill: colours.text, isBold: true, ...atEnd }),
  ].join('')
}

/** The days, from left to right in every language, as time runs in all pictures. */
function days({ locale, firstDay, provider }: WeeklyCard, colours: Colours): string {
  const [monday] = spanOf(firstDay)
  const width = (CARD_WIDTH - 2 * MARGIN - (DAYS - 1) * DAY_GAP) / DAYS
  return (provider?.days ?? [])
    .map(({ known, bad }, index) => {
      const x = rounded(MARGIN + index * (width + DAY_GAP))
      const middle = rounded(x + width / 2)
      const state =
        known === 0 ? 'unknown' : bad === 0 ? 'ok' : bad / known < BAD_SHARE ? 'late' : 'missing'
      const [fill, mark] = colours.cells[state]
      const at = new Date(monday.getTime() + index * 86_400_000)
      const border = fill === 'none' ? ` stroke="${colours.border}" stroke-width="2"` : ''
      const frame = `x="${x}" y="${DAYS_Y}" width="${rounded(width)}" height="${DAY_HEIGHT}" rx="12"`
      const sign =
        bad === 0
          ? `<g transform="translate(${rounded(middle - MARK_SIZE / 2)} ${DAYS_Y + 12})">${markOf(state, mark)}</g>`
          : text(middle, DAYS_Y + 50, formatNumber(bad, locale), {
              size: LETTER_SIZES.small,
              fill: mark,
              anchor: 'middle',
              isBold: true,
            })
      const label = formatWeekday(at, locale, 'UTC')
      const style = { size: 30, fill: fill === 'none' ? colours.muted : mark }
      return `<rect ${frame} fill="${fill}"${border}/>${sign}${centred(middle, DAYS_Y + 84, label, style)}`
    })
    .join('')
}

/** Outlines have no anchor, so that their middle is computed. */
function centred(
  x: number,
  y: number,
  content: string,
  style: { readonly size: number; readonly fill: string },
): string {
  const outline = outlineOf(content)
  if (outline === undefined) return text(x, y, content, { ...style, anchor: 'middle' })
  const width = (outline.width / OUTLINE_UNITS) * style.size
  return text(rounded(x - width / 2), y, content, style)
}

function figures(card: WeeklyCard, colours: Colours, isRightToLeft: boolean): string {
  const { lines } = cardWords(card)
  const gap = 24
  const width = rounded((CARD_WIDTH - 2 * MARGIN - (lines.length - 1) * gap) / lines.length)
  const ordered = isRightToLeft ? lines.toReversed() : lines
  const y = card.provider === undefined ? TILES_Y - 140 : TILES_Y
  return ordered
    .map(({ label, value }, index) =>
      drawTile(
        { label, value, mark: undefined },
        { x: rounded(MARGIN + index * (width + gap)), y, width, colours, isRightToLeft },
      ),
    )
    .join('')
}
