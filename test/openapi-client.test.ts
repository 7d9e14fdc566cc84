import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { REGISTRY } from '#src/operations/index.ts'
import { openApiDocument } from '#src/operations/openapi.ts'
import { generate, TYPES } from './generated/generate.ts'

const run = promisify(execFile)
const bin = (name: string) => new URL(`../node_modules/.bin/${name}`, import.meta.url).pathname

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchdog-openapi-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('the description has no fault that its linter knows', async () => {
  const app = { publicUrl: 'https://watchdog.example.org', operations: REGISTRY }
  const file = join(folder, 'openapi.json')
  await writeFile(file, JSON.stringify(openApiDocument(app, 'en')))
  const { stdout } = await run(bin('redocly'), ['lint', '--format=json', file], { cwd: folder })
  const { totals } = JSON.parse(stdout)
  expect(totals).toMatchObject({ errors: 0, warnings: 0 })
})

test('a client generated from the description compiles', async () => {
  const file = join(folder, 'client.ts')
  await writeFile(file, await generate({ client: true }))
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--target',
    'es2024',
    '--lib',
    'es2024,dom',
  ]
  await run(bin('tsc'), [...options, '--ignoreConfig', file], { cwd: folder })
})

test('the generated types that tests use are those of the description (npm run types:api)', async () => {
  expect(await readFile(TYPES, 'utf8')).toBe(await generate({ client: false }))
})
