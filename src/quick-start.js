// The named functions are missing in an older Node, which could not even load a file that imports them.
import nodeModule from 'node:module'

/**
 * Loaded first, with `--import`, in every process of the service and the sandbox. It is JavaScript, because an older
 * Node cannot load TypeScript, and Node 24 would load its compiler for it, which the cache below saves.
 *
 * A Node that is too old is refused, in one line.
 *
 * Compiled modules are cached from start to start, in `NODE_COMPILE_CACHE` or the system's folder for such
 * files; if that is not writable they are compiled at each start.
 *
 * The hook resolves the imports whose answer is known. Node 24 looks at the file system for each of 8,000
 * imports, and reads all of a package's `exports` again for each module that imports it, of Drizzle 180 kB.
 * Everything else, and every `require`, is resolved by Node.
 */
const NODE_MIN = 24
const { node: version } = process.versions
if (Number.parseInt(version, 10) < NODE_MIN) {
  process.stderr.write(
    `Node ${version} is too old: use Node ${NODE_MIN}, which npm ci puts into node_modules/.bin on 64-bit Linux unless it omits optional packages\n`,
  )
  process.exit(1)
}

nodeModule.enableCompileCache()

/** The folder of `package.json`, and those whose modules import by `#` and by names of packages. */
const ROOT = new URL('..', import.meta.url).href
const OWN = [`${ROOT}src/`, `${ROOT}bot/`]
/** Folders of packages that contain nothing but modules, which import each other by the names of files. */
const PACKAGED =
  /\/node_modules\/(?:abitype\/dist\/esm|drizzle-orm|ox\/_esm|viem\/_esm|zod)\/[^.]*\.js$/

/**
 * What modules of our own import from packages.
 * @type {Map<string, { readonly url: string }>}
 */
const packages = new Map()

nodeModule.registerHooks({
  resolve: (specifier, context, next) => {
    const { parentURL = '', conditions } = context
    const isRelative = specifier.startsWith('.')
    if (isRelative && specifier.endsWith('.js') && PACKAGED.test(parentURL)) {
      return { url: new URL(specifier, parentURL).href, format: 'module', shortCircuit: true }
    }
    if (!OWN.some((folder) => parentURL.startsWith(folder)) || !conditions.includes('import')) {
      return next(specifier, context)
    }
    if (specifier.endsWith('.ts') && (isRelative || /^#(src|bot)\//.test(specifier))) {
      const url = isRelative ? new URL(specifier, parentURL).href : ROOT + specifier.slice(1)
      return { url, format: 'module-typescript', shortCircuit: true }
    }
    const known = packages.get(specifier)
    if (known !== undefined) return { ...known, shortCircuit: true }
    const resolved = next(specifier, context)
    if (!isRelative) packages.set(specifier, resolved)
    return resolved
  },
})
