import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { packagesImportedBy, productionPackages } from './support/production-packages.ts'

const ROOT = new URL('..', import.meta.url).pathname
const ENTRIES = ['src/quick-start.js', 'src/main.ts', 'src/db/main.ts']

const { dependencies } = z
  .object({ dependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')))

describe('a production installation', () => {
  const imported = packagesImportedBy(ROOT, ENTRIES)

  test('has every package that the service imports', () => {
    expect(imported.size).toBeGreaterThan(20)
    const missing = [...imported].filter(([name]) => !(name in dependencies))
    expect(missing).toEqual([])
  })

  test('has no dependency that the service does not need', () => {
    const unneeded = Object.keys(dependencies).filter((name) => !imported.has(name))
    // The runtime itself.
    expect(unneeded).toEqual(['node'])
  })

  test('has no compiler, local chain, browser or part of the tests', () => {
    const names = productionPackages(ROOT).map(({ path }) => path)
    expect(names).toContain('node_modules/fastify')
    const parts = /typescript|anvil|foundry|chromium|playwright|vitest|esbuild|solc|ethers/
    expect(names.filter((name) => parts.test(name))).toEqual([])
  })
})
