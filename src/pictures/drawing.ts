/** Size, letters and marks that all parts of a picture share. */
import { escapeHtml } from '#src/i18n/translate.ts'
import type { DutyResult } from '#src/watches/provider-rounds.ts'
import { OUTLINE_UNITS, type Outline, outlineFontOf, outlineOf } from './outlines.ts'

export const WIDTH = 1280
export const PADDING = 40
/** Sizes of letters. The smallest is about 11 pixels high in a chat on a phone. */
export const LETTER_SIZES = { name: 80, value: 64, label: 46, small: 42 } as const
/** Side of the square of a mark. */
export const MARK_SIZE = 44

/** Marks in their square, drawn with a stroke of 5 unless they are filled. */
const MARKS: Readonly<Record<DutyResult, string>> = {
  ok: '<path d="M11 23 19 31 33 14"/>',
  late: '<path class="f" d="M15 11 33 22 15 33Z"/>',
  early: '<path class="f" d="M29 11 11 22 29 33Z"/>',
  missing: '<path d="M13 13 31 31M31 13 13 31"/>',
  mismatch: '<path d="M11 17H33M11 27H33M28 9 16 35"/>',
  offence: '<path d="M22 9V25M22 33V34"/>',
  unknown: '<circle cx="22" cy="22" r="11"/>',
}

/** A mark in its colour, filled or stroked. */
export function markOf(state: DutyResult, colour: string): string {
  const isFilled = MARKS[state].includes('class="f"')
  const drawn = MARKS[state].replace(' class="f"', '')
  const line = `fill="none" stroke="${colour}" stroke-width="5" stroke-linecap="round"`
  const paint = isFilled ? `fill="${colour}"` : `${line} stroke-linejoin="round"`
  return drawn.replace('/>', ` ${paint}/>`)
}

export interface TextStyle {
  readonly size: number
  readonly fill: string
  readonly anchor?: 'middle' | 'end'
  readonly isBold?: boolean
  /** Whether a browser draws the letters, which has fonts of every language. */
  readonly byBrowser?: boolean
}

/** A line of text; `x` is its left end, its middle or its right end, as the anchor says. */
export function text(x: number, y: number, content: string, style: TextStyle): string {
  const outline = style.byBrowser ? undefined : outlineOf(content)
  if (outline !== undefined) return placed(x, y, outline, style)
  return element(x, y, escapeHtml(content), style)
}

/** A value whose words are smaller and lighter than its number. */
export function value(x: number, y: number, content: string, style: TextStyle): string {
  const { size, fill } = style
  const words = { size: rounded(size * UNIT_SIZE), fill }
  if (outlineFontOf(content) === undefined) {
    const unit = `<tspan font-size="${words.size}" font-weight="normal">$&</tspan>`
    return element(x, y, escapeHtml(content).replace(WORDS, unit), { ...style, isBold: true })
  }
  const drawn: string[] = []
  let place = x
  for (const part of content.match(PARTS) ?? []) {
    const isWord = /^\p{L}/u.test(part)
    drawn.push(
      isWord
        ? text(place, y, part, words)
        : element(place, y, escapeHtml(part), { ...style, isBold: true }),
    )
    place = rounded(place + (isWord ? widthOf(part) * words.size : widthOf(part, true) * size))
  }
  return drawn.join('')
}

/** The words of a value, with the signs between them. */
const WORDS = /\p{L}[^\p{Nd}\u2066-\u2069]*/gu
/** Words and numbers of a value, in their order: a duration has two of each. */
const PARTS = /\p{L}[^\p{Nd}\u2066-\u2069]*|[^\p{L}]+/gu
/** Size of the words of a value in sizes of its number. */
const UNIT_SIZE = 0.62

function element(x: number, y: number, markup: string, style: TextStyle): string {
  const { size, fill, anchor, isBold } = style
  const more = [
    ...(anchor === undefined ? [] : [`text-anchor="${anchor}"`]),
    ...(isBold ? ['font-weight="bold"'] : []),
  ]
  const attributes = [`x="${x}" y="${y}" font-size="${size}" fill="${fill}"`, ...more].join(' ')
  return `<text ${attributes}>${markup}</text>`
}

function placed(x: number, y: number, { shape }: Outline, { size, fill }: TextStyle): string {
  const scale = rounded(size) / OUTLINE_UNITS
  return `<g transform="translate(${x} ${y}) scale(${scale})" fill="${fill}">${shape}</g>`
}

/** Largest size at which a text fits into a width, at most `size`. */
export function fitting(
  content: string,
  size: number,
  { width, isBold }: { readonly width: number; readonly isBold?: boolean },
): number {
  return Math.min(size, Math.floor(width / Math.max(1, widthOf(content, isBold))))
}

/** Largest size at which a value fits into a width, at most `size`. */
export function fittingValue(content: string, size: number, width: number): number {
  const words = widthOf((content.match(WORDS) ?? []).join('')) * UNIT_SIZE
  const wide = words + widthOf(content.replace(WORDS, ''), true)
  return Math.min(size, Math.floor(width / Math.max(1, wide)))
}

/** Width of a text in units of its size, a little more than the average of the usual fonts. */
export function widthOf(content: string, isBold = false): number {
  const outline = outlineOf(content)
  if (outline !== undefined) return outline.width / OUTLINE_UNITS
  const letters = [...content.replaceAll(/[\p{M}\p{Cf}]/gu, '')]
  return letters.reduce((sum, letter) => sum + (isBold ? boldWidth(letter) : REGULAR), 0)
}

/** Width of a regular letter. */
const REGULAR = 0.6

/** Width of a bold letter. Those of digits and the signs between them are exact. */
function boldWidth(letter: string): number {
  if (/\d/.test(letter)) return 0.696
  return /[.,\s]/.test(letter) ? 0.38 : 0.75
}

/** A text whose parts follow each other from right to left, whatever their letters are. */
export function rightToLeft(content: string): string {
  return `\u2067${content}\u2069`
}

export function rounded(value: number): number {
  return Math.round(value * 100) / 100
}
