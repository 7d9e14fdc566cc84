/**
 * Drawing of a provider's last rounds, in the reader's language. Pure. The letters are large enough for a
 * phone. Rendered as PNG it has the fonts of the service, on a page those of the browser.
 */
import { shortAddress } from '#src/i18n/format.ts'
import { isolate } from '#src/i18n/isolates.ts'
import { countCodePoints, cutText } from '#src/kernel/cut-text.ts'
import { directionOf, type Locale } from '#src/kernel/locale.ts'
import type { DutyResult } from '#src/watches/provider-rounds.ts'
import type { ProviderView } from '#src/watches/provider-view.ts'
import { brand } from './brand.ts'
import { type Colours, PALETTES, type Palette } from './colours.ts'
import {
  fitting,
  LETTER_SIZES,
  MARK_SIZE,
  markOf,
  PADDING,
  rightToLeft,
  rounded,
  type TextStyle,
  text,
  WIDTH,
  widthOf,
} from './drawing.ts'
import { TILE_HEIGHT, tiles } from './tiles.ts'
import { type PictureWords, pictureWords } from './words.ts'

/** Numbers of rounds: with marks, or as narrow bars. */
export const PICTURE_ROUNDS = [20, 100] as const
export type PictureRounds = (typeof PICTURE_ROUNDS)[number]

/** The duties of a round, as rows from the top, below the name of their protocol. */
const ROWS = [
  { label: 'commit', y: 272, of: ({ ftso }: Round) => ftso.commit },
  { label: 'reveal', y: 334, of: ({ ftso }: Round) => ftso.reveal },
  { label: 'sign', y: 396, of: ({ ftso }: Round) => ftso.signature },
  { label: 'bitvote', y: 528, of: ({ fdc }: Round) => fdc.bitvote },
  { label: 'sign', y: 590, of: ({ fdc }: Round) => fdc.signature },
] as const
/** Names of the protocols, which are the same in every language, with their first rows. */
const PROTOCOLS = [
  ['FTSO', ROWS[0]],
  ['FDC', ROWS[3]],
] as const
/** Baseline of a protocol's name above its first row. */
const PROTOCOL_ABOVE = 24
type Round = ProviderView['rounds'][number]

const TILES_Y = 678
const HEIGHT = TILES_Y + TILE_HEIGHT + PADDING
/** Minimum and maximum width of the names of the duties, and their distance to the cells. */
const LABELS = { min: 190, max: 330, gap: 20 } as const
/** Width of the names by the fonts of some browser, in units of the usual width. */
const WIDE_FONT = 1.1
/** Space between two cells with marks. */
const CELL_GAP = 4
/** Part of the drawing that a page shows: the grid with its ticks. */
const GRID_BOX = { top: 200, height: 456 } as const
/** Space above the drawing in the preview of a shared link, and height of the line with the service's name. */
const SHARED_MARGIN = 36
const BRAND_HEIGHT = 92
/** Width of the preview of a shared link, in heights. */
const SHARED_RATIO = 1200 / 630
const STALE_OPACITY = 0.6
/** Width of a tick label with three digits. */
const TICK_WIDTH = 82
const FONT = 'DejaVu Sans, sans-serif'
/** Maximum length of a name; longer names are cut. */
const NAME_MAX = 36
/** Characters that the font lacks. */
const UNDRAWABLE =
  /[^\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Arabic}\p{Nd}\p{P}\p{Zs}+<=>|~^$€£¥°·]/u

/** Options of a drawing. */
export interface PictureOptions {
  /** Number of columns; rounds without data are empty circles. */
  readonly rounds: PictureRounds
  readonly palette: Palette
  readonly locale: Locale
  /** Zone of the time at the top; absent in chats, where the message has the time in the zone of the chat. */
  readonly timezone?: string | undefined
  /** Name of the provider. If it is absent or cannot be drawn, the address is shown. */
  readonly name?: string | undefined
  /** Whether the share of good rounds over the last days comes first, as in previews of links. */
  readonly showsDays?: true
}

