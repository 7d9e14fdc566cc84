import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/**
 * Modules whose import makes a test need more than Node: a browser, a process such as a chain or a service, the
 * compiler of contracts, a database.
 */
const WORLD: ReadonlySet<string> = new Set([
  'playwright-core',
  'node:child_process',
  'solc',
  'test/support/database.ts',
])

/** Modules of which tests with random inputs or a number of rounds import one. */
const RANDOM: ReadonlySet<string> = new Set(['fast-check', 'test/support/runs.ts'])

/** Test files by what they need, as paths below the project's folder. */
export interface TestNeeds {
  /** Tests that need nothing but Node. */
  readonly plain: readonly string[]
  /** The others. */
  readonly world: readonly string[]
  /** Tests of both kinds whose number of inputs or rounds can be raised. */
  readonly random: readonly string[]
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
  const needs = { plain: [] as string[], world: [] as string[], random: [] as string[] }
  for (const file of globSync(pattern)) {
    const reached = new Set([file])
    for (const path of reached) for (const name of importsOf(path)) reached.add(name)
    const all = [...reached]
    needs[all.some((path) => WORLD.has(path)) ? 'world' : 'plain'].push(file)
    if (all.some((path) => RANDOM.has(path))) needs.random.push(file)
  }
  return needs
}

/** Files and packages that a module imports for more than types. */
function readImports(path: string): readonly string[] {
  if (!path.endsWith('.ts') || !existsSync(path)) return []
  const code = readFileSync(path, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '')
  return [...code.matchAll(/^(?:import|export)\s(?!type\s)[^'"]*?'([^']+)'|import\('([^']+)'\)/gm)]
    .flatMap(([, statement, expression]) => statement ?? expression ?? [])
    .map((name) => {
      if (name.startsWith('#')) return name.slice(1)
      return name.startsWith('.') ? normalize(join(dirname(path), name)) : name
    })
}
