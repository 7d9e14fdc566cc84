import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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
    schemas.WebhookEvent.oneOf.map(
      ({ $ref }: { $ref: string }) => schemas[$ref.split('/').at(-1) ?? ''],
    )
  const events = variants.flatMap(({ properties }) => properties.event.enum)
  expect(events.toSorted()).toEqual(EVENTS.toSorted())
  for (const { properties } of variants) {
    const [, name = ''] = /^#\/components\/schemas\/(\w+)$/.exec(properties.data.$ref) ?? []
    expect(Object.keys(schemas[name].properties).length, name).toBeGreaterThan(0)
    // A later release may add properties.
    expect(schemas[name].additionalProperties, name).not.toBe(false)
  }
})

/** Every schema of the description with its place. */
function schemasIn(value: unknown, place = ''): (readonly [string, Record<string, unknown>])[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).flatMap(([key, below]) =>
    ['example', 'examples', 'default'].includes(key) ? [] : schemasIn(below, `${place}/${key}`),
  )
  return Array.isArray(value)
    ? inner
    : [[place, Object.fromEntries(Object.entries(value))], ...inner]
}

// npm run test:generators tries these rules with the generators themselves.
describe('the description has no shape that generators of clients cannot write:', () => {
  const document = englishDocument()
  const schemas = schemasIn(document.components.schemas)
  const placesOf = (isWrong: (schema: Record<string, unknown>) => boolean) =>
    schemas.filter(([, schema]) => isWrong(schema)).map(([place]) => place)

  test('a value that is always null', () => {
    const nullable = placesOf(({ type }) => type === 'null')
    expect(nullable.filter((place) => !/\/anyOf\/\d+$/.test(place))).toEqual([])
    expect(nullable.length).toBeGreaterThan(0)
  })

  test('a constant of no type, or a whole number that is called a fraction', () => {
    expect(placesOf((schema) => 'const' in schema && schema['type'] === undefined)).toEqual([])
    expect(
      placesOf(({ const: only, type }) => Number.isInteger(only) && type !== 'integer'),
    ).toEqual([])
    expect(placesOf((schema) => 'const' in schema).length).toBeGreaterThan(0)
  })

  test('a schema with the name of the function that makes another one', () => {
    const names = Object.keys(document.components.schemas)
    expect(names.filter((name) => /^New[A-Z]/.test(name))).toEqual([])
  })

  test('a list of types, except one type and null', () => {
    const lists = schemas.filter(([, { type }]) => Array.isArray(type))
    expect(lists.length).toBeGreaterThan(50)
    expect(
      lists.filter(([, { type }]) => !Array.isArray(type) || type.length > 2 || type[1] !== 'null'),
    ).toEqual([])
  })

  test('a variant without a name', () => {
    const variants = schemas.filter(([place]) => /\/oneOf\/\d+$/.test(place))
    // A number or a boolean needs none.
    const isPlain = ({ type }: Record<string, unknown>) => type === 'number' || type === 'boolean'
    expect(
      variants.filter(([, schema]) => schema['$ref'] === undefined && !isPlain(schema)),
    ).toEqual([])
    expect(variants.length).toBeGreaterThan(10)
  })
})
