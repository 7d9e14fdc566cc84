/** Schemas of the registry as JSON Schema, with descriptions in a language. */
import { z } from 'zod'
import { checkedKey, type Translate } from '#src/i18n/translate.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import { acceptedCoinNames } from '#src/watches/types/own-coin.ts'
import { describeEventData } from './events.ts'
import { pathsOfNamed, withMeanings } from './meanings.ts'

const FIELD = 'operations:field.'
const EVENT_DATA = `${FIELD}alertData`
/** Properties of the events' `data`: names and types, the same in every language. */
const EVENTS = describeEventData()

interface Override {
  readonly zodSchema: z.core.$ZodType
  readonly jsonSchema: z.core.JSONSchema.BaseSchema
}

/**
 * Options of `z.toJSONSchema`, with descriptions in a language. `io: 'input'` describes the JSON side of codecs:
 * request bodies are decoded from it, responses are encoded to it.
 */
export function optionsFor(t: Translate) {
  return {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }: Override) => {
      translateDescription(t, jsonSchema)
      removeImpliedKeywords(jsonSchema)
      const names = acceptedCoinNames(zodSchema)
      if (names !== undefined) jsonSchema.enum = [...names]
    },
  } as const
}

/** Replaces the text key in a schema's description by its text. */
function translateDescription(t: Translate, jsonSchema: z.core.JSONSchema.BaseSchema): void {
  const { description } = jsonSchema
  // A schema that is visited again has its text already.
  if (description?.startsWith(FIELD) !== true) return
  const text = t(checkedKey(description))
  jsonSchema.description = description === EVENT_DATA ? `${text}\n\n${EVENTS}` : text
}

/** Removes the bounds of safe integers that zod adds to whole numbers, and the pattern beside a `format`. */
function removeImpliedKeywords(jsonSchema: z.core.JSONSchema.BaseSchema): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern
  // Generators of clients make a fraction of a constant that is a number.
  if (Number.isInteger(jsonSchema.const)) jsonSchema.type = 'integer'
}

/**
 * A schema as JSON Schema. Its references point to the components of the OpenAPI document.
 *
 * @param path names that lead to the schema, for the meanings of its fields
 */
export function jsonSchema(
  t: Translate,
  schema: z.ZodType,
  path: readonly string[] = [],
): JsonObject {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, optionsFor(t))
  const text = JSON.stringify(withMeanings(t, rest, path))
  return JSON.parse(text.replaceAll('#/$defs/', '#/components/schemas/'))
}

/**
 * A schema without references, for readers that cannot follow references.
 *
 * @param path names that lead to the schema, as for `jsonSchema`
 */
export function inlineSchema(
  t: Translate,
  schema: z.ZodType,
  path: readonly string[] = [],
): JsonObject {
  const { $schema: _dialect, $defs = {}, ...rest } = z.toJSONSchema(schema, optionsFor(t))
  const paths = pathsOfNamed($defs)
  const named = Object.entries($defs).map(
    ([name, definition]) => [name, withMeanings(t, definition, paths.get(name) ?? [])] as const,
  )
  return JSON.parse(JSON.stringify(inlined(withMeanings(t, rest, path), new Map(named))))
}

/**
 * A schema with its references replaced by the definitions they name.
 *
 * @throws Error for a schema that contains itself
 */
function inlined(
  schema: unknown,
  named: ReadonlyMap<string, unknown>,
  enclosingNames: readonly string[] = [],
): unknown {
  if (Array.isArray(schema)) return schema.map((item) => inlined(item, named, enclosingNames))
  if (typeof schema !== 'object' || schema === null) return schema
  const { $ref, $id: _id, ...rest }: Record<string, unknown> = { ...schema }
  const parts = Object.entries(rest).map(([key, value]) => [
    key,
    inlined(value, named, enclosingNames),
  ])
  const inlinedKeywords = Object.fromEntries(parts)
  if (typeof $ref !== 'string') return inlinedKeywords
  const name = $ref.slice('#/$defs/'.length)
  if (enclosingNames.includes(name)) throw new Error(`the schema ${name} contains itself`)
  const target = inlined(named.get(name), named, [...enclosingNames, name])
  return { ...Object(target), ...inlinedKeywords }
}
