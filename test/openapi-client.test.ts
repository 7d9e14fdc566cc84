import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EVENTS } from '#src/watches/events.ts'
import { englishDocument, generate, generatedFiles } from './generated/generate.ts'

const run = promisify(execFile)
const bin = (name: string) => join(import.meta.dirname, '../node_modules/.bin', name)

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchdog-openapi-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('the linter of OpenAPI finds no fault in the description', async () => {
  const file = join(folder, 'openapi.json')
  await writeFile(file, JSON.stringify(englishDocument()))
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

test('the generated files of the client are those of the description (npm run types:api)', async () => {
  for (const [file, text] of await generatedFiles()) {
    expect(await readFile(file, 'utf8'), file.href).toBe(text)
  }
})

test('every event has exactly one schema of its data', () => {
  const { schemas } = englishDocument().components
  const variants: { properties: { event: { enum: string[] }; data: { $ref: string } } }[] =
    schemas.WebhookEvent.oneOf
  const events = variants.flatMap(({ properties }) => properties.event.enum)
  expect(events.toSorted()).toEqual(EVENTS.toSorted())
  for (const { properties } of variants) {
    const [, name = ''] = /^#\/components\/schemas\/(\w+)$/.exec(properties.data.$ref) ?? []
    expect(Object.keys(schemas[name].properties).length, name).toBeGreaterThan(0)
    // A later release may add properties.
    expect(schemas[name].additionalProperties, name).not.toBe(false)
  }
})
