/** Schemas of the registry as JSON Schema, with descriptions in a language. */
import { z } from 'zod'
import { builtKey, type Translate } from '#src/i18n/translate.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import { describeEventData } from '#src/watches/events.ts'
import { acceptedCoinNames } from '#src/watches/types/own-coin.ts'
import { withMeanings } from './openapi-meanings.ts'

const FIELD = 'operations:field.'
const EVENT_DATA = `${FIELD}alertData`
/** Properties of the events' `data`: names and types, the same in every language. */
const EVENTS = describeEventData()

interface Override {
  readonly zodSchema: z.core.$ZodType
  readonly jsonSchema: z.core.JSONSchema.BaseSchema
}

/**
 * Options of schemas for a language. The JSON format of every codec is its input: outputs are encoded,
 * bodies are decoded.
 */
export function optionsFor(t: Translate) {
  return {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }: Override) => {
      explain(t, jsonSchema)
      leaveNoiseOut(jsonSchema)
      const names = acceptedCoinNames(zodSchema)
      if (names !== undefined) jsonSchema.enum = [...names]
    },
  } as const
}

/** Replaces text keys in schemas by their descriptions. */
function explain(t: Translate, jsonSchema: z.core.JSONSchema.BaseSchema): void {
  const { description } = jsonSchema
  // Some schemas are visited more than once.
  if (description?.startsWith(FIELD) !== true) return
  const text = t(builtKey(description))
  jsonSchema.description = description === EVENT_DATA ? `${text}\n\n${EVENTS}` : text
}

/** Removes the keywords that zod adds to every whole number and instant. */
function leaveNoiseOut(jsonSchema: z.core.JSONSchema.BaseSchema): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern
}

/** @param path names that lead to the schema, for the meanings of its fields */
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
  const named = Object.entries($defs).map(
    ([name, definition]) => [name, withMeanings(t, definition, [name])] as const,
  )
  return JSON.parse(JSON.stringify(inlined(withMeanings(t, rest, path), new Map(named))))
}

/** @throws Error for a schema that contains itself */
function inlined(
  schema: unknown,
  named: ReadonlyMap<string, unknown>,
  within: readonly string[] = [],
): unknown {
  if (Array.isArray(schema)) return schema.map((item) => inlined(item, named, within))
  if (typeof schema !== 'object' || schema === null) return schema
  const { $ref, $id: _id, ...rest }: Record<string, unknown> = { ...schema }
  const parts = Object.entries(rest).map(([key, value]) => [key, inlined(value, named, within)])
  const own = Object.fromEntries(parts)
  if (typeof $ref !== 'string') return own
  const name = $ref.slice('#/$defs/'.length)
  if (within.includes(name)) throw new Error(`the schema ${name} contains itself`)
  const target = inlined(named.get(name), named, [...within, name])
  return { ...Object(target), ...own }
}
