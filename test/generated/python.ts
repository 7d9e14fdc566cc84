/** Writes the generated part of `clients/python` from the OpenAPI document: types, and a method for each operation. */
import { type Described, Document, nameOf, type OperationEntry, operationsOf } from './client.ts'

/** The keywords of a schema that decide its type in Python. */
interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly oneOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly description?: string
}

const HEAD = '"""Generated from the operations of the service: npm run types:api"""'
const KEYWORDS = ['and', 'as', 'class', 'def', 'del', 'for', 'from', 'global', 'if', 'import']
const MORE_KEYWORDS = ['in', 'is', 'lambda', 'not', 'or', 'pass', 'raise', 'return', 'try', 'with']
const WIDTH = 96

const isKeyword = (name: string) => [...KEYWORDS, ...MORE_KEYWORDS].includes(name)
const isName = (name: string) => /^[A-Za-z_]\w*$/.test(name) && !isKeyword(name)

/** `create_watch` for `createWatch`. */
function snake(name: string): string {
  const text = name.replaceAll(/([A-Z])/g, (_all, letter: string) => `_${letter.toLowerCase()}`)
  return isKeyword(text) ? `${text}_` : text
}

/** The types of the document, each with the types of the objects inside it. */
export function writePythonModels(openApi: unknown): string {
  const document = Document.parse(openApi)
  // Safe: the schemas of an OpenAPI document.
  const schemas = document.components.schemas as Readonly<Record<string, Schema>>
  const types = new Types()
  for (const [name, schema] of Object.entries(schemas)) {
    // An event is a payload, whose data its name decides.
    if (name.endsWith('Event')) continue
    types.add(name, schema)
  }
  return [
    HEAD,
    '',
    'from __future__ import annotations',
    '',
    'from typing import Any, Literal, NotRequired, TypeAlias, TypedDict',
    '',
    ...types.text(),
    `EventName: TypeAlias = ${literal(eventNames(schemas))}`,
    '',
  ].join('\n')
}

function eventNames(schemas: Readonly<Record<string, Schema>>): readonly unknown[] {
  const variants = schemas['WebhookEvent']?.oneOf ?? []
  return variants.flatMap(
    ({ $ref = '' }) => schemas[nameOf($ref)]?.properties?.['event']?.enum ?? [],
  )
}

class Types {
  readonly #texts = new Map<string, string>()

  add(name: string, schema: Schema): void {
    const text =
      schema.type === 'object' && schema.properties !== undefined
        ? this.#object(name, schema)
        : `${name}: TypeAlias = ${this.typeOf(name, schema)}`
    this.#texts.set(name, text)
  }

  text(): readonly string[] {
    // A union names its types at once, so it follows them.
    const isUnion = (text: string) => /^\w+: TypeAlias/.test(text)
    const texts = [...this.#texts.values()]
    return [...texts.filter((text) => !isUnion(text)), ...texts.filter(isUnion)].flatMap((text) => [
      text,
      '',
    ])
  }

  #object(name: string, { properties = {}, required = [] }: Schema): string {
    const fields = Object.entries(properties).map(([key, schema]) => {
      const type = this.typeOf(`${name}${key[0]?.toUpperCase()}${key.slice(1)}`, schema)
      return [key, required.includes(key) ? type : `NotRequired[${type}]`] as const
    })
    if (fields.length === 0) return `class ${name}(TypedDict):\n    pass\n`
    if (fields.every(([key]) => isName(key))) {
      return [
        `class ${name}(TypedDict):`,
        ...fields.map(([key, type]) => `    ${key}: ${type}`),
        '',
      ].join('\n')
    }
    return [
      `${name} = TypedDict(`,
      `    "${name}",`,
      '    {',
      ...fields.map(([key, type]) => `        "${key}": ${JSON.stringify(type)},`),
      '    },',
      ')',
    ].join('\n')
  }

