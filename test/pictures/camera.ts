import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser, CDPSession, Locator, Page } from 'playwright-core'

/** The visible part of a page. */
export interface Shot {
  readonly url: string
  /** Width of the window. */
  readonly width: number
  /** Selectors of the elements in the picture: of each the last match. Their siblings are hidden. */
  readonly parts: readonly string[]
  /** Space around them. */
  readonly margin: number
  /** Pixels for each pixel of the page, for sharp screens. */
  readonly scale: number
  /** Further styles. */
  readonly css?: string
}

const QUALITY = 50
const HEIGHT = 1400

/** Fonts of the project, because machines have different ones. */
const FAMILY = 'Picture Sans'
const FACES = [
  ['DejaVuSansCondensed.ttf', 400],
  ['DejaVuSansCondensed-Bold.ttf', 700],
] as const

/** Parts of the chat page that Telegram lacks. */
const SANDBOX_ONLY = '.more, [aria-label="silent"]'

/** Colours of circle emoji, which are drawn because the fonts have no coloured ones. */
const CIRCLES: Readonly<Record<string, string>> = {
  '🔴': '#dd2e44',
  '🟠': '#f4900c',
  '🟢': '#4b9e5f',
  '🔵': '#3b82d6',
  '⚪': '#c9d1d9',
}

/**
 * Takes a picture as WebP, with a fixed clock, fonts and emoji, so that it is equal on every
 * machine.
 *
 * @throws Error for an emoji without a drawing here, or letters that the fonts lack
 */
export async function takePicture(browser: Browser, shot: Shot, now: Date): Promise<Buffer> {
  const context = await browser.newContext({
    viewport: { width: shot.width, height: HEIGHT },
    locale: 'en',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
    bypassCSP: true,
  })
  try {
    const page = await context.newPage()
    // Timers stop as well, so that the page does not change.
    await page.clock.install({ time: new Date(now.getTime() - 60_000) })
    await page.clock.pauseAt(now)
    await page.goto(shot.url)
    await page.addStyleTag({ content: `${styleSheet()}${shot.css ?? ''}` })
    await page
      .locator(shot.parts[0] ?? 'body')
      .first()
      .waitFor()
    await settle(page)
    await page.locator(SANDBOX_ONLY).evaluateAll((all) => {
      for (const element of all) element.remove()
    })
    const parts = shot.parts.map((part) => page.locator(part).last())
    const unknown = await Promise.all(parts.map((part) => part.evaluate(drawEmoji, CIRCLES)))
    if (unknown.flat().length > 0) throw new Error(`no drawing for ${unknown.flat().join(' ')}`)
    for (const part of parts)
      await part.evaluate((element) => element.setAttribute('data-seen', ''))
    for (const part of parts) await part.evaluate(hideNeighbours)
    const session = await context.newCDPSession(page)
    const foreign = await foreignFonts(session)
    if (foreign.length > 0) throw new Error(`the picture has letters in ${foreign.join(', ')}`)
    return await capture(session, await boxOf(parts, shot.margin), shot.scale)
  } finally {
    await context.close()
  }
}

function styleSheet(): string {
  const faces = FACES.map(([file, weight]) => {
    const path = fileURLToPath(import.meta.resolve(`dejavu-fonts-ttf/ttf/${file}`))
    const data = readFileSync(path).toString('base64')
    return `@font-face{font-family:'${FAMILY}';font-weight:${weight};src:url(data:font/ttf;base64,${data})}`
  })
  const still = 'animation:none!important;transition:none!important;caret-color:transparent'
  return `${faces.join('')}*,*::before,*::after{font-family:'${FAMILY}'!important;${still}}`
}

/** Waits for fonts and images. */
async function settle(page: Page): Promise<void> {
  await page.evaluate(async (family) => {
    await Promise.all([400, 700].map((weight) => document.fonts.load(`${weight} 16px '${family}'`)))
    await Promise.all([...document.images].map((image) => image.decode()))
  }, FAMILY)
}

/**
 * Replaces emoji by drawings. Runs in the page.
 * @returns emoji without a drawing
 */
function drawEmoji(part: Element, circles: Readonly<Record<string, string>>): readonly string[] {
  const unknown: string[] = []
  const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT)
  const texts: Text[] = []
  while (walker.nextNode()) texts.push(walker.currentNode as Text)
  for (const node of texts) {
    const parts = node.data.split(/(\p{Emoji_Presentation}\ufe0f?)/u)
    if (parts.length === 1) continue
    const drawn = parts.map((part, index) => {
      if (index % 2 === 0) return document.createTextNode(part)
      const colour = circles[part]
      if (colour === undefined) unknown.push(part)
      const circle = document.createElement('span')
      circle.style.cssText = `display:inline-block;width:.85em;height:.85em;margin:0 .1em;
        border-radius:50%;vertical-align:-.08em;background:${colour}`
      return circle
    })
    node.replaceWith(...drawn)
  }
  return unknown
}

/** Hides the siblings of a part that are not parts. Runs in the page. */
function hideNeighbours(part: Element): void {
  for (const element of part.parentElement?.children ?? []) {
    if (element instanceof HTMLElement && !element.hasAttribute('data-seen'))
      element.style.opacity = '0'
  }
}

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** The box around the parts. */
async function boxOf(parts: readonly Locator[], margin: number): Promise<Box> {
  const boxes = await Promise.all(
    parts.map(async (part) => {
      const box = await part.boundingBox()
      if (box === null) throw new Error(`${String(part)} is not visible`)
      return box
    }),
  )
  const x = Math.floor(Math.min(...boxes.map((box) => box.x))) - margin
  const y = Math.floor(Math.min(...boxes.map((box) => box.y))) - margin
  const right = Math.ceil(Math.max(...boxes.map((box) => box.x + box.width))) + margin
  const bottom = Math.ceil(Math.max(...boxes.map((box) => box.y + box.height))) + margin
  return { x: Math.max(0, x), y: Math.max(0, y), width: right - x, height: bottom - y }
}

/** Fonts of this machine in which letters of the parts are drawn. */
async function foreignFonts(session: CDPSession): Promise<readonly string[]> {
  await session.send('DOM.enable')
  await session.send('CSS.enable')
  const { root } = await session.send('DOM.getDocument')
  const selector = '[data-seen], [data-seen] *'
  const { nodeIds } = await session.send('DOM.querySelectorAll', { nodeId: root.nodeId, selector })
  const used = await Promise.all(
    nodeIds.map((nodeId) => session.send('CSS.getPlatformFontsForNode', { nodeId })),
  )
  const fonts = used.flatMap(({ fonts }) => fonts).filter(({ isCustomFont }) => !isCustomFont)
  return [...new Set(fonts.map(({ familyName }) => familyName))]
}

async function capture(session: CDPSession, box: Box, scale: number): Promise<Buffer> {
  const { data } = await session.send('Page.captureScreenshot', {
    format: 'webp',
    quality: QUALITY,
    clip: { ...box, scale },
    captureBeyondViewport: true,
  })
  return Buffer.from(data, 'base64')
}
