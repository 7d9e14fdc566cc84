/**
 * Resolves imports whose answer is known, before vitest's own hook does, which sends a message to vitest's main process
 * for each import of a module of ours. `vitest --watch` needs the messages.
 */
import { isBuiltin, registerHooks } from 'node:module'

const ROOT = new URL('../../', import.meta.url).href
const PACKAGES = `${ROOT}node_modules/`

if (process.env['VITEST_MODE'] === 'RUN') {
  registerHooks({
    resolve: (specifier, context, next) => {
      if (isBuiltin(specifier)) {
        const url = specifier.startsWith('node:') ? specifier : `node:${specifier}`
        return { url, format: 'builtin', shortCircuit: true }
      }
      const { parentURL = '' } = context
      if (!specifier.endsWith('.ts') || !isOwn(parentURL)) return next(specifier, context)
      const isRelative = specifier.startsWith('.')
      if (!isRelative && !/^#(src|bot|sandbox)\//.test(specifier)) return next(specifier, context)
      const url = isRelative ? new URL(specifier, parentURL).href : ROOT + specifier.slice(1)
      return { url, format: 'module-typescript', shortCircuit: true }
    },
  })
}

function isOwn(url: string): boolean {
  return url.startsWith(ROOT) && !url.startsWith(PACKAGES)
}
