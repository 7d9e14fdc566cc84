/** Parts of tools' schemas that several tools have, described once in the list. */
import type { Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { JsonObject } from '#src/kernel/units.ts'

/** Length of a part in JSON, in characters, from which a reference to the other tool is shorter than the part. */
const LONG = 200

const Properties = z.record(z.string(), JsonObject)

/**
 * The tools with each property described where it first stands. Where a later tool has a property of the same name and
 * schema, a short one stands without its description, and a long one names the tool that has it.
 * @param sameAs text that names a tool for the description of a property
 */
export function saidOnce(
  tools: readonly Tool[],
  sameAs: (tool: string) => string,
): readonly Tool[] {
  const first = new Map<string, string>()
  const shorten = (tool: string, schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map((part) => shorten(tool, part))
    if (typeof schema !== 'object' || schema === null) return schema
    return Object.fromEntries(
      Object.entries(schema).map(([keyword, value]) => {
        const properties = keyword === 'properties' ? Properties.safeParse(value) : undefined
        if (properties?.success !== true) return [keyword, shorten(tool, value)]
        return [keyword, mapped(properties.data, (name, part) => said(tool, name, part))]
      }),
    )
  }
  const said = (tool: string, name: string, part: JsonObject): unknown => {
    const text = JSON.stringify(part)
    const other = first.get(`${name} ${text}`)
    if (other === undefined) first.set(`${name} ${text}`, tool)
    if (other === undefined || other === tool) return shorten(tool, part)
    const { description: _described, ...rest } = part
    return text.length < LONG ? rest : { ...pick(part, 'type'), description: sameAs(other) }
  }
  return tools.map((tool) => ({
    ...tool,
    inputSchema: { ...tool.inputSchema, ...JsonObject.parse(shorten(tool.name, tool.inputSchema)) },
  }))
}

function mapped(
  properties: Readonly<Record<string, JsonObject>>,
  change: (name: string, part: JsonObject) => unknown,
): object {
  return Object.fromEntries(
    Object.entries(properties).map(([name, part]) => [name, change(name, part)]),
  )
}

function pick(part: JsonObject, keyword: string): JsonObject {
  const value = part[keyword]
  return value === undefined ? {} : { [keyword]: value }
}
