import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser } from '../support/browser.ts'
import { isWhole } from '../support/runs.ts'
import { type Shot, takePicture } from './camera.ts'
import { type PictureWorld, pictureWorld } from './world.ts'

/**
 * The pictures of the README. `npm run pictures` writes them; other runs take them too, to check
 * that they can be taken and that two runs agree: on all pictures in the whole run, else on one of them.
 */

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = 'docs/pictures'
const BYTES_MAX = 60 * 1024

/** The page as high as its content. */
const PAY_STYLE = 'main{flex:none!important;min-height:0!important}'

let browser: Browser
let first: ReadonlyMap<string, Buffer>

beforeAll(async () => {
  browser = await openBrowser()
  first = await takePictures()
  if (process.env['PICTURES'] !== 'write') return
  await mkdir(join(ROOT, FOLDER), { recursive: true })
  for (const [name, bytes] of first) await writeFile(join(ROOT, FOLDER, name), bytes)
})
afterAll(() => browser.close())

/** @param isWanted by default all are taken */
async function takePictures(
  isWanted: (name: string) => boolean = () => true,
): Promise<ReadonlyMap<string, Buffer>> {
  const world = await pictureWorld()
  try {
    const pictures = new Map<string, Buffer>()
    for (const [name, shot] of Object.entries(shotsOf(world))) {
      const file = `${name}.webp`
      if (isWanted(file)) pictures.set(file, await takePicture(browser, shot, world.now))
    }
    return pictures
  } finally {
    await world.close()
  }
}

function shotsOf({ alertUrl, cardUrl, payUrl }: PictureWorld): Readonly<Record<string, Shot>> {
  const chat = { width: 430, margin: 10, scale: 1.5 }
  return {
    alert: { ...chat, url: alertUrl, parts: ['.message.with-buttons', '.message:has(.picture)'] },
    provider: { ...chat, url: alertUrl, parts: ['.message .picture img'], margin: 0, scale: 2 },
    pay: { url: payUrl, width: 900, parts: ['main'], margin: 0, scale: 1, css: PAY_STYLE },
    arabic: { ...chat, url: cardUrl, parts: ['.message.with-buttons'] },
  }
}

test('every run takes the same pictures', async () => {
  const names = [...first.keys()]
  const one = names[randomInt(names.length)]
  const second = await takePictures((name) => isWhole || name === one)
  expect(second.size).toBe(isWhole ? names.length : 1)
  const changed = [...second].filter(([name, bytes]) => !first.get(name)?.equals(bytes))
  expect(changed.map(([name]) => name)).toEqual([])
})

test('each picture is small enough to load at once', () => {
  for (const [name, bytes] of first) expect(bytes.length, name).toBeLessThan(BYTES_MAX)
})

test('the README shows each picture, with a text of what it shows', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  for (const name of first.keys()) {
    expect(readFileSync(join(ROOT, FOLDER, name)).length).toBeLessThan(BYTES_MAX)
    expect(readme).toMatch(new RegExp(`src="${FOLDER}/${name}"[^>]* alt="[^"]{20,}"`))
  }
})
