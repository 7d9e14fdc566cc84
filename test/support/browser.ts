import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import packaged from '@sparticuz/chromium'
import { type Browser, chromium } from 'playwright-core'

const INSTALLED = '/usr/bin/chromium'
const UNPACKING_MS_MAX = 60_000

/** A real Chromium: `CHROMIUM_PATH`, the machine's own, or else the one from npm. */
export async function openBrowser(): Promise<Browser> {
  const path = process.env.CHROMIUM_PATH ?? (existsSync(INSTALLED) ? INSTALLED : undefined)
  // The package's arguments suit a cloud function: with them the browser renders with a software GPU.
  return await chromium.launch({
    executablePath: path ?? (await unpack()),
    args: ['--no-sandbox'],
  })
}

/** Several test files may start at once; only one of them unpacks the browser. */
async function unpack(): Promise<string> {
  const lock = join(tmpdir(), 'watchdog-chromium.lock')
  for (let waitedMs = 0; waitedMs < UNPACKING_MS_MAX; waitedMs += 100) {
    try {
      await mkdir(lock)
      break
    } catch {
      await wait(100)
    }
  }
  try {
    return await packaged.executablePath()
  } finally {
    await rm(lock, { recursive: true, force: true })
  }
}
