/**
 * Drawing of a provider's last rounds. Pure. Apart from the provider's name, a file contains only protocol
 * names, digits and marks, so that one drawing serves every language. On a page the duties have names in
 * the reader's language, in the fonts of the browser. The letters are large enough for a phone.
 */
import { shortAddress } from '#src/i18n/format.ts'
import { escapeHtml } from '#src/i18n/translate.ts'
import { HOUR_SECONDS } from '#src/kernel/durations.ts'
import type { ProviderView, RoundCell } from '#src/watches/provider-view.ts'
import { type Colours, PALETTES, type Palette } from './colours.ts'

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
/** Baseline of a protocol's name above its first row. */
const PROTOCOL_ABOVE = 24
type Round = ProviderView['rounds'][number]

const WIDTH = 1280
const HEIGHT = 922
const PADDING = 40
const CELL = 44
const GRID_X = 250
/** Width of the names of the duties. */
const LABEL_WIDTH = GRID_X - PADDING
const GRID_WIDTH = WIDTH - PADDING - GRID_X
/** Part of the drawing that a page shows: the grid with its ticks. */
const GRID_BOX = { top: 200, height: 456 } as const
/** Width of the preview of a shared link, in heights. */
const SHARED_RATIO = 1200 / 630
const STALE_OPACITY = 0.6
/** Sizes of letters. The smallest is about 11 pixels high in a chat on a phone. */
const SIZES = { name: 80, value: 64, label: 46, small: 42 } as const
/** Width of a tick label with three digits. */
const TICK_WIDTH = 82
const FONT = 'DejaVu Sans, sans-serif'
/** Width of a bold letter in units of its size, a little more than the average. */
const LETTER_WIDTH = 0.75
/** Maximum length of a name; longer names are cut. */
const NAME_MAX = 36
/** Characters that the font lacks. */
const UNDRAWABLE =
  /[^\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Arabic}\p{Nd}\p{P}\p{Zs}+<=>|~^$€£¥°·]/u

/** Marks in a square of 44, drawn with a stroke of 5 unless they are filled. */
const MARKS: Readonly<Record<RoundCell, string>> = {
  ok: '<path d="M11 23 19 31 33 14"/>',
  late: '<path class="f" d="M15 11 33 22 15 33Z"/>',
  early: '<path class="f" d="M29 11 11 22 29 33Z"/>',
  missing: '<path d="M13 13 31 31M31 13 13 31"/>',
  mismatch: '<path d="M11 17H33M11 27H33M28 9 16 35"/>',
  offence: '<path d="M22 9V25M22 33V34"/>',
  unknown: '<circle cx="22" cy="22" r="11"/>',
}

/** Options of a drawing. */
export interface PictureOptions {
  /** Number of columns; rounds without data are empty circles. */
  readonly rounds: PictureRounds
  readonly palette: Palette
  /** Name of the provider. If it is absent or cannot be drawn, the address is shown. */
  readonly name?: string | undefined
  /** Names of the duties; those of the protocol by default. */
  readonly labels?: Readonly<Record<(typeof ROWS)[number]['label'], string>>
}

/** Draws a provider's rounds, the newest at the right, and its state. Deterministic. */
export function drawProvider(view: ProviderView, options: PictureOptions): string {
  const { palette } = options
  const colours = PALETTES[palette]
  const isPage = palette === 'page'
  const box = isPage
    ? `${PADDING} ${GRID_BOX.top} ${WIDTH - 2 * PADDING} ${GRID_BOX.height}`
    : `0 0 ${WIDTH} ${HEIGHT}`
  const parts = [
    ...(isPage ? [] : [card(colours), header(view, options, colours)]),
    `<g${view.stale ? ` opacity="${STALE_OPACITY}"` : ''}>${columns(view, options, colours)}</g>`,
    ...(isPage ? [] : [tiles(view, colours)]),
  ]
  // On a page the table beside it has the same content as text.
  const about = isPage ? 'aria-hidden="true"' : `font-family="${FONT}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box}" ${about}>${parts.join('')}</svg>`
}

/** The drawing in the middle of a wider drawing, with the ratio of previews of shared links: 1.91 to 1. */
export function drawShared(view: ProviderView, options: PictureOptions): string {
  const width = Math.round(HEIGHT * SHARED_RATIO)
  const { card: fill } = PALETTES[options.palette]
  const x = (width - WIDTH) / 2
  const inside = drawProvider(view, options).replace(
    '<svg ',
    `<svg x="${x}" width="${WIDTH}" height="${HEIGHT}" `,
  )
  const back = `<rect width="${width}" height="${HEIGHT}" fill="${fill}"/>`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${HEIGHT}">${back}${inside}</svg>`
}

function card({ card: fill, border }: Colours): string {
  const size = `width="${WIDTH - 2}" height="${HEIGHT - 2}"`
  return `<rect x="1" y="1" ${size} rx="24" fill="${fill}" stroke="${border}" stroke-width="2"/>`
}

interface TextStyle {
  readonly size: number
  readonly fill: string
  readonly anchor?: 'middle' | 'end'
  readonly isBold?: boolean
}

