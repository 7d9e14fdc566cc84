import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { LOCALES } from '#src/kernel/locale.ts'
import { apiDocs } from '#src/pages/docs-api.ts'
import english from '../../locales/en/operations.json' with { type: 'json' }
import { REGISTRY } from './index.ts'
import { openApiDocument } from './openapi.ts'
import { listEventDataSchemas } from './openapi-webhooks.ts'

const Properties = z.record(z.string(), z.looseObject({ description: z.string().optional() }))
const app = { publicUrl: 'https://watchdog.example.org', operations: REGISTRY }
const parsed = (document: unknown): unknown => JSON.parse(JSON.stringify(document))

interface Field {
  readonly place: string
  readonly description: string | undefined
}

/** Schemas of the events' values, whose fields the help of their signals explains. */
const OF_EVENTS = listEventDataSchemas().map(({ component }) => `/components/schemas/${component}/`)

/** Every field of every schema, however deep. */
function fieldsIn(value: unknown, place = ''): Field[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]): Field[] => {
    if (key === 'example') return []
    if (key !== 'properties') return fieldsIn(inner, `${place}/${key}`)
    return Object.entries(Properties.parse(inner)).flatMap(([name, property]) => [
      { place: `${place}/${name}`, description: property.description },
      ...fieldsIn(property, `${place}/${name}`),
    ])
  })
}

describe.each(LOCALES)('in %s', (locale) => {
  test('every field of a schema has a meaning', () => {
    const fields = fieldsIn(parsed(openApiDocument(app, locale)))
    expect(fields.length).toBeGreaterThan(400)
    const own = fields.filter(({ place }) => !OF_EVENTS.some((start) => place.startsWith(start)))
    expect(own.filter(({ description }) => !description)).toEqual([])
  })

  test('every field on a page has a meaning', () => {
    const { operations, webhook } = apiDocs(parsed(openApiDocument(app, locale)))
    const rows = operations.flatMap(({ id, parameters, body, answer }) =>
      [...parameters, ...body, ...answer].map((row) => ({ id, ...row })),
    )
    expect(rows.length).toBeGreaterThan(800)
    expect(rows.filter(({ description }) => !description)).toEqual([])
    expect(webhook.filter(({ description }) => !description)).toEqual([])
  })
})

test('a field has its own description, else the meaning for its parent, else the general meaning', () => {
  const { operations } = apiDocs(parsed(openApiDocument(app, 'en')))
  const row = (id: string, name: string) => {
    const operation = operations.find((operation) => operation.id === id)
    const rows = [...(operation?.parameters ?? []), ...(operation?.body ?? [])]
    return rows.find((row) => row.name === name)?.description
  }
  expect(row('createWatch', 'target.asset')).toBe(english['meaning.target.asset'])
  expect(row('createWatch', 'settings.percent')).toBe(english['meaning.percent'])
  expect(row('listAlerts', 'signal')).toBe(english['meaning.query.signal'])
  expect(row('getAccount', 'type')).toBe(english['meaning.getAccount.type'])
  expect(row('listAlerts', 'limit')).toBe(english['field.pageLimit'])
})

test('every meaning is shown somewhere', () => {
  const shown = new Set(
    [
      ...fieldsIn(parsed(openApiDocument(app, 'en'))),
      ...apiDocs(parsed(openApiDocument(app, 'en'))).operations.flatMap(
        (operation) => operation.parameters,
      ),
    ].map(({ description }) => description),
  )
  const meanings = Object.entries(english).filter(([key]) => key.startsWith('meaning.'))
  expect(meanings.filter(([, text]) => !shown.has(text)).map(([key]) => key)).toEqual([])
})
