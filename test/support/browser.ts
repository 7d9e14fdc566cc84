import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'
import { fontConfiguration } from './fonts.ts'
import { unpacked } from './unpacked.ts'

const INSTALLED = '/usr/bin/chromium'
/** Unpacks the packaged Chromium into the folder for temporary files. */
const UNPACK = 'import(process.argv[1]).then(({ default: packaged }) => packaged.executablePath())'

/** A real Chromium with the fonts from npm: `CHROMIUM_PATH`, the machine's own, or else the one from npm. */
export async function openBrowser(): Promise<Browser> {
  const path = process.env.CHROMIUM_PATH ?? (existsSync(INSTALLED) ? INSTALLED : undefined)
  const FONTCONFIG_FILE = await fontConfiguration()
  // The package's arguments suit a cloud function: with them the browser renders with a software GPU.
  return await chromium.launch({
    executablePath: path ?? (await packagedChromium()),
    args: ['--no-sandbox'],
    // Without a locale Chromium would find no font below a folder with an accent.
    env: { ...process.env, LC_ALL: 'C.UTF-8', FONTCONFIG_FILE },
  })
}

async function packagedChromium(): Promise<string> {
  const args = ['--eval', UNPACK, import.meta.resolve('@sparticuz/chromium')]
  const folder = await unpacked('chromium', (draft) =>
    promisify(execFile)(process.execPath, args, { env: { ...process.env, TMPDIR: draft } }),
  )
  return join(folder, 'chromium')
}