function text(x: number, y: number, content: string, style: TextStyle): string {
  const { size, fill, anchor, isBold } = style
  const more = [
    ...(anchor === undefined ? [] : [`text-anchor="${anchor}"`]),
    ...(isBold ? ['font-weight="bold"'] : []),
  ]
  const attributes = [`x="${x}" y="${y}" font-size="${size}" fill="${fill}"`, ...more].join(' ')
  return `<text ${attributes}>${content}</text>`
}

function header(
  view: ProviderView,
  { name }: PictureOptions,
  { text: strong, muted }: Colours,
): string {
  const { provider, rewardEpoch, currentRound, rounds, asOf } = view
  const round = currentRound ?? rounds[0]?.id
  const about = [
    rewardEpoch === null ? undefined : `Reward epoch ${rewardEpoch}`,
    round === undefined ? undefined : `Round ${round}`,
    asOf === null ? undefined : `${asOf.toISOString().slice(11, 16)} UTC`,
  ].filter((part) => part !== undefined)
  const heading = drawableName(name) ?? shortAddress(provider)
  const size = fitting(heading, SIZES.name, WIDTH - 2 * PADDING)
  return [
    text(PADDING, 112, escapeHtml(heading), { size, fill: strong, isBold: true }),
    text(PADDING, 178, about.join(' · '), { size: SIZES.small, fill: muted }),
  ].join('')
}

/** The name, without characters that the font lacks; undefined if the name cannot be drawn. */
export function drawableName(name = ''): string | undefined {
  const plain = name.replaceAll(/[\p{Cc}\p{Cf}]/gu, '').trim()
  if (plain === '' || UNDRAWABLE.test(plain)) return undefined
  const letters = [...plain]
  return letters.length <= NAME_MAX ? plain : `${letters.slice(0, NAME_MAX - 1).join('')}…`
}

/** Size of bold letters, smaller for a text that would be too wide. */
function fitting(content: string, size: number, width: number): number {
  return Math.min(size, Math.floor(width / (LETTER_WIDTH * [...content].length)))
}

function columns(
  view: ProviderView,
  { rounds: count, labels: names }: PictureOptions,
  colours: Colours,
): string {
  const byId = new Map(view.rounds.map((round) => [round.id, round]))
  const last = view.rounds[0]?.id
  const pitch = GRID_WIDTH / count
  const ids = Array.from({ length: count }, (_, i) =>
    last === undefined ? -1 : last - count + 1 + i,
  )
  const isWide = count === PICTURE_ROUNDS[0]
  const every = isWide ? 5 : 20
  const ticks = ids.flatMap((id, index) => {
    if (id < 0 || id % every !== 0) return []
    const label = `${id % 1000}`.padStart(3, '0')
    const middle = GRID_X + (index + 0.5) * pitch
    const x = rounded(Math.min(middle, WIDTH - PADDING - TICK_WIDTH / 2))
    return [
      text(x, ROWS[0].y - PROTOCOL_ABOVE, label, {
        size: SIZES.small,
        fill: colours.muted,
        anchor: 'middle',
      }),
    ]
  })
  const size = labelSize(Object.values(names ?? {}))
  const labels = ROWS.map(({ label, y }) =>
    text(PADDING, y + 38, escapeHtml(names?.[label] ?? label), { size, fill: colours.text }),
  )
  const protocols = (
    [
      ['FTSO', ROWS[0]],
      ['FDC', ROWS[3]],
    ] as const
  ).map(([name, { y }]) =>
    text(PADDING, y - PROTOCOL_ABOVE, name, { size: SIZES.small, fill: colours.muted }),
  )
  const cells = ROWS.flatMap(({ y, of }) =>
    ids.map((id, index) => {
      const round = byId.get(id)
      const state = round === undefined ? 'unknown' : of(round)
      const x = rounded(GRID_X + index * pitch)
      return isWide
        ? wideCell(rounded(x + (pitch - CELL) / 2), y, state, colours)
        : narrowCell(x, y, { width: rounded(pitch), state, colours })
    }),
  )
  return [...ticks, ...protocols, ...labels, ...cells].join('')
}

/** Size of the names of the duties: the same for all, so that the longest name fits. */
function labelSize(names: readonly string[]): number {
  const widths = names.map((name) =>
    [...name.replaceAll(/[\p{M}\p{Cf}]/gu, '')].reduce((sum, letter) => sum + widthOf(letter), 0),
  )
  return Math.min(SIZES.label, Math.floor(LABEL_WIDTH / Math.max(1, ...widths)))
}

/** Width of a regular letter in units of its size. */
function widthOf(letter: string): number {
  if (/\p{Script=Arabic}/u.test(letter)) return 0.42
  return /\p{Script=Han}/u.test(letter) ? 1 : 0.55
}

function wideCell(x: number, y: number, state: RoundCell, { cells }: Colours): string {
  const [fill, mark, edge] = cells[state]
  const border = edge === undefined ? '' : ` stroke="${edge}" stroke-width="2"`
  const rect = `<rect width="${CELL}" height="${CELL}" rx="8" fill="${fill}"${border}/>`
  const square = fill === 'none' ? '' : rect
  return `<g transform="translate(${x} ${y})">${square}${markOf(state, mark)}</g>`
}

