/**
 * Drawing of a provider's last rounds. Pure. It contains only protocol names, digits and marks, so that one
 * drawing serves every language.
 */
import { HOUR_SECONDS } from '#src/kernel/durations.ts'
import type { ProviderView, RoundCell } from '#src/watches/provider-view.ts'

/** Numbers of rounds: with marks, or as narrow bars. */
export const PICTURE_ROUNDS = [20, 100] as const
export type PictureRounds = (typeof PICTURE_ROUNDS)[number]

/** dark, light: opaque, in those colours. page: transparent, in the CSS variables `--picture-…`. */
export type Palette = 'dark' | 'light' | 'page'

interface Colours {
  readonly card: string
  readonly border: string
  readonly text: string
  readonly muted: string
  /** Colours of a cell and its mark. */
  readonly cells: Readonly<Record<RoundCell, readonly [cell: string, mark: string, edge?: string]>>
}

const DARK: Colours = {
  card: '#17212B',
  border: '#6B7A8A',
  text: '#F2F5F8',
  muted: '#A9B4C0',
  cells: {
    ok: ['#24875A', '#FFFFFF'],
    late: ['#E0A126', '#17212B'],
    early: ['#E0A126', '#17212B'],
    missing: ['#D0392F', '#FFFFFF'],
    mismatch: ['#C63A87', '#FFFFFF'],
    offence: ['#FFFFFF', '#B3261E'],
    unknown: ['none', '#8B98A5'],
  },
}

const LIGHT: Colours = {
  card: '#FFFFFF',
  border: '#7C8797',
  text: '#151A21',
  muted: '#566070',
  cells: {
    ok: ['#1B7F4F', '#FFFFFF'],
    late: ['#F2B53C', '#151A21', '#8A4B00'],
    early: ['#F2B53C', '#151A21', '#8A4B00'],
    missing: ['#C5352C', '#FFFFFF'],
    mismatch: ['#A61E6E', '#FFFFFF'],
    offence: ['#151A21', '#FFB4AB'],
    unknown: ['none', '#6B7686'],
  },
}

/** Colours as CSS variables, because pages follow the reader's theme. */
const PAGE: Colours = {
  card: 'none',
  border: 'none',
  text: 'var(--picture-text)',
  muted: 'var(--picture-muted)',
  cells: {
    ok: named('ok'),
    late: named('late'),
    early: named('late'),
    missing: named('missing'),
    mismatch: named('mismatch'),
    offence: named('offence'),
    unknown: ['none', 'var(--picture-unknown)'],
  },
}

function named(state: string): readonly [string, string, string] {
  const name = `--picture-${state}`
  return [`var(${name})`, `var(${name}-mark)`, `var(${name}-edge)`]
}

const PALETTES: Readonly<Record<Palette, Colours>> = { dark: DARK, light: LIGHT, page: PAGE }

/** The duties of a round, as rows from the top, the FDC's a little apart. */
const ROWS = [
  { label: 'commit', y: 168, of: ({ ftso }: Round) => ftso.commit },
  { label: 'reveal', y: 232, of: ({ ftso }: Round) => ftso.reveal },
  { label: 'sign', y: 296, of: ({ ftso }: Round) => ftso.signature },
  { label: 'bitvote', y: 384, of: ({ fdc }: Round) => fdc.bitvote },
  { label: 'sign', y: 448, of: ({ fdc }: Round) => fdc.signature },
] as const
type Round = ProviderView['rounds'][number]

const WIDTH = 1280
const HEIGHT = 760
const PADDING = 40
const CELL = 44
const GRID_X = 260
const GRID_WIDTH = WIDTH - PADDING - GRID_X
const STALE_OPACITY = 0.6
/** Width of a tick label with three digits. */
const TICK_WIDTH = 54
const FONT = 'DejaVu Sans, sans-serif'

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

/**
 * Draws a provider's rounds, the newest at the right, and its state. Deterministic.
 *
 * @param rounds number of columns; rounds without data are empty circles
 */
export function drawProvider(
  view: ProviderView,
  { rounds, palette }: { readonly rounds: PictureRounds; readonly palette: Palette },
): string {
  const colours = PALETTES[palette]
  const grid = palette === 'page' ? { height: ROWS[4].y + CELL + 24 - 104, top: 104 } : undefined
  const box =
    grid === undefined ? `0 0 ${WIDTH} ${HEIGHT}` : `0 ${grid.top} ${WIDTH} ${grid.height}`
  const parts = [
    ...(grid === undefined ? [card(colours), header(view, colours)] : []),
    `<g${view.stale ? ` opacity="${STALE_OPACITY}"` : ''}>${columns(view, rounds, colours)}</g>`,
    ...(grid === undefined ? [tiles(view, colours)] : []),
  ]
  // On a page the table beside it has the same content as text.
  const about = grid === undefined ? `font-family="${FONT}"` : 'aria-hidden="true"'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box}" ${about}>${parts.join('')}</svg>`
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

