import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { LOCALES } from '#src/kernel/locale.ts'
import { apiDocs } from '#src/pages/docs/api.ts'
import english from '../../../locales/en/operations.json' with { type: 'json' }
import { REGISTRY } from '../index.ts'
import { openApiDocument } from './openapi.ts'
import { listEventDataSchemas } from './webhooks.ts'

const Properties = z.record(z.string(), z.looseObject({ description: z.string().optional() }))
const app = { publicUrl: 'https://watchdog.example.org', operations: REGISTRY }
const parsed = (document: unknown): unknown => JSON.parse(JSON.stringify(document))

interface Field {
  readonly place: string
  readonly description: string | undefined
}

/** Places of the schemas of event data. Their fields need no description, because the help of the signals explains them. */
const EVENT_SCHEMAS = listEventDataSchemas().map(
  ({ component }) => `/components/schemas/${component}/`,
)

/** The fields of all schemas in a document, at any depth. */
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
  test('every field of a schema is described, except those of event data', () => {
    const fields = fieldsIn(parsed(openApiDocument(app, locale)))
    expect(fields.length).toBeGreaterThan(400)
    const own = fields.filter(
      ({ place }) => !EVENT_SCHEMAS.some((start) => place.startsWith(start)),
    )
    expect(own.filter(({ description }) => !description)).toEqual([])
  })

  test('every field on the pages of the API is described', () => {
    const { operations, webhook } = apiDocs(parsed(openApiDocument(app, locale)))
    const rows = operations.flatMap(({ id, parameters, body, answer }) =>
      [...parameters, ...body, ...answer].map((row) => ({ id, ...row })),
    )
    expect(rows.length).toBeGreaterThan(800)
    expect(rows.filter(({ description }) => !description)).toEqual([])
    expect(webhook.filter(({ description }) => !description)).toEqual([])
  })
})

test('a field has its own description, else the meaning of its name in its parent or operation, else that of its name', () => {
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

test('every meaning in English describes a field or parameter', () => {
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
