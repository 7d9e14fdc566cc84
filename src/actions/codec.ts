/**
 * Data of a button: `1:<verb>[:<argument>…]` in ASCII, at most 64 bytes. `1` is the version of this codec.
 * Any client can send any data: arguments are parsed, and handlers look the object up by id and wallet and
 * check the rights of the person who pressed.
 *
 * A changed meaning gets a new verb; a changed list of arguments raises the version.
 */
import { z } from 'zod'
import { VERBS, type Verb } from './verbs.ts'

export type { MuteDuration, PartCode, Verb } from './verbs.ts'

const VERSION = '1'
const BYTES_MAX = 64
const ROW_ID = VERBS['watch.card'].id

/** Schema of button data that `packed` wrote, perhaps with verbs that are unknown here. */
export const ButtonData = z.string().brand<'ButtonData'>()
export type ButtonData = z.infer<typeof ButtonData>

/** Decoded arguments of a verb. */
export type ArgumentsOf<V extends Verb> = {
  readonly [Name in keyof (typeof VERBS)[V]]: z.output<(typeof VERBS)[V][Name] & z.ZodType>
}

/** Decoded data of a button. The verb tells the type of the arguments. */
export type Press<V extends Verb = Verb> = {
  readonly [Each in V]: { readonly verb: Each; readonly args: ArgumentsOf<Each> }
}[V]

/** Names of all verbs. */
export const VERB_NAMES: readonly Verb[] = Object.keys(VERBS).filter(isVerb)

/**
 * Encodes the data of a button: `packed('watch.pause', { id: 42 })` is `1:watch.pause:16`.
 *
 * @throws Error for arguments outside their bounds, or if the result is longer than 64 bytes
 */
export function packed<V extends Verb>(
  verb: V,
  ...[args]: keyof ArgumentsOf<V> extends never ? [] : [ArgumentsOf<V>]
): ButtonData {
  return write(verb, { ...args })
}

/** Data of a button that lists the alerts of the last 24 hours, with `watchId` only those of this watch. */
export function alertsOfLast24Hours(watchId?: number): ButtonData {
  const filter = { time: '24h', watchId } as const
  return packed('alert.list', { filter, cursor: undefined })
}

/** Decodes a button's data; undefined for another version, an unknown verb or invalid arguments. */
export function unpacked(data: string): Press | undefined {
  const [version, verb, ...texts] = data.split(':')
  if (version !== VERSION || verb === undefined || !isVerb(verb)) return undefined
  const schemas = Object.entries<z.ZodType<unknown, string>>(VERBS[verb])
  if (texts.length !== schemas.length) return undefined
  const args: Record<string, unknown> = {}
  for (const [index, [name, schema]] of schemas.entries()) {
    const parsed = schema.safeParse(texts[index])
    if (!parsed.success) return undefined
    args[name] = parsed.data
  }
  // Safe: the arguments were parsed with the schemas of this verb.
  return { verb, args } as Press
}

/** Whether a press is of this verb. */
export function isPressOf<V extends Verb>(
  press: Press | undefined,
  verb: V,
): press is Press & Press<V> {
  return press?.verb === verb
}

/**
 * The watch that a button names, even if its version is another or its verb was removed, so that an old
 * button can open the watch's screen.
 */
export function watchBehind(data: string): number | undefined {
  const digits = /^\d+:(?:watch\.(?!list:)|signal\.)\w+:([1-9a-z][0-9a-z]{0,6})(?::|$)/.exec(
    data,
  )?.[1]
  const parsed = ROW_ID.safeParse(digits)
  return parsed.success ? parsed.data : undefined
}

function write(verb: Verb, args: Readonly<Record<string, unknown>>): ButtonData {
  const schemas = Object.entries<z.ZodType<unknown, string>>(VERBS[verb])
  const texts = schemas.map(([name, schema]) => z.encode(schema, args[name]))
  const data = [VERSION, verb, ...texts].join(':')
  if (Buffer.byteLength(data) > BYTES_MAX) throw new Error(`${data} is too long for a button`)
  return ButtonData.parse(data)
}

function isVerb(name: string): name is Verb {
  return Object.hasOwn(VERBS, name)
}
