/** The service's mark, name and host, by which a picture that is passed on leads back to the service. */
import { readFileSync } from 'node:fs'
import type { Colours } from './colours.ts'
import { rounded, text, widthOf } from './drawing.ts'

const MARK = readFileSync(new URL('../pages/assets/mark.svg', import.meta.url), 'utf8')
const NAME = 'Watchdog'
const SIZE = 38
const MARK_SIDE = 52
const GAP = 16
const HOST_WIDTH_MAX = 700

/**
 * Draws the brand in a line.
 *
 * @param x the end of the line at its right; with `isRightToLeft` its left end @param y baseline
 */
export function brand(
  host: string,
  {
    x,
    y,
    isRightToLeft,
  }: { readonly x: number; readonly y: number; readonly isRightToLeft: boolean },
  { text: fill, muted }: Pick<Colours, 'text' | 'muted'>,
): string {
  const hostSize = Math.min(SIZE, HOST_WIDTH_MAX / Math.max(1, widthOf(host)))
  const nameWidth = widthOf(NAME, true) * SIZE
  const width = MARK_SIDE + GAP + nameWidth + GAP + widthOf(host) * hostSize
  const left = rounded(isRightToLeft ? x : x - width)
  const mark = MARK.replace(
    '<svg ',
    `<svg x="${left}" y="${rounded(y - MARK_SIDE * 0.76)}" width="${MARK_SIDE}" height="${MARK_SIDE}" `,
  )
  const nameX = rounded(left + MARK_SIDE + GAP)
  const hostX = rounded(nameX + nameWidth + GAP)
  return [
    mark.trim(),
    text(nameX, y, NAME, { size: SIZE, fill, isBold: true }),
    text(hostX, y, host, { size: rounded(hostSize), fill: muted }),
  ].join('')
}