/** Draws a provider's rounds, the newest at the right, and its state. Deterministic. */
export function drawProvider(view: ProviderView, options: PictureOptions): string {
  const { palette, locale } = options
  const colours = PALETTES[palette]
  const words = pictureWords(view, options)
  const isPage = palette === 'page'
  const box = isPage
    ? `${PADDING} ${GRID_BOX.top} ${WIDTH - 2 * PADDING} ${GRID_BOX.height}`
    : `0 0 ${WIDTH} ${HEIGHT}`
  const look = { words, colours, byBrowser: isPage }
  const grid = columns(view, options.rounds, look)
  const parts = [
    ...(isPage ? [] : [card(colours), header(view, options, look)]),
    `<g${view.stale ? ` opacity="${STALE_OPACITY}"` : ''}>${grid}</g>`,
    ...(isPage ? [] : [tiles(view, words, { y: TILES_Y, colours })]),
  ]
  // On a page the table beside it has the same content as text.
  const about = isPage ? 'aria-hidden="true"' : `font-family="${FONT}"`
  const language = `lang="${locale}" ${about}`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box}" ${language}>${parts.join('')}</svg>`
}

/**
 * The drawing above the name of the service, in the middle of a wider drawing with the ratio of previews of shared
 * links: 1.91 to 1.
 *
 * @param options `host`: host of the service
 */
