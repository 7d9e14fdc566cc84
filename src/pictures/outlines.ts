/** Letters of the languages whose letters the renderer cannot join, as outlines. Pure. */
import outlines from './outlines.json' with { type: 'json' }

/** Units of an outline for each size of letters. */
export const OUTLINE_UNITS = 1000

/** A text as outlines, from its left end on its baseline. */
export interface Outline {
  readonly width: number
  /** Markup. */
  readonly shape: string
}

/** Width and path of each piece of text, by font. */
type Pieces = Readonly<Record<string, readonly (number | string)[]>>
const FONTS: Readonly<Record<string, Pieces>> = outlines.fonts

/** The scripts by the fonts that have their letters. */
const SCRIPTS = [
  ['bengali', /\p{Script=Bengali}/u],
  ['devanagari', /\p{Script=Devanagari}/u],
  ['han', /\p{Script=Han}/u],
] as const
type OutlineFont = (typeof SCRIPTS)[number][0]

/** Pieces that are shaped as a whole: the letters of a word, or else one sign. */
const PIECES = /[\p{Script=Bengali}\p{Script=Devanagari}\u200c\u200d]+|./gu

/** The font whose outlines a text needs; undefined for a text that the usual fonts can draw. */
export function outlineFontOf(content: string): OutlineFont | undefined {
  return SCRIPTS.find(([, letters]) => letters.test(content))?.[0]
}

/** The pieces of a text that have an outline each. */
export function outlinePiecesOf(content: string): readonly string[] {
  return content.match(PIECES) ?? []
}

/** A text as outlines; undefined if the usual fonts draw it, or if a piece has no outline. */
export function outlineOf(content: string): Outline | undefined {
  const font = outlineFontOf(content)
  if (font === undefined) return undefined
  let width = 0
  const shapes: string[] = []
  for (const piece of outlinePiecesOf(content)) {
    const known = FONTS[font]?.[piece]
    if (known === undefined) return undefined
    const [advance, shape] = known
    if (shape !== '') shapes.push(`<path transform="translate(${width})" d="${shape}"/>`)
    width += Number(advance)
  }
  return { width, shape: shapes.join('') }
}
