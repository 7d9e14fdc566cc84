import { expect, test } from 'vitest'
import { z } from 'zod'
import { translator } from '#src/i18n/translate.ts'
import { JsonObject } from '#src/kernel/units.ts'
import { inlineSchema } from '#src/operations/openapi/schema.ts'
import { NewWatch } from '#src/watches/model.ts'
import { leanSchema } from './lean-schema.ts'

const Properties = z.record(z.string(), JsonObject)
const Union = z.looseObject({ properties: Properties, oneOf: z.array(JsonObject) })
const Variant = z.looseObject({ properties: Properties, required: z.array(z.string()).default([]) })

/** Parts of a property, in a union and in its variant, as one. */
const joined = (one: JsonObject = {}, other: JsonObject = {}) => ({ ...one, ...other })

test('a union says the same as its variants, with what they share once', () => {
  const whole = inlineSchema(translator('en'), NewWatch)
  const lean = Union.parse(leanSchema(whole))
  const variants = z.object({ oneOf: z.array(JsonObject) }).parse(whole).oneOf
  expect(lean.oneOf).toHaveLength(variants.length)
  for (const [index, variant] of variants.entries()) {
    const { properties, required } = Variant.parse(lean.oneOf[index])
    const names = Object.keys(lean.properties)
    const together = Object.fromEntries(
      names.map((name) => [name, joined(lean.properties[name], properties[name])]),
    )
    const expected = Variant.parse(leanSchema(variant))
    expect(together).toEqual(expected.properties)
    const always = z.array(z.string()).parse(lean['required'])
    expect([...always, ...required].toSorted()).toEqual(expected.required.toSorted())
  }
  expect(JSON.stringify(lean).length).toBeLessThan(JSON.stringify(whole).length / 2)
})

const variant = (properties: JsonObject): JsonObject => ({
  type: 'object',
  properties,
  required: ['own'],
})
const own = (type: string) => ({ own: { type } })

test('a property that only some variants have stays in those', () => {
  const name = { name: { type: 'string' } }
  const lean = leanSchema({ oneOf: [variant({ ...name, ...own('number') }), variant(name)] })
  expect(lean).toMatchObject({ properties: name, oneOf: [{ properties: own('number') }, {}] })
})

test('variants that have no property in common stay as they are', () => {
  const union = { oneOf: [variant({ a: { type: 'string' } }), variant({ b: { type: 'string' } })] }
  expect(leanSchema(union)).toEqual(union)
})