export function drawShared(
  view: ProviderView,
  options: PictureOptions & { readonly host: string },
): string {
  const height = SHARED_MARGIN + HEIGHT + BRAND_HEIGHT
  const width = Math.round(height * SHARED_RATIO)
  const colours = PALETTES[options.palette]
  const x = (width - WIDTH) / 2
  const inside = drawProvider(view, { ...options, showsDays: true }).replace(
    '<svg ',
    `<svg x="${x}" y="${SHARED_MARGIN}" width="${WIDTH}" height="${HEIGHT}" `,
  )
  const isRightToLeft = directionOf(options.locale) === 'rtl'
  const end = isRightToLeft ? x : x + WIDTH
  const name = brand(options.host, { x: end, y: height - 34, isRightToLeft }, colours)
  const back = `<rect width="${width}" height="${height}" fill="${colours.card}"/>`
  const open = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="${FONT}">`
  return `${open}${back}${inside}${name}</svg>`
}

function card({ card: fill, border }: Colours): string {
  const size = `width="${WIDTH - 2}" height="${HEIGHT - 2}"`
  return `<rect x="1" y="1" ${size} rx="24" fill="${fill}" stroke="${border}" stroke-width="2"/>`
}

/** What all parts of a drawing need. */
interface PictureLook {
  readonly words: PictureWords
  readonly colours: Colours
  readonly byBrowser: boolean
}

/** A text at the side where the reader begins. */
function atStart(look: PictureLook, y: number, content: string, style: TextStyle): string {
  const { words, byBrowser } = look
  if (!words.isRightToLeft) return text(PADDING, y, content, { ...style, byBrowser })
  return text(WIDTH - PADDING, y, rightToLeft(content), { ...style, anchor: 'end' })
}

function header(
  view: ProviderView,
  { name, showsDays }: PictureOptions,
  look: PictureLook,
): string {
  const { words, colours } = look
  const width = WIDTH - 2 * PADDING
  const heading = drawableName(name) ?? shortAddress(view.provider)
  // The line has room for two facts in letters that a phone can show.
  const facts =
    showsDays && words.days.length > 0 ? [...words.days, ...words.about.slice(-1)] : words.about
  const about = (words.isRightToLeft ? facts.map(isolate) : facts).join(' · ')
  return [
    atStart(look, 112, heading, {
      size: fitting(heading, LETTER_SIZES.name, { width, isBold: true }),
      fill: colours.text,
      isBold: true,
    }),
    atStart(look, 178, about, {
      size: fitting(about, LETTER_SIZES.small, { width }),
      fill: colours.muted,
    }),
  ].join('')
}

/** The name, without characters that the font lacks; undefined if the name cannot be drawn. */
export function drawableName(name = ''): string | undefined {
  const plain = name.replaceAll(/[\p{Cc}\p{Cf}]/gu, '').trim()
  if (plain === '' || UNDRAWABLE.test(plain)) return undefined
  return cutText(plain, NAME_MAX, countCodePoints)
}

/** Where the columns are, beside the names of the duties, which take the width that they need. */
interface Grid {
  readonly left: number
  readonly right: number
  readonly pitch: number
  /** Size of the names of the duties: the same for all. */
  readonly size: number
}

function gridOf({ duties, isRightToLeft }: PictureWords, count: PictureRounds): Grid {
  const longest = Math.max(...Object.values(duties).map((name) => widthOf(name))) * WIDE_FONT
  const size = Math.min(LETTER_SIZES.label, Math.floor(LABELS.max / longest))
  const labels = Math.max(LABELS.min, Math.ceil(longest * size)) + LABELS.gap
  const [left, right] = isRightToLeft
    ? [PADDING, WIDTH - PADDING - labels]
    : [PADDING + labels, WIDTH - PADDING]
  return { left, right, pitch: (right - left) / count, size }
}

function columns(view: ProviderView, count: PictureRounds, look: PictureLook): string {
  const { words, colours } = look
  const byId = new Map(view.rounds.map((round) => [round.id, round]))
  const last = view.rounds[0]?.id
  const ids = Array.from({ length: count }, (_, i) =>
    last === undefined ? -1 : last - count + 1 + i,
  )
  const isWide = count === PICTURE_ROUNDS[0]
  const grid = gridOf(words, count)
  const { left, pitch, size } = grid
  const labels = ROWS.map(({ label, y }) =>
    atStart(look, y + 38, words.duties[label], { size, fill: colours.text }),
  )
  const protocols = PROTOCOLS.map(([name, { y }]) =>
    atStart(look, y - PROTOCOL_ABOVE, name, { size: LETTER_SIZES.small, fill: colours.muted }),
  )
  const cells = ROWS.flatMap(({ y, of }) =>
    ids.map((id, index) => {
      const round = byId.get(id)
      const state = round === undefined ? 'unknown' : of(round)
      const cell = { x: rounded(left + index * pitch), y, width: rounded(pitch), state, colours }
      return isWide ? wideCell(cell) : narrowCell(cell)
    }),
  )
  return [ticks(ids, isWide ? 5 : 20, { grid, colours }), ...protocols, ...labels, ...cells].join(
    '',
  )
}

/** The last three digits of every fifth or twentieth round, above its column. */
function ticks(
  ids: readonly number[],
  every: number,
  { grid, colours }: { readonly grid: Grid; readonly colours: Colours },
): string {
  const style = { size: LETTER_SIZES.small, fill: colours.muted, anchor: 'middle' } as const
  const [first, last] = [grid.left + TICK_WIDTH / 2, grid.right - TICK_WIDTH / 2]
  return ids
    .map((id, index) => {
      if (id < 0 || id % every !== 0) return ''
      const label = `${id % 1000}`.padStart(3, '0')
      const middle = grid.left + (index + 0.5) * grid.pitch
      const x = rounded(Math.max(first, Math.min(middle, last)))
      return text(x, ROWS[0].y - PROTOCOL_ABOVE, label, style)
    })
    .join('')
}

interface Cell {
  readonly x: number
  readonly y: number
  /** Width of the column. */
  readonly width: number
  readonly state: DutyResult
  readonly colours: Colours
}

function wideCell({ x, y, width, state, colours }: Cell): string {
  const [fill, mark, edge] = colours.cells[state]
  const side = Math.min(MARK_SIZE, width - CELL_GAP)
  const border = edge === undefined ? '' : ` stroke="${edge}" stroke-width="2"`
  const rect = `<rect width="${MARK_SIZE}" height="${MARK_SIZE}" rx="8" fill="${fill}"${border}/>`
  const square = fill === 'none' ? '' : rect
  const place = `translate(${rounded(x + (width - side) / 2)} ${rounded(y + (MARK_SIZE - side) / 2)})`
  return `<g transform="${place} scale(${rounded(side / MARK_SIZE)})">${square}${markOf(state, mark)}</g>`
}

/** A bar without room for a mark; a dot below marks a problem, so that colour is not the only sign. */
function narrowCell({ x, y, width, state, colours }: Cell): string {
  const [fill, mark] = colours.cells[state]
  const middle = rounded(x + width / 2)
  if (state === 'unknown') {
    return `<circle cx="${middle}" cy="${y + MARK_SIZE / 2}" r="2" fill="${mark}"/>`
  }
  const bar = `<rect x="${x}" y="${y}" width="${width}" height="${MARK_SIZE}" fill="${fill}" shape-rendering="crispEdges"/>`
  if (state === 'ok') return bar
  return `${bar}<circle cx="${middle}" cy="${y + MARK_SIZE + 7}" r="3.5" fill="${colours.text}"/>`
}
