import { enableCompileCache, registerHooks } from 'node:module'

/**
 * Loaded first, with `--import`, in every process that is to start soon.
 *
 * Modules are kept compiled from start to start, in `NODE_COMPILE_CACHE` or the system's folder for such
 * files; where that cannot be written they are compiled anew. And what Drizzle's modules import from each
 * other is taken for what it is: Node 24 reads all of a package's `exports` anew for each of its modules,
 * and Drizzle's are 180 kB.
 */
enableCompileCache()

const DRIZZLE = /\/node_modules\/drizzle-orm\/[^.]*\.js$/

registerHooks({
  resolve: (specifier, context, next) => {
    const { parentURL = '' } = context
    if (!specifier.startsWith('.') || !DRIZZLE.test(parentURL)) return next(specifier, context)
    return { url: new URL(specifier, parentURL).href, format: 'module', shortCircuit: true }
  },
})
