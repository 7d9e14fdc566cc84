/** Checks values against the schemas of the service's OpenAPI document, so that a mistake is found before anything is sent. */
import type { Path } from './document.ts'

/** The keywords that are checked. The service itself checks all. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly oneOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
}

/** The schemas of a service by name. */
export type Schemas = Readonly<Record<string, Schema>>

/** A value that does not fit. */
export interface Misfit {
  readonly path: Path
  readonly text: string
}

/** A schema without references. */
function resolveSchema(schemas: Schemas, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema
  return resolveSchema(schemas, schemas[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)] ?? {})
}

/** The alternative of a schema whose constants the value has; undefined if there is none. */
export function variantOf(schemas: Schemas, schema: Schema, value: unknown): Schema | undefined {
  const { oneOf } = resolveSchema(schemas, schema)
  return oneOf
    ?.map((one) => resolveSchema(schemas, one))
    .find(({ properties = {} }) =>
      ['type', 'channel'].some((key) => {
        const field = properties[key]
        const given = isObject(value) ? value[key] : undefined
        return field !== undefined && given !== undefined && allows(field, given)
      }),
    )
}

function allows({ const: only, enum: values }: Schema, value: unknown): boolean {
  return only === value || values?.includes(value) === true
}

/** What in a value does not fit a schema. */
export function misfits(schemas: Schemas, raw: Schema, value: unknown, path: Path = []): Misfit[] {
  const schema = resolveSchema(schemas, raw)
  const variants = schema.oneOf ?? schema.anyOf
  if (variants !== undefined) return misfitsOfVariants(schemas, variants, value, path)
  if (schema.const !== undefined || schema.enum !== undefined) {
    const values = schema.enum ?? [schema.const]
    return values.includes(value) ? [] : [{ path, text: `must be ${values.join(' or ')}` }]
  }
  const wrong = wrongType(schema, value)
  if (wrong !== undefined) return [{ path, text: wrong }]
  if (Array.isArray(value)) {
    if (value.length > (schema.maxItems ?? Number.POSITIVE_INFINITY)) {
      return [{ path, text: `has more than ${schema.maxItems} items` }]
    }
    const { items } = schema
    if (items === undefined) return []
    return value.flatMap((item, index) => misfits(schemas, items, item, [...path, index]))
  }
  return isObject(value)
    ? misfitsOfFields(schemas, schema, value, path)
    : misfitsOfScalar(schema, value, path)
}

function misfitsOfVariants(
  schemas: Schemas,
  variants: readonly Schema[],
  value: unknown,
  path: Path,
): Misfit[] {
  const all = variants.map((one) => misfits(schemas, one, value, path))
  if (all.some((found) => found.length === 0)) return []
  // The alternative of the value's own kind says most about it.
  const fitting = variants.findIndex(
    (one) =>
      resolveSchema(schemas, one).type !== 'null' &&
      wrongType(resolveSchema(schemas, one), value) === undefined,
  )
  return all[fitting === -1 ? 0 : fitting] ?? []
}

function misfitsOfFields(
  schemas: Schemas,
  { properties = {}, required = [], additionalProperties }: Schema,
  value: Readonly<Record<string, unknown>>,
  path: Path,
): Misfit[] {
  const missing = required
    .filter((name) => value[name] === undefined)
    .map((name) => ({ path, text: `lacks "${name}"` }))
  const wrong = Object.entries(value).flatMap(([name, item]): Misfit[] => {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (own !== undefined) return misfits(schemas, own, item, [...path, name])
    if (typeof additionalProperties === 'object') {
      return misfits(schemas, additionalProperties, item, [...path, name])
    }
    if (additionalProperties !== false) return []
    const known = Object.keys(properties).join(', ') || 'none'
    return [{ path: [...path, name], text: `unknown key "${name}"; known: ${known}` }]
  })
  return [...missing, ...wrong]
}

function misfitsOfScalar(schema: Schema, value: unknown, path: Path): Misfit[] {
  if (typeof value === 'string') {
    const { length } = [...value]
    if (length < (schema.minLength ?? 0)) return [{ path, text: 'is empty' }]
    if (length > (schema.maxLength ?? length)) {
      return [{ path, text: `has more than ${schema.maxLength} characters` }]
    }
    const fits = schema.pattern === undefined || new RegExp(schema.pattern, 'u').test(value)
    return fits ? [] : [{ path, text: `"${value}" does not have the form that is needed here` }]
  }
  if (typeof value !== 'number') return []
  if (value < (schema.minimum ?? value))
    return [{ path, text: `must be ${schema.minimum} or more` }]
  return value > (schema.maximum ?? value)
    ? [{ path, text: `must be ${schema.maximum} or less` }]
    : []
}

function wrongType({ type }: Schema, value: unknown): string | undefined {
  if (type === undefined) return undefined
  const fits =
    type === 'null'
      ? value === null
      : type === 'array'
        ? Array.isArray(value)
        : type === 'object'
          ? isObject(value)
          : type === 'integer'
            ? Number.isInteger(value)
            : typeof value === type
  if (fits) return undefined
  if (type === 'string' && typeof value === 'number')
    return `must be a text: write "${value}" in quotes`
  const names: Readonly<Record<string, string>> = {
    string: 'a text',
    integer: 'a whole number',
    number: 'a number',
    boolean: 'true or false',
    array: 'a list',
    object: 'a map',
  }
  return `must be ${names[type] ?? type}`
}

/** Whether a value is a map. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
