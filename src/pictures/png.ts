/** Rasterizing of drawings. The fonts are part of the service: the same bytes on every machine. */
import { fileURLToPath } from 'node:url'
import { renderAsync } from '@resvg/resvg-js'

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
