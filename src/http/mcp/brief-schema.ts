/** Schemas in the list of tools: what a model needs to choose a tool. `describeTool` has the whole ones. */
import { z } from 'zod'
import { JsonObject } from '#src/kernel/units.ts'

/** What the list says of an argument, or of a member of a body. */
const KEPT = ['type', 'enum', 'const', 'format', 'default']
/** Longest list of values in the list of tools. */
const VALUES_MAX = 10
/** Sentences of a text in any of the languages. */
const SENTENCES = /.+?(?:[.!?।؟](?=\s|$)|。|$)\s*/gsu

const Properties = z.record(z.string(), JsonObject)
const Variants = z.array(z.looseObject({ properties: Properties.default({}) })).default([])
const Schema = z.looseObject({
  properties: Properties.default({}),
  required: z.array(z.string()).default([]),
  oneOf: Variants,
  anyOf: Variants,
})
type Schema = z.output<typeof Schema>

/** Names and schemas of properties that earlier tools of the list have. */
export type Said = Set<string>

/**
 * The arguments of a tool. The members of its body are named; what is below them is left out. Of a property that an
 * earlier tool has, too, the type is enough.
 */
export function briefInput(schema: JsonObject, said: Said): JsonObject {
  const { properties, required } = Schema.parse(schema)
  const brief = briefMembers(properties, required, said)
  const body = properties['body'] && briefBody(Schema.parse(properties['body']), said)
  return JsonObject.parse({
    ...(Object.keys(brief).length > 0 && { properties: { ...brief, ...(body && { body }) } }),
    ...(required.length > 0 && { required }),
  })
}

/** The members of an answer, by name and type. */
export function briefOutput(schema: JsonObject): JsonObject {
  return JsonObject.parse({
    type: 'object',
    properties: mapped(allProperties(Schema.parse(schema)), (_name, { type }) =>
      typeof type === 'string' ? { type } : {},
    ),
  })
}

function briefBody(body: Schema, said: Said): object {
  const { required } = body
  return {
    type: 'object',
    properties: briefMembers(allProperties(body), required, said),
    ...(required.length > 0 && { required }),
  }
}

/** The properties of an object, with those that only some of its variants have. */
function allProperties({ properties, oneOf, anyOf }: Schema): Schema['properties'] {
  const ofVariants = [...oneOf, ...anyOf].map((variant) => variant.properties)
  return { ...Object.assign({}, ...ofVariants), ...properties }
}

/** Members by name and type. Those that a call needs are described. */
function briefMembers(
  properties: Readonly<Record<string, JsonObject>>,
  required: readonly string[],
  said: Said,
): object {
  return mapped(properties, (name, property) => {
    const brief = briefProperty(name, property, said)
    const { description: _description, default: _default, ...bare } = brief
    return required.includes(name) ? brief : bare
  })
}

function briefProperty(name: string, property: JsonObject, said: Said): JsonObject {
  const whole = `${name} ${JSON.stringify(property)}`
  const { type, description } = property
  if (said.has(whole)) return type === undefined ? {} : { type }
  said.add(whole)
  const kept = Object.entries(property).filter(
    ([keyword, value]) =>
      KEPT.includes(keyword) && !(Array.isArray(value) && value.length > VALUES_MAX),
  )
  return {
    ...Object.fromEntries(kept),
    ...(typeof description === 'string' && { description: briefText(description, 0) }),
  }
}

/** The sentences of a text that have this length together; at least the first one. */
export function briefText(text: string, lengthMax: number): string {
  const sentences = text.match(SENTENCES) ?? []
  let brief = ''
  for (const sentence of sentences) {
    if (brief !== '' && (brief + sentence).trim().length > lengthMax) break
    brief += sentence
  }
  return brief.trim()
}

function mapped(
  properties: Readonly<Record<string, JsonObject>>,
  change: (name: string, property: JsonObject) => object,
): object {
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, change(name, property)]),
  )
}
