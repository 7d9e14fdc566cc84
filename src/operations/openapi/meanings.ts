/** Meanings of fields that have no separate description: one text for all fields with the same name. */
import { z } from 'zod'
import { checkedKey, hasText, type Translate } from '#src/i18n/translate.ts'

const MEANING = 'operations:meaning.'
/** Keywords whose values are data, not schemas. */
const DATA = ['const', 'default', 'enum', 'example', 'examples']
const Schema = z.record(z.string(), z.unknown())
const Properties = z.record(z.string(), Schema)
const Union = z.looseObject({
  oneOf: z.array(z.looseObject({ $ref: z.string().optional() })).optional(),
})

/**
 * The schema with a description for every property that has none: the text of the property below its parent
 * (`target.address`) or below the root (`query.signal`) if there is one, otherwise the text of its name
 * (`address`).
 *
 * @param path names that lead to the schema: of a component, or of a place and an operation, then of properties
 */
export function withMeanings(t: Translate, schema: unknown, path: readonly string[]): unknown {
  if (Array.isArray(schema)) return schema.map((item) => withMeanings(t, item, path))
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (DATA.includes(keyword)) return [keyword, value]
      if (keyword !== 'properties') return [keyword, withMeanings(t, value, path)]
      return [keyword, explained(t, Properties.parse(value), path)]
    }),
  )
}

/**
 * The path of each named schema: its name, or that of the union whose variant it is, because variants share the meanings
 * of their fields.
 */
export function pathsOfNamed(
  schemas: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, readonly string[]> {
  const paths = new Map(Object.keys(schemas).map((name) => [name, [name]]))
  for (const [name, schema] of Object.entries(schemas)) {
    const { oneOf = [] } = Union.parse(schema)
    for (const { $ref } of oneOf) {
      const variant = $ref?.split('/').at(-1)
      if (variant !== undefined) paths.set(variant, [name])
    }
  }
  return paths
}

function explained(
  t: Translate,
  properties: z.output<typeof Properties>,
  path: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const below = [...path, name]
      const inner = Schema.parse(withMeanings(t, property, below))
      const meaning = property['description'] ?? meaningOf(t, below)
      return [name, { ...inner, ...(meaning !== undefined && { description: meaning }) }]
    }),
  )
}

function meaningOf(t: Translate, path: readonly string[]): string | undefined {
  const [name = '', parent = '', root = ''] = [path.at(-1), path.at(-2), path.at(0)]
  const names = [`${parent}.${name}`, `${root}.${name}`, name]
  const key = names.map((name) => MEANING + name).find(hasText)
  return key === undefined ? undefined : t(checkedKey(key))
}
