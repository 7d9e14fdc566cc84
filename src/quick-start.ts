import { enableCompileCache, registerHooks } from 'node:module'

/**
 * Loaded first, with `--import`, in every process that should start fast. It halves the time until `npm
 * start` is ready: with 10 000 watches on 2 busy cores 1.2 s in place of 2.1 s (1.07 s of processor time in
 * place of 1.79 s, of which the compile cache saves 0.50 s and the hook 0.22 s).
 *
 * Compiled modules are cached from start to start, in `NODE_COMPILE_CACHE` or the system's folder for such
 * files; if that is not writable they are compiled at each start. The hook resolves imports between
 * Drizzle's
 * modules: Node 24 reads all of a package's `exports`, here 180 kB, again for each of its modules.
 *
 * `npm start` also limits the young generation of V8 (`--max-semi-space-size=16`): with 10 000 watches the
 * process then uses 259 MB of memory in place of 357 MB, at the same speed.
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