  /** @param name for a type of its own, if the schema is an object */
  typeOf(name: string, schema: Schema): string {
    const { $ref, type, items, additionalProperties } = schema
    if ($ref !== undefined) return $ref.endsWith('Event') ? 'WebhookPayload' : nameOf($ref)
    if (schema.enum !== undefined) return literal(schema.enum)
    if (schema.const !== undefined) return literal([schema.const])
    const variants = schema.oneOf ?? schema.anyOf
    if (variants !== undefined) {
      const all = variants.map((one, index) => this.typeOf(`${name}${index || ''}`, one))
      return [...new Set(all)].join(' | ')
    }
    if (type === 'array') return `list[${items === undefined ? 'Any' : this.typeOf(name, items)}]`
    if (type === 'object') {
      if (Object.keys(schema.properties ?? {}).length > 0) {
        this.add(name, schema)
        return name
      }
      const value = typeof additionalProperties === 'object' ? additionalProperties : undefined
      return `dict[str, ${value === undefined ? 'Any' : this.typeOf(name, value)}]`
    }
    if (typeof type === 'object') {
      return type.map((one) => this.typeOf(name, { ...schema, type: one })).join(' | ')
    }
    const names = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' }
    return names[type as keyof typeof names] ?? 'Any'
  }
}

function literal(values: readonly unknown[]): string {
  const python = (value: unknown) =>
    typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value)
  return `Literal[${values.map(python).join(', ')}]`
}

/** A class with a method for each operation. */
export function writePythonOperations(openApi: unknown): string {
  const document = Document.parse(openApi)
  const operations = operationsOf(document)
  return [
    HEAD,
    '',
    'from __future__ import annotations',
    '',
    'from collections.abc import Iterator',
    'from typing import Any, Literal',
    '',
    'from . import models as m',
    'from ._transport import Transport, all_pages',
    '',
    '',
    'class Operations(Transport):',
    '    """Every operation of the service."""',
    '',
    ...operations.flatMap((operation) => [...methodOf(operation), ...pagesOf(operation)]),
  ].join('\n')
}

interface Parameter {
  readonly name: string
  readonly given: string
  readonly type: string
  readonly required: boolean
}

function parametersOf({ document, entry }: Described) {
  const types = new Types()
  const of = (place: string): readonly Parameter[] =>
    entry.parameters
      .filter(({ in: where }) => where === place)
      .map(({ name, schema, required }) => ({
        name,
        given: snake(name),
        type: typeOfParameter(place, name, types.typeOf(name, schema as Schema)),
        required,
      }))
  const body = entry.requestBody?.content['application/json']?.schema
  const names = body?.$ref ? Object.keys(propertiesOf(document, nameOf(body.$ref))) : []
  const query = of('query')
  return {
    path: of('path'),
    // What the body can say as well needs no query.
    query: query.every(({ name }) => names.includes(name)) ? [] : query,
    body: body?.$ref === undefined ? undefined : `m.${nameOf(body.$ref)}`,
    bodyRequired: entry.requestBody?.required ?? false,
    headers: ['Idempotency-Key', 'If-Match'].filter((header) =>
      entry.parameters.some(({ name }) => name === header),
    ),
  }
}

function typeOfParameter(place: string, name: string, type: string): string {
  if (place === 'path') return 'str | int'
  return name === 'event' ? 'm.EventName' : type
}

function propertiesOf(document: Document, name: string): Readonly<Record<string, unknown>> {
  const schema = document.components.schemas[name] as Schema | undefined
  return schema?.properties ?? {}
}

function answerOf({ responses }: OperationEntry): { readonly type: string; readonly kind: string } {
  const contents = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content }]) => content)
  const content = contents.find((one) => one !== undefined)
  if (content === undefined) return { type: 'None', kind: 'none' }
  const json = content['application/json']?.schema
  if (json === undefined) return { type: 'str', kind: Object.keys(content)[0] ?? '' }
  return { type: json.$ref ? `m.${nameOf(json.$ref)}` : 'dict[str, Any]', kind: 'json' }
}

