/** The tiles below the rounds of a picture: fast updates, weight, the next reward epoch. Pure. */
import type { DutyResult } from '#src/watches/provider-rounds.ts'
import { isSilentByFastUpdates, type ProviderView } from '#src/watches/provider-view.ts'
import type { Colours } from './colours.ts'
import {
  fitting,
  fittingValue,
  LETTER_SIZES,
  MARK_SIZE,
  markOf,
  PADDING,
  rightToLeft,
  text,
  value,
} from './drawing.ts'
import type { PictureWords } from './words.ts'

const TILE_WIDTH = 384
const TILE_GAP = 24
const TILE_PADDING = 24
export const TILE_HEIGHT = 156
/** Space between a mark and its value. */
const MARK_GAP = 8
/** Enlargement of a mark beside a value. */
const MARK_SCALE = 1.25
const MARK_WIDTH = MARK_SIZE * MARK_SCALE + MARK_GAP

/** Draws the tiles from the top `y` on, in the order of the reader's direction. */
export function tiles(
  view: ProviderView,
  words: PictureWords,
  { y, colours }: { readonly y: number; readonly colours: Colours },
): string {
  const { fastUpdates, registeredNext, rewardEpoch } = view
  const isSilent = fastUpdates !== null && isSilentByFastUpdates(fastUpdates)
  const heard = fastUpdates === null ? undefined : isSilent ? 'missing' : 'ok'
  const next = registeredNext === null ? 'unknown' : registeredNext ? 'ok' : 'missing'
  const all: readonly Tile[] = [
    { ...words.fastUpdates, mark: heard },
    { ...words.weight, mark: view.inPolicy ? 'ok' : 'unknown' },
    { ...words.next, mark: rewardEpoch === null ? undefined : next },
  ]
  const { isRightToLeft } = words
  const ordered = isRightToLeft ? all.toReversed() : all
  return ordered
    .map((tile, index) => {
      const x = PADDING + index * (TILE_WIDTH + TILE_GAP)
      return drawTile(tile, { x, y, width: TILE_WIDTH, colours, isRightToLeft })
    })
    .join('')
}

interface Tile {
  readonly label: string
  readonly value: string
  readonly mark: DutyResult | undefined
}

interface Place {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly colours: Colours
  readonly isRightToLeft: boolean
}

/** Draws a frame with a label and a value. */
export function drawTile({ label, value: content, mark }: Tile, place: Place): string {
  const { x, y, width: wide, colours, isRightToLeft } = place
  const width = wide - 2 * TILE_PADDING
  const markWidth = mark === undefined ? 0 : MARK_WIDTH
  const start = isRightToLeft ? x + wide - TILE_PADDING : x + TILE_PADDING
  const valueStart = isRightToLeft ? start - markWidth : start + markWidth
  const anchor = isRightToLeft ? ({ anchor: 'end' } as const) : {}
  const size = fittingValue(content, LETTER_SIZES.value, width - markWidth)
  const markX = isRightToLeft ? start - MARK_SIZE * MARK_SCALE + 8 : start - 8
  const frame = `x="${x}" y="${y}" width="${wide}" height="${TILE_HEIGHT}" rx="12"`
  return [
    `<rect ${frame} fill="none" stroke="${colours.border}" stroke-width="2"/>`,
    text(start, y + 54, label, {
      size: fitting(label, LETTER_SIZES.small, { width }),
      fill: colours.muted,
      ...anchor,
    }),
    mark === undefined
      ? ''
      : `<g transform="translate(${markX} ${y + 76}) scale(${MARK_SCALE})">${markOf(mark, colours.text)}</g>`,
    value(valueStart, y + 126, isRightToLeft ? rightToLeft(content) : content, {
      size,
      fill: colours.text,
      ...anchor,
    }),
  ].join('')
}