/** A mark in its colour, filled or stroked. */
function markOf(state: RoundCell, colour: string): string {
  const isFilled = MARKS[state].includes('class="f"')
  const drawn = MARKS[state].replace(' class="f"', '')
  const line = `fill="none" stroke="${colour}" stroke-width="5" stroke-linecap="round"`
  const paint = isFilled ? `fill="${colour}"` : `${line} stroke-linejoin="round"`
  return drawn.replace('/>', ` ${paint}/>`)
}

/** A bar without room for a mark; a dot below marks a problem, so that colour is not the only sign. */
function narrowCell(
  x: number,
  y: number,
  {
    width,
    state,
    colours,
  }: { readonly width: number; readonly state: RoundCell; readonly colours: Colours },
): string {
  const [fill, mark] = colours.cells[state]
  const middle = rounded(x + width / 2)
  if (state === 'unknown')
    return `<circle cx="${middle}" cy="${y + CELL / 2}" r="2" fill="${mark}"/>`
  const bar = `<rect x="${x}" y="${y}" width="${width}" height="${CELL}" fill="${fill}" shape-rendering="crispEdges"/>`
  if (state === 'ok') return bar
  return `${bar}<circle cx="${middle}" cy="${y + CELL + 7}" r="3.5" fill="${colours.text}"/>`
}

const TILE_WIDTH = 384
const TILE_HEIGHT = 204
const TILE_Y = HEIGHT - PADDING - TILE_HEIGHT
const TILE_GAP = 24
const TILE_PADDING = 24

function tiles(view: ProviderView, colours: Colours): string {
  const { fastUpdates, weight, inPolicy, rewardEpoch, registered, registeredNext } = view
  const policy = inPolicy ? 'ok' : 'unknown'
  const isClosed = registeredNext === null && !registered
  const next = registeredNext === null ? 'unknown' : registeredNext ? 'ok' : 'missing'
  const hours = isClosed ? undefined : hoursToRegistration(view)
  return [
    tile(0, colours, {
      label: 'Fast updates',
      value: fastUpdates === null ? '–' : `${fastUpdates.blocksSinceUpdate} blk`,
      below: fastUpdates === null ? '' : `P ${chance(fastUpdates.probabilityOfSilence)}`,
    }),
    tile(1, colours, {
      label: 'Weight',
      value: weight === null ? '–' : `${(weight * 100).toFixed(2)}%`,
      below: 'policy',
      belowMark: policy,
    }),
    tile(2, colours, {
      label: 'Next epoch',
      value: rewardEpoch === null ? '' : `${rewardEpoch + 1}`,
      valueMark: next,
      below: hours === undefined || registeredNext !== null ? '' : `${hours} h`,
    }),
  ].join('')
}

interface Tile {
  readonly label: string
  readonly value: string
  readonly valueMark?: RoundCell
  readonly below: string
  readonly belowMark?: RoundCell
}

/** Width that a mark takes before its text. */
const MARK_WIDTH = 50

function tile(index: number, { border, text: strong, muted }: Colours, content: Tile): string {
  const x = PADDING + index * (TILE_WIDTH + TILE_GAP)
  const inside = x + TILE_PADDING
  const { label, value, valueMark, below, belowMark } = content
  const frame = `<rect x="${x}" y="${TILE_Y}" width="${TILE_WIDTH}" height="${TILE_HEIGHT}" rx="12" fill="none" stroke="${border}" stroke-width="2"/>`
  const mark = (state: RoundCell, y: number) =>
    `<g transform="translate(${inside - 6} ${y})">${markOf(state, strong)}</g>`
  const after = (state: RoundCell | undefined) => inside + (state === undefined ? 0 : MARK_WIDTH)
  const valueX = after(valueMark)
  const size = fitting(value, SIZES.value, TILE_WIDTH - TILE_PADDING - (valueX - x))
  return [
    frame,
    text(inside, TILE_Y + 54, label, { size: SIZES.small, fill: muted }),
    valueMark === undefined ? '' : mark(valueMark, TILE_Y + 79),
    text(valueX, TILE_Y + 124, value, { size, fill: strong, isBold: true }),
    belowMark === undefined ? '' : mark(belowMark, TILE_Y + 146),
    text(after(belowMark), TILE_Y + 182, below, { size: SIZES.small, fill: muted }),
  ].join('')
}

/** A probability such as `0.31` or `3.1e-9`. */
function chance(probability: number): string {
  return probability >= 0.01 ? probability.toFixed(2) : probability.toExponential(1)
}

/** Full hours until registration for the next reward epoch opens; undefined when unknown. */
export function hoursToRegistration({
  registrationOpensAt,
  asOf,
}: ProviderView): number | undefined {
  if (registrationOpensAt === null || asOf === null) return undefined
  const seconds = (registrationOpensAt.getTime() - asOf.getTime()) / 1000
  return seconds <= 0 ? undefined : Math.ceil(seconds / HOUR_SECONDS)
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}
