/** Rasterizing of drawings. The fonts are part of the service: the same bytes on every machine. */
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const requirePackage = createRequire(import.meta.url)

const WIDTH = 1280
const FAMILY = 'DejaVu Sans'

const fontFiles = [
  import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'),
  import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf'),
].map((url) => fileURLToPath(url))

/**
 * Renders a drawing as PNG, 1280 pixels wide, outside of the event loop.
 *
 * @param svg a drawing whose text is in DejaVu Sans only; other letters are outlines
 * @throws Error when the drawing cannot be rendered
 */
export async function drawPng(svg: string): Promise<Buffer> {
  // Loaded by the first picture: a process that draws none works where the package has no build.
  const { renderAsync }: typeof import('@resvg/resvg-js') = requirePackage('@resvg/resvg-js')
  const image = await renderAsync(svg, {
    font: {
      loadSystemFonts: false,
      fontFiles,
      defaultFontFamily: FAMILY,
      sansSerifFamily: FAMILY,
    },
    fitTo: { mode: 'width', value: WIDTH },
  })
  return image.asPng()
}
