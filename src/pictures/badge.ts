/** Badge about a provider's last rounds, for READMEs and sites. Pure. */
import { formatPercent, shortAddress } from '#src/i18n/format.ts'
import { escapeHtml } from '#src/i18n/translate.ts'
import {
  countRounds,
  hasEnoughRounds,
  roundsWithin,
  toneOfDays,
} from '#src/watches/provider-rounds.ts'
import type { ProviderView } from '#src/watches/provider-view.ts'
import { drawableName } from './provider-picture.ts'

const ROUNDS = 20
const HEIGHT = 20
const PADDING = 8
/** Average width of a letter at a size of 11. */
const LETTER = 6.6
/** Share of rounds with problems up to which the badge is amber. */
const FEW_SHARE_MAX = 0.1
const NAME_BACK = '#2B3440'
/** Background colours; white letters on them have a contrast of at least 4.5 to 1. */
const COLOURS = {
  fine: '#1B7F4F',
  fewBad: '#8A4B00',
  manyBad: '#B3261E',
  unknown: '#566070',
} as const

/**
 * Draws the name, and which share of the rounds of the last 30 days had no problem; before the first
 * count, how many of the last twenty. Apart from the name it contains no words,
 * so that one badge serves every language.
 */
export function drawBadge(view: ProviderView, name: string | undefined): string {
  const { known, bad } = countRounds(roundsWithin(view.rounds, ROUNDS))
  const left = drawableName(name) ?? shortAddress(view.provider)
  const { last30Days: days } = view
  const right =
    days !== null ? formatPercent(days.rate, 'en') : known === 0 ? '–' : `${known - bad}/${known}`
  // The badge is grey until a day of rounds is known; before the first count, without a problem, until twenty are.
  const colour =
    days !== null && !hasEnoughRounds(days)
      ? 'unknown'
      : days !== null
        ? ({ fine: 'fine', '': 'fewBad', critical: 'manyBad' } as const)[toneOfDays(days)]
        : bad === 0
          ? known === ROUNDS
            ? 'fine'
            : 'unknown'
          : bad / known <= FEW_SHARE_MAX
            ? 'fewBad'
            : 'manyBad'
  const label = escapeHtml(`${left}: ${right}`)
  const [leftWidth, rightWidth] = [boxWidth(left), boxWidth(right)]
  const width = leftWidth + rightWidth
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" role="img" aria-label="${label}">`,
    `<title>${label}</title>`,
    `<clipPath id="r"><rect width="${width}" height="${HEIGHT}" rx="4"/></clipPath>`,
    `<g clip-path="url(#r)"><rect width="${leftWidth}" height="${HEIGHT}" fill="${NAME_BACK}"/>`,
    `<rect x="${leftWidth}" width="${rightWidth}" height="${HEIGHT}" fill="${COLOURS[colour]}"/></g>`,
    '<g fill="#FFFFFF" font-family="Verdana, DejaVu Sans, sans-serif" font-size="11" text-anchor="middle">',
    letters(left, leftWidth / 2, leftWidth),
    letters(right, leftWidth + rightWidth / 2, rightWidth),
    '</g></svg>',
  ].join('')
}

function boxWidth(content: string): number {
  return Math.ceil([...content].length * LETTER) + 2 * PADDING
}

/** Text stretched to a given width, so that the badge looks alike with any font. */
function letters(content: string, middle: number, width: number): string {
  const place = `x="${middle}" y="14" textLength="${width - 2 * PADDING}" lengthAdjust="spacingAndGlyphs"`
  return `<text ${place}>${escapeHtml(content)}</text>`
}
