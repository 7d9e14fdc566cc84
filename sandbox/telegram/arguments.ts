import { badRequest } from './refusal.ts'

/** An uploaded file of a request. */
export interface UploadedFile {
  readonly name: string
  readonly mimeType: string
  readonly bytes: Uint8Array
}

/**
 * The parameters of one call. Like the real server, reads every one as text, from a query, a form or JSON,
 * and decodes JSON where a method expects an object.
 */
export interface Arguments {
  /** The parameters as received, for the list of calls. */
  readonly given: Readonly<Record<string, unknown>>
  readonly texts: ReadonlyMap<string, string>
  readonly files: ReadonlyMap<string, UploadedFile>
}

/** Parameters from a decoded JSON object or form. `null` counts as absent. */
export function argumentsFrom(
  values: Readonly<Record<string, unknown>>,
  files: ReadonlyMap<string, UploadedFile> = new Map(),
): Arguments {
  const texts = new Map<string, string>()
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === undefined) continue
    texts.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  }
  return { given: values, texts, files }
}

/** The parameter's text; empty when absent. */
export function textArgument(args: Arguments, name: string): string {
  return args.texts.get(name) ?? ''
}

/** The parameter as a whole number; 0 when absent or malformed, like the real server. */
export function integerArgument(args: Arguments, name: string): number {
  const match = /^-?\d+/.exec(textArgument(args, name))
  return match ? Number(match[0]) : 0
}

/** True for `true`, `yes` and `1`. */
export function flagArgument(args: Arguments, name: string): boolean {
  return ['true', 'yes', '1'].includes(textArgument(args, name).toLowerCase())
}

/**
 * The parameter decoded from JSON; undefined when absent or empty.
 *
 * @param what how the error names it, such as `reply keyboard markup`
 * @throws BotApiRefusal 400 when it is no JSON
 */
export function jsonArgument(args: Arguments, name: string, what: string): unknown {
  const source = textArgument(args, name)
  if (source === '') return undefined
  try {
    return JSON.parse(source)
  } catch {
    throw badRequest(`can't parse ${what} JSON object`)
  }
}

/** Whether the value is a JSON object; arrays and null are not. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * A text field of a JSON object; empty when absent.
 *
 * @throws BotApiRefusal 400 for any other type
 */
export function textField(object: Readonly<Record<string, unknown>>, name: string): string {
  const value = object[name]
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  throw badRequest(`field "${name}" must be of type String`)
}

/**
 * A field of a JSON object that is true or false; false when absent.
 *
 * @throws BotApiRefusal 400 for any other type
 */
export function flagField(object: Readonly<Record<string, unknown>>, name: string): boolean {
  const value = object[name] ?? false
  if (typeof value !== 'boolean') throw badRequest(`field "${name}" must be of type Boolean`)
  return value
}

/** The parameters in readable form: JSON decoded, files as name and size. */
export function readableArguments(args: Arguments): Readonly<Record<string, unknown>> {
  const payload: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(args.given)) payload[name] = decoded(name, value)
  for (const [name, file] of args.files) {
    payload[name] = { file: file.name, bytes: file.bytes.byteLength }
  }
  return payload
}

const NUMBERS = ['chat_id', 'message_id', 'message_thread_id', 'reply_to_message_id']

/** A value of a form, which is text: objects, lists and common ids are converted to JSON values. */
function decoded(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (NUMBERS.includes(name) && /^-?\d+$/.test(value)) return Number(value)
  if (!/^[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
