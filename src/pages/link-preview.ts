/** Previews of links to public pages: a description in the reader's language, and a picture without words of any. */
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { escapeHtml, type Translate } from '#src/i18n/translate.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { createSharedCache } from '#src/kernel/shared-cache.ts'
import type { App } from '#src/operations/define.ts'
import { drawPng } from '#src/pictures/png.ts'
import { ASSETS_FOLDER, type LinkPreview } from './layout.ts'

const PICTURE_PATH = '/assets/preview.png'
const SIZE = { width: 1280, height: 672 }
/** Font size of the host in pixels, for a short one and in all. */
const HOST = { size: 40, width: 1100 }

/** The preview of a page that has no picture of its own. */
export function linkPreview(
  { publicUrl }: App,
  t: Translate,
  { path, description }: { readonly path: string; readonly description: string },
): LinkPreview {
  return {
    description,
    url: `${publicUrl}${path}${t.locale === 'en' ? '' : `?lang=${t.locale}`}`,
    image: publicUrl + PICTURE_PATH,
    ...SIZE,
    alt: 'Watchdog',
  }
}

/**
 * The picture of these previews: mark, name and host. It is drawn once, when it is first asked for, and again after an
 * attempt that failed.
 */
export function previewPicture(
  server: FastifyInstance,
  { publicUrl, clock }: Pick<App, 'publicUrl' | 'clock'>,
  draw = drawPng,
): void {
  const drawn = createSharedCache<'only', Buffer>(clock, {
    max: 1,
    freshMs: () => Number.POSITIVE_INFINITY,
  })
  server.get(PICTURE_PATH, async (_request, reply) => {
    const png = await drawn.get('only', () => draw(picture(new URL(publicUrl).host)))
    return reply
      .header('cache-control', `public, max-age=${HOUR_MS / 1000}`)
      .header('cross-origin-resource-policy', 'cross-origin')
      .type('image/png')
      .send(png)
  })
}

function picture(host: string): string {
  const mark = readFileSync(`${ASSETS_FOLDER}/mark.svg`, 'utf8')
  const size = Math.min(HOST.size, (HOST.width / host.length) * 1.6)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${SIZE.width}" height="${SIZE.height}">
<rect width="100%" height="100%" fill="#11151b"/>
${mark.replace('<svg ', '<svg x="540" y="110" width="200" height="200" ')}
<g font-family="DejaVu Sans, sans-serif" text-anchor="middle">
<text x="640" y="440" font-size="96" font-weight="bold" fill="#ffffff">Watchdog</text>
<text x="640" y="530" font-size="${size}" fill="#a8b3c2">${escapeHtml(host)}</text>
</g>
</svg>`
}