function methodOf(operation: Described): readonly string[] {
  const { entry, method, path } = operation
  const { path: inPath, query, body, bodyRequired, headers } = parametersOf(operation)
  const { type, kind } = answerOf(entry)
  const keyed = headers.includes('Idempotency-Key')
  const versioned = headers.includes('If-Match')
  const parameters = [
    'self',
    ...inPath.map(({ given, type: own }) => `${given}: ${own}`),
    ...(body === undefined ? [] : [bodyRequired ? `body: ${body}` : `body: ${body} | None = None`]),
    ...(query.length > 0 || keyed || versioned ? ['*'] : []),
    ...query.map(({ given, type: own, required }) =>
      required ? `${given}: ${own}` : `${given}: ${own} | None = None`,
    ),
    ...(keyed ? ['idempotency_key: str | None = None'] : []),
    ...(versioned ? ['if_match: str | None = None'] : []),
  ]
  const url =
    inPath.length > 0
      ? `f"${path.replaceAll(/\{(\w+)\}/g, (_all, name) => `{self._segment(${snake(name)})}`)}"`
      : `"${path}"`
  const facts = [
    `"${method.toUpperCase()}"`,
    url,
    ...(query.length > 0
      ? [`query={${query.map(({ name, given }) => `"${name}": ${given}`).join(', ')}}`]
      : []),
    ...(body === undefined ? [] : ['body=body']),
    ...(keyed ? ['key=idempotency_key', 'is_keyed=True'] : []),
    ...(versioned ? ['if_match=if_match'] : []),
    ...(kind === 'json' || kind === 'none' ? [] : [`accept="${kind}"`]),
  ]
  return [
    `    def ${snake(entry.operationId)}(`,
    ...parameters.map((parameter) => `        ${parameter},`),
    `    ) -> ${type}:`,
    ...docstring(entry),
    `        ${kind === 'none' ? '' : `answer: ${type} = `}self._request(`,
    ...facts.map((fact) => `            ${fact},`),
    '        )',
    ...(kind === 'none' ? [] : ['        return answer']),
    '',
  ]
}

/** A second method for a list, which follows its cursors. */
function pagesOf(operation: Described): readonly string[] {
  const { document, entry } = operation
  const { query } = parametersOf(operation)
  const { type } = answerOf(entry)
  const page = propertiesOf(document, type.slice(2))
  if (!query.some(({ name }) => name === 'cursor') || !('nextCursor' in page)) return []
  const item = new Types().typeOf('', ((page['data'] as Schema).items ?? {}) as Schema)
  const name = snake(entry.operationId)
  const others = query.filter(({ name: own }) => own !== 'cursor')
  return [
    `    def ${name.replace(/^list/, 'all')}(`,
    '        self,',
    '        *,',
    ...others.map(({ given, type: own }) => `        ${given}: ${own} | None = None,`),
    `    ) -> Iterator[m.${item}]:`,
    `        """Every item of \`${name}\`, page after page."""`,
    '        return all_pages(',
    `            lambda cursor: self.${name}(`,
    ...others.map(({ given }) => `                ${given}=${given},`),
    '                cursor=cursor,',
    '            )',
    '        )',
    '',
  ]
}

function docstring(entry: OperationEntry): readonly string[] {
  const { summary, description, 'x-scope': scope, 'x-conditional-scope': other } = entry
  const needs =
    scope === undefined ? 'no token' : [scope, ...(other ? [`sometimes ${other}`] : [])].join(', ')
  const text = (line: string) => wrapped(line.replaceAll('\\', '\\\\').replaceAll('"""', "'''"))
  return [
    ...text(`${summary}.`)
      .map((line, index) => (index === 0 ? `"""${line}` : line))
      .map((line) => `        ${line}`),
    '',
    ...description
      .split('\n')
      .flatMap((line) => text(line))
      .map((line) => `        ${line}`.trimEnd()),
    '',
    `        Needs: ${needs}.`,
    '        """',
  ]
}

function wrapped(text: string): readonly string[] {
  const lines: string[] = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last !== '' && last.length + word.length + 9 > WIDTH) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines
}
