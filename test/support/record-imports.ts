/** Preloaded into a process: writes its imports, and what they resolve to, into the file `IMPORTS_FILE`. */
import { writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const imports: unknown[] = []
registerHooks({
  resolve: (specifier, context, next) => {
    const resolved = next(specifier, context)
    const kind = context.conditions.includes('import') ? 'import' : 'require'
    const by = `${kind} ${context.parentURL}`
    imports.push([specifier, by, resolved.url, resolved.format ?? null])
    return resolved
  },
})
process.on('exit', () => writeFileSync(process.env['IMPORTS_FILE'] ?? '', JSON.stringify(imports)))
