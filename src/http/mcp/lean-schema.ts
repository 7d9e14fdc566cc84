/** JSON Schemas of tools, shortened: a model reads all of them before its first call. */
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { ID_MAX, JsonObject } from '#src/kernel/units.ts'

/**
 * Keywords that tell a model little beside the type and the description. A value that breaks one is refused with an error that
 * names it.
 */
const LEFT_OUT = ['examples', 'not', 'propertyNames', 'pattern', 'minLength', 'uniqueItems']
/** Longest list of values that a schema names. Models meet longer ones, the names of events, in `getWatchType`. */
const VALUES_MAX = 20

const Properties = z.record(z.string(), JsonObject)
/** A variant of a union of objects. */
const Variant = z
  .object({
    type: z.literal('object'),
    properties: Properties,
    required: z.array(z.string()).default([]),
  })
  .strict()
type Variant = z.output<typeof Variant>
/** Variants that have a property in common. */
const Variants = z
  .array(Variant)
  .min(2)
  .refine((variants) => namesInAll(variants).length > 0)

/**
 * The same schema in fewer words. A union of objects says once what all its variants say of a property, as a schema
 * beside `oneOf`; each variant has the rest.
 */
export function leanSchema(schema: JsonObject): JsonObject {
  return JsonObject.parse(lean(open(schema)))
}

/** The schema without what it says of unknown properties: only the call itself is closed. */
function open(schema: unknown, isCall = true): unknown {
  if (Array.isArray(schema)) return schema.map((part) => open(part, false))
  if (typeof schema !== 'object' || schema === null) return schema
  const kept = Object.entries(schema).filter(
    ([keyword, value]) => isCall || keyword !== 'additionalProperties' || value !== false,
  )
  return Object.fromEntries(kept.map(([keyword, value]) => [keyword, open(value, false)]))
}

function lean(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(lean)
  if (typeof schema !== 'object' || schema === null) return schema
  const kept = Object.entries(schema).filter(([name, value]) => !isLeftOut(name, value))
  const { oneOf, ...others } = Object.fromEntries(kept.map(([name, value]) => [name, lean(value)]))
  if (oneOf === undefined) return others
  const variants = Variants.safeParse(oneOf)
  return { ...others, ...(variants.success ? factored(variants.data) : { oneOf }) }
}

function isLeftOut(name: string, value: unknown): boolean {
  if (name === 'enum') return Array.isArray(value) && value.length > VALUES_MAX
  if (name === 'required') return isDeepStrictEqual(value, [])
  // The maximum of every id: no model would get there.
  if (name === 'maximum') return value === ID_MAX
  return LEFT_OUT.includes(name)
}

function namesInAll(variants: readonly Variant[]): readonly string[] {
  const [first, ...others] = variants
  return Object.keys(first?.properties ?? {}).filter((name) =>
    others.every(({ properties }) => Object.hasOwn(properties, name)),
  )
}

/** A union of objects as one object with what its variants share, and the variants with the rest. */
function factored(variants: readonly Variant[]): object {
  const names = namesInAll(variants)
  const shared = Object.fromEntries(names.map((name) => [name, sharedOf(variants, name)]))
  const required = names.filter((name) => variants.every((one) => one.required.includes(name)))
  return {
    type: 'object',
    properties: shared,
    required,
    oneOf: variants.map((variant) => restOf(variant, shared, required)),
  }
}

/**
 * Keywords of a property that are the same in all variants. `additionalProperties` is about the `properties` and patterns
 * beside it, so it is shared only if the whole property is.
 */
function sharedOf(variants: readonly Variant[], name: string): JsonObject {
  const [first, ...others] = variants.map(({ properties }) => properties[name] ?? {})
  if (first === undefined || others.every((other) => isDeepStrictEqual(first, other))) {
    return first ?? {}
  }
  const same = Object.entries(first).filter(
    ([keyword, value]) =>
      keyword !== 'additionalProperties' &&
      others.every((other) => isDeepStrictEqual(other[keyword], value)),
  )
  return Object.fromEntries(same)
}

/** What a variant says beyond the shared part. */
function restOf(
  { properties, required }: Variant,
  shared: Readonly<Record<string, JsonObject>>,
  always: readonly string[],
): object {
  const rest = Object.entries(properties).flatMap(([name, property]) => {
    const own = Object.entries(property).filter(
      ([keyword, value]) => !isDeepStrictEqual(shared[name]?.[keyword], value),
    )
    return own.length === 0 ? [] : [[name, Object.fromEntries(own)] as const]
  })
  const also = required.filter((name) => !always.includes(name))
  return { properties: Object.fromEntries(rest), ...(also.length > 0 && { required: also }) }
}
