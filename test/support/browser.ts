import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'
import { fontConfiguration } from './fonts.ts'
import { unpacked } from './unpacked.ts'

const INSTALLED = '/usr/bin/chromium'
/** Unpacks the Chromium from npm and the libraries that it needs into the folder for temporary files. */
const UNPACK = `const [, chromium, libraries] = process.argv
const { default: packaged, inflate } = await import(chromium)
await packaged.executablePath()
await inflate(libraries)`

/** A real Chromium with the fonts from npm: `CHROMIUM_PATH`, the machine's own, or else the one from npm. */
export async function openBrowser(): Promise<Browser> {
  const path = process.env.CHROMIUM_PATH ?? (existsSync(INSTALLED) ? INSTALLED : undefined)
  const [FONTCONFIG_FILE, program] = await Promise.all([
    fontConfiguration(),
    path === undefined ? packagedChromium() : { executablePath: path, libraries: {} },
  ])
  return await chromium.launch({
    executablePath: program.executablePath,
    // The package's arguments suit a cloud function: with them the browser renders with a software GPU.
    args: ['--no-sandbox'],
    // Without a locale Chromium would find no font below a folder with an accent.
    env: { ...process.env, ...program.libraries, LC_ALL: 'C.UTF-8', FONTCONFIG_FILE },
  })
}

/** The Chromium from npm, and how it finds the libraries that come with it: a machine may have none of them. */
async function packagedChromium() {
  const source = import.meta.resolve('@sparticuz/chromium')
  const libraries = fileURLToPath(new URL('../bin/al2023.tar.br', source))
  const args = ['--input-type=module', '--eval', UNPACK, source, libraries]
  const folder = await unpacked('chromium', (draft) =>
    promisify(execFile)(process.execPath, args, { env: { ...process.env, TMPDIR: draft } }),
  )
  return {
    executablePath: join(folder, 'chromium'),
    libraries: { LD_LIBRARY_PATH: join(folder, 'al2023/lib') },
  }
}