function header(view: ProviderView, { text: strong, muted }: Colours): string {
  const { provider, rewardEpoch, currentRound, rounds, asOf } = view
  const round = currentRound ?? rounds[0]?.id
  const right = [
    rewardEpoch === null ? undefined : `RE ${rewardEpoch}`,
    round === undefined ? undefined : `R ${round}`,
    asOf === null ? undefined : `${asOf.toISOString().slice(11, 16)} UTC`,
  ].filter((part) => part !== undefined)
  const short = `${provider.slice(0, 6)}…${provider.slice(-4)}`
  return [
    text(PADDING, 88, short, { size: 44, fill: strong, isBold: true }),
    text(WIDTH - PADDING, 86, right.join(' · '), { size: 30, fill: muted, anchor: 'end' }),
  ].join('')
}

function columns(view: ProviderView, count: PictureRounds, colours: Colours): string {
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
    return [text(x, 148, label, { size: 28, fill: colours.muted, anchor: 'middle' })]
  })
  const labels = ROWS.map(({ label, y }) =>
    text(GRID_X - 16, y + 33, label, { size: 32, fill: colours.text, anchor: 'end' }),
  )
  const protocols = [
    text(PADDING, ROWS[0].y + 31, 'FTSO', { size: 24, fill: colours.muted }),
    text(PADDING, ROWS[3].y + 31, 'FDC', { size: 24, fill: colours.muted }),
  ]
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
const TILE_HEIGHT = 152
const TILE_Y = HEIGHT - PADDING - TILE_HEIGHT
const TILE_GAP = 24

function tiles(view: ProviderView, colours: Colours): string {
  const { fastUpdates, weight, inPolicy, rewardEpoch, registered, registeredNext } = view
  const policy = inPolicy ? 'ok' : 'unknown'
  const isClosed = registeredNext === null && !registered
  const next = registeredNext === null ? 'unknown' : registeredNext ? 'ok' : 'missing'
  const hours = isClosed ? undefined : hoursToRegistration(view)
  return [
    tile(0, colours, {
      label: 'FAST UPDATES',
      value: fastUpdates === null ? '–' : `${fastUpdates.blocksSinceUpdate} blk`,
      below: fastUpdates === null ? '' : `P ${chance(fastUpdates.probabilityOfSilence)}`,
    }),
    tile(1, colours, {
      label: 'WEIGHT',
      value: weight === null ? '–' : `${(weight * 100).toFixed(2)}%`,
      below: 'policy',
      belowMark: policy,
    }),
    tile(2, colours, {
      label: rewardEpoch === null ? 'NEXT' : `NEXT ${rewardEpoch + 1}`,
      valueMark: next,
      below: hours === undefined || registeredNext !== null ? '' : `${hours} h`,
    }),
  ].join('')
}

interface Tile {
  readonly label: string
  readonly value?: string
  readonly valueMark?: RoundCell
  readonly below: string
  readonly belowMark?: RoundCell
}

function tile(index: number, { border, text: strong, muted }: Colours, content: Tile): string {
  const x = PADDING + index * (TILE_WIDTH + TILE_GAP)
  const inside = x + 24
  const { label, value, valueMark, below, belowMark } = content
  const size = `width="${TILE_WIDTH}" height="${TILE_HEIGHT}" rx="12"`
  const frame = `<rect x="${x}" y="${TILE_Y}" ${size} fill="none" stroke="${border}" stroke-width="2"/>`
  const mark = (state: RoundCell, y: number) =>
    `<g transform="translate(${inside - 6} ${y})">${markOf(state, strong)}</g>`
  return [
    frame,
    text(inside, TILE_Y + 38, label, { size: 24, fill: muted }),
    value === undefined
      ? ''
      : text(inside, TILE_Y + 91, value, { size: 44, fill: strong, isBold: true }),
    valueMark === undefined ? '' : mark(valueMark, TILE_Y + 52),
    belowMark === undefined ? '' : mark(belowMark, TILE_Y + 99),
    text(belowMark === undefined ? inside : inside + 44, TILE_Y + 132, below, {
      size: 30,
      fill: muted,
    }),
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
