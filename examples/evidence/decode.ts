/** Decodes JSON into closed forms: one notation for each value, and no property that is not known. */
import { Unchecked } from './rpc.ts'

/** Decodes a value. @throws Unchecked for any other value, with its place */
export type Decoder<T> = (value: unknown, place: string) => T
export type Decoded<D> = D extends Decoder<infer T> ? T : never
type Shape = Readonly<Record<string, Decoder<unknown>>>
type DecodedShape<S extends Shape> = { readonly [Name in keyof S]: Decoded<S[Name]> }

const SHOWN_MAX = 60
/** Characters of a file; three transactions with their calldata have fewer. */
const JSON_MAX = 4_000_000

function refuse(place: string, value: unknown): never {
  const shown = JSON.stringify(value) ?? String(value)
  throw new Unchecked(`${place} has a form that is not known here: ${shown.slice(0, SHOWN_MAX)}`)
}

/** A text of which only this form is known. */
function matching(form: RegExp): Decoder<string> {
  return (value, place) =>
    typeof value === 'string' && form.test(value) ? value : refuse(place, value)
}

/** One of these words, exactly. */
export function word<const W extends string>(...words: readonly W[]): Decoder<W> {
  return (value, place) => words.find((known) => known === value) ?? refuse(place, value)
}

const mixed = (form: RegExp): Decoder<string> => {
  const decode = matching(form)
  return (value, place) => decode(value, place).toLowerCase()
}
/** An address, which may have a check sum in its case; in lower case. */
export const address = mixed(/^0x[\da-fA-F]{40}$/)
/** 32 bytes; in lower case. */
export const hash = mixed(/^0x[\da-fA-F]{64}$/)
export const bytes = matching(/^0x(?:[\da-f]{2})*$/)
export const selector = matching(/^0x[\da-f]{8}$/)
/** A whole amount of smallest units. */
export const units = matching(/^(?:0|[1-9]\d{0,77})$/)
/** A chance such as `2.6e-8`. */
export const chance = matching(/^\d\.\de[+-](?:0|[1-9]\d{0,4})$/)
export const nodeId = matching(/^NodeID-[1-9A-HJ-NP-Za-km-z]{1,60}$/)
/** A name of the service. */
export const name = matching(/^[a-z][a-z\d.-]{0,59}$/)
/** Any text; it is compared, and never read as anything else. */
export const text: Decoder<string> = (value, place) =>
  typeof value === 'string' ? value : refuse(place, value)

export const boolean: Decoder<boolean> = (value, place) =>
  typeof value === 'boolean' ? value : refuse(place, value)
export const number: Decoder<number> = (value, place) =>
  typeof value === 'number' && Number.isFinite(value) ? value : refuse(place, value)
/** A whole number that is not negative. */
export const whole: Decoder<number> = (value, place) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
    ? value
    : refuse(place, value)
/** A time as `Date.toISOString` writes it. */
export const instant: Decoder<string> = (value, place) => {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  if (Number.isNaN(ms) || new Date(ms).toISOString() !== value) return refuse(place, value)
  return value
}

export function nullable<T>(decode: Decoder<T>): Decoder<T | null> {
  return (value, place) => (value === null ? null : decode(value, place))
}

export function list<T>(decode: Decoder<T>, max: number): Decoder<readonly T[]> {
  return (value, place) => {
    if (!Array.isArray(value)) return refuse(place, value)
    if (value.length > max) throw new Unchecked(`${place} has more than ${max} entries`)
    return value.map((entry, at) => decode(entry, `${place}[${at}]`))
  }
}

function properties(value: unknown, place: string, known: readonly string[]) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refuse(place, value)
  }
  const unknown = Object.keys(value).find((key) => !known.includes(key))
  if (unknown !== undefined) {
    throw new Unchecked(`${place} has a property that is not known here: ${unknown}`)
  }
  return value as Readonly<Record<string, unknown>>
}

/** An object with these properties, and optional ones. */
export function object<S extends Shape, O extends Shape = Record<never, never>>(
  shape: S,
  optional: O = {} as O,
): Decoder<DecodedShape<S> & Partial<DecodedShape<O>>> {
  const known = [...Object.keys(shape), ...Object.keys(optional)]
  return (value, place) => {
    const given = properties(value, place, known)
    const decoders = { ...optional, ...shape }
    const present = Object.entries(decoders).filter(
      ([key]) => key in shape || Object.hasOwn(given, key),
    )
    const own = (key: string) => (Object.hasOwn(given, key) ? given[key] : undefined)
    return Object.fromEntries(
      present.map(([key, decode]) => [key, decode(own(key), `${place}.${key}`)]),
    ) as DecodedShape<S> & Partial<DecodedShape<O>>
  }
}

/** Number of properties of all objects in a value. */
function countProperties(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner = Object.values(value).reduce((sum: number, own) => sum + countProperties(own), 0)
  return inner + (Array.isArray(value) ? 0 : Object.keys(value).length)
}

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown
const parse = JSON.parse as (json: string, reviver: Reviver) => unknown

/** Parses JSON with numbers in the notation of JSON.stringify, and with no property twice. @throws Unchecked */
export function parseJson(json: string, what: string): unknown {
  if (json.length > JSON_MAX) throw new Unchecked(`${what} has more than ${JSON_MAX} characters`)
  let parsed: unknown
  try {
    parsed = parse(json, (_key, value, { source }) =>
      typeof value === 'number' && source !== JSON.stringify(value)
        ? refuse(`a number of ${what}`, source)
        : value,
    )
  } catch (error) {
    if (error instanceof Unchecked) throw error
    throw new Unchecked(`${what} is no JSON: ${(error as Error).message}`)
  }
  const colons = json.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1
  if (colons !== countProperties(parsed)) throw new Unchecked(`${what} has a property twice`)
  return parsed
}
