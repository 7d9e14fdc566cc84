import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/**
 * Modules whose import makes a test slow: they start a browser or a process such as a chain or a service,
 * or compile contracts.
 */
const HEAVY: ReadonlySet<string> = new Set(['playwright-core', 'node:child_process', 'solc'])

/** Test files of each project, as paths below the project's folder. */
export interface TestNeeds {
  /** Tests that start no process, so neither a chain nor a browser. */
  readonly light: readonly string[]
  readonly heavy: readonly string[]
}

/**
 * Sorts test files by their direct and indirect imports.
 *
 * @param pattern glob of the test files, relative to the project's folder, in which this runs
 */
export function needsOf(pattern: string): TestNeeds {
  const known = new Map<string, readonly string[]>()
  const importsOf = (path: string): readonly string[] => {
    const found = known.get(path) ?? readImports(path)
    known.set(path, found)
    return found
  }
  const isHeavy = (file: string): boolean => {
    const reached = new Set([file])
    for (const path of reached) {
      if (HEAVY.has(path)) return true
      if (existsSync(path)) for (const name of importsOf(path)) reached.add(name)
    }
    return false
  }
  const needs = { light: [] as string[], heavy: [] as string[] }
  for (const file of globSync(pattern)) needs[isHeavy(file) ? 'heavy' : 'light'].push(file)
  return needs
}

/** Files and packages that a module imports for more than types. */
function readImports(path: string): readonly string[] {
  if (!path.endsWith('.ts')) return []
  const code = readFileSync(path, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '')
  return [...code.matchAll(/^(?:import|export)\s(?!type\s)[^'"]*?'([^']+)'|import\('([^']+)'\)/gm)]
    .flatMap(([, statement, expression]) => statement ?? expression ?? [])
    .map((name) => {
      if (name.startsWith('#')) return name.slice(1)
      return name.startsWith('.') ? normalize(join(dirname(path), name)) : name
    })
}
