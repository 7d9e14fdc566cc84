/**
 * Makes `src/pictures/outlines.json`: the words of pictures in the languages whose letters the renderer
 * cannot join or whose font is too large to keep. Run by `npm run outlines` after such a word has changed; the
 * packages are read from a temporary folder and are no dependencies.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { LOCALES } from '#src/kernel/locale.ts'
import { OUTLINE_UNITS, outlineFontOf, outlinePiecesOf } from '#src/pictures/outlines.ts'
import { everyPictureText } from '../support/picture-texts.ts'

const SHAPER = 'harfbuzzjs@1.6.4'
const FONTS = {
  bengali: ['@expo-google-fonts/noto-sans-bengali@0.4.4', 'NotoSansBengali_400Regular.ttf'],
  devanagari: [
    '@expo-google-fonts/noto-sans-devanagari@0.4.1',
    'NotoSansDevanagari_400Regular.ttf',
  ],
  han: ['@expo-google-fonts/noto-sans-sc@0.4.3', 'NotoSansSC_400Regular.ttf'],
} as const
/** A text beside the words may have any of them. */
const DIGITS = '0123456789'
const TARGET = '../../src/pictures'

/** What is used of the shaper. */
interface Shaper {
  readonly Blob: new (data: ArrayBuffer) => object
  readonly Face: new (blob: object) => { readonly upem: number }
  readonly Font: new (face: object) => { glyphToPath(glyph: number): string }
  readonly Buffer: new () => {
    addText(text: string): void
    guessSegmentProperties(): void
    getGlyphInfos(): readonly { readonly codepoint: number }[]
    getGlyphPositions(): readonly Readonly<
      Record<'xAdvance' | 'yAdvance' | 'xOffset' | 'yOffset', number>
    >[]
  }
  shape(font: object, buffer: object): void
}

const folder = mkdtempSync(join(tmpdir(), 'picture-outlines-'))
const shaper: Shaper = await import(pathToFileURL(join(unpack(SHAPER), 'dist/index.mjs')).href)
const texts = everyPictureText(...LOCALES)
const licences: string[] = []
const fonts = Object.entries(FONTS).map(([name, [source, file]]) => {
  const root = unpack(source)
  licences.push(`${file}\n\n${readFileSync(join(root, 'LICENSE_FONT'), 'utf8')}`)
  const bytes = readFileSync(join(root, '400Regular', file))
  const draw = drawerOf(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
  const own = texts.filter((text) => outlineFontOf(text) === name)
  const pieces = [...new Set([...own.flatMap(outlinePiecesOf), ...DIGITS])].toSorted()
  return [name, Object.fromEntries(pieces.map((piece) => [piece, draw(piece)]))]
})
const source = `${Object.values(FONTS)
  .map(([name]) => name)
  .join(', ')}, by npm run outlines`
write('outlines.json', `${JSON.stringify({ source, fonts: Object.fromEntries(fonts) }, null, 1)}\n`)
write('outlines.LICENSE', licences.join('\n\n'))

/** Draws a piece of text: its width and the path of its shape, with the baseline at 0. */
function drawerOf(data: ArrayBuffer) {
  const face = new shaper.Face(new shaper.Blob(data))
  const font = new shaper.Font(face)
  const scale = OUTLINE_UNITS / face.upem
  return (text: string): readonly [number, string] => {
    const buffer = new shaper.Buffer()
    buffer.addText(text)
    buffer.guessSegmentProperties()
    shaper.shape(font, buffer)
    const positions = buffer.getGlyphPositions()
    let x = 0
    const shapes = buffer.getGlyphInfos().map(({ codepoint: glyph }, index) => {
      if (glyph === 0) throw new Error(`the font lacks a letter of ${text}`)
      const { xAdvance = 0, xOffset = 0, yOffset = 0 } = positions[index] ?? {}
      const shape = moved(font.glyphToPath(glyph), { x: x + xOffset, y: yOffset, scale })
      x += xAdvance
      return shape
    })
    return [Math.round(x * scale), shapes.join('')]
  }
}

/** A path with absolute coordinates, moved, scaled and turned upside down, because fonts count upwards. */
function moved(
  path: string,
  { x, y, scale }: { readonly x: number; readonly y: number; readonly scale: number },
): string {
  return path.replaceAll(
    /(-?[\d.]+)[ ,](-?[\d.]+)/g,
    (_, left, up) =>
      `${Math.round((Number(left) + x) * scale)} ${Math.round(-(Number(up) + y) * scale)}`,
  )
}

function unpack(name: string): string {
  const [file = ''] = execFileSync('npm', ['pack', '--silent', name], {
    cwd: folder,
    encoding: 'utf8',
  }).split('\n')
  const to = mkdtempSync(join(folder, 'package-'))
  execFileSync('tar', ['xzf', file, '-C', to, '--strip-components', '1'], { cwd: folder })
  return to
}

function write(name: string, content: string): void {
  writeFileSync(new URL(`${TARGET}/${name}`, import.meta.url), content)
}
