/** Changes every figure of evidence, to find those that the script of examples/ does not check. */
import { expect } from 'vitest'
import type { EvidenceVerdict } from '../../examples/evidence/check.ts'
import { decodeEvidence } from '../../examples/evidence/file.ts'
import { someOfEachKind } from '../support/runs.ts'

type Part = Record<string, unknown>

/** The parts of evidence that have figures. */
export interface Evidence {
  readonly claim: Part
  readonly data: Part
}

/** The figures that a confirmation names as not checked. */
function namedIn(said: string): readonly string[] {
  return /not checked: ([^)]*)\)$/.exec(said)?.[1]?.split(', ') ?? []
}

/** The figures and times of a part of the evidence. */
function figuresOf(part: Part): readonly string[] {
  return Object.entries(part)
    .filter(([, value]) => typeof value !== 'boolean' && value !== null)
    .filter(([, value]) => Number(value) < 1e30 || /^\d{4}-\d\d-\d\dT/.test(String(value)))
    .map(([name]) => name)
}

/** A figure or time that is a little less or more. */
export function moved(value: unknown, by: number): unknown {
  if (typeof value === 'number') return value + by
  if (/^\d+$/.test(String(value))) return String(BigInt(String(value)) + BigInt(by))
  if (Number.isFinite(Number(value))) return String(Number(value) * (1 + by / 2))
  return new Date(Date.parse(String(value)) + 90_000 * by).toISOString()
}

/** Both directions of a change, or a random one. */
const directions = () => someOfEachKind([-1, 1])

/**
 * Figures that can be changed so that the evidence is still confirmed, but for those that are named as not checked.
 * Each figure is changed in a random direction; with `npm run test:soak`, in both.
 */
export async function confirmedChanges(
  evidence: Evidence,
  check: (evidence: Evidence) => Promise<EvidenceVerdict>,
): Promise<readonly string[]> {
  const { code, said } = await check(evidence)
  expect({ code, said }).toMatchObject({ code: 0 })
  const named = namedIn(said)
  const parts = {
    data: ({ data }: Evidence) => data,
    claim: ({ claim }: Evidence) => claim,
    values: ({ claim }: Evidence) => (claim['values'] ?? {}) as Part,
  }
  const confirmed: string[] = []
  for (const [name, partOf] of Object.entries(parts)) {
    for (const figure of figuresOf(partOf(evidence)).filter((figure) => !named.includes(figure))) {
      for (const by of directions()) {
        const other = structuredClone(evidence)
        const part = partOf(other)
        const before = part[figure]
        part[figure] = moved(before, by)
        // Where the claim is changed, the alert says the same.
        const same = name === 'data' ? [] : Object.keys(other.data)
        for (const key of same) if (other.data[key] === before) other.data[key] = part[figure]
        if ((await check(other)).code === 0) confirmed.push(`${name}.${figure} ${by}`)
      }
    }
  }
  return confirmed
}

type Path = readonly (string | number)[]

/** All texts, numbers and lists in a value. */
function leavesOf(value: unknown, path: Path = []): readonly (readonly [Path, unknown])[] {
  if (typeof value === 'string' || typeof value === 'number') return [[path, value]]
  if (typeof value !== 'object' || value === null) return []
  const inner = Array.isArray(value)
    ? value.flatMap((own, at) => leavesOf(own, [...path, at]))
    : Object.entries(value).flatMap(([name, own]) => leavesOf(own, [...path, name]))
  return Array.isArray(value) ? [[path, value], ...inner] : inner
}

const capital = (text: string) => text.replace(/[a-z]/, (letter) => letter.toUpperCase())

/** The same in another case, notation, type or order. */
function formsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return [value.toReversed(), [...value, ...value.slice(0, 1)], null]
  if (typeof value === 'number') {
    const hex = `0x${Math.trunc(value).toString(16)}`
    return [String(value), hex, value.toExponential(), [value], value !== 0, null]
  }
  const text = String(value)
  const cases = [text.toUpperCase(), text.toLowerCase(), capital(text)]
  const notations = [` ${text}`, `${text} `, `${text}\u200b`, text.replace(/^0x/, '0X')]
  const numbers = /^\d+$/.test(text)
    ? [`0x${BigInt(text).toString(16)}`, `0${text}`, `${text}.0`]
    : []
  const times = [text.replace(/\.000Z$/, 'Z'), text.replace(/Z$/, '+00:00')]
  return [...cases, ...notations, ...numbers, ...times, Number(text), [text], null]
}

function withAt(root: unknown, path: Path, value: unknown): void {
  const owner = path.slice(0, -1).reduce((own, key) => (own as Part)[key], root) as Part
  owner[path.at(-1) as string] = value
}

/** What the script makes of it in its closed form; undefined where it refuses the file. */
function closed(evidence: unknown): string | undefined {
  try {
    return JSON.stringify(decodeEvidence(JSON.stringify(evidence)))
  } catch {
    return undefined
  }
}

/**
 * Texts, numbers and lists of which another case, notation, type or order is confirmed, unless it means the same or is
 * named as not checked. Each is changed alone, and wherever the file has the same value.
 */
export async function confirmedForms(
  evidence: Evidence,
  check: (evidence: Evidence) => Promise<EvidenceVerdict>,
): Promise<readonly string[]> {
  const { code, said } = await check(evidence)
  expect({ code, said }).toMatchObject({ code: 0 })
  const [named, same] = [namedIn(said), closed(evidence)]
  const leaves = leavesOf(evidence).filter(([path]) => path.length > 0)
  const confirmed: string[] = []
  for (const [path, value] of leaves) {
    const alike = leaves.filter(([, other]) => JSON.stringify(other) === JSON.stringify(value))
    for (const form of formsOf(value)) {
      if (JSON.stringify(form) === JSON.stringify(value)) continue
      for (const places of alike.length > 1 ? [[path], alike.map(([place]) => place)] : [[path]]) {
        const other = structuredClone(evidence)
        for (const place of places) withAt(other, place, form)
        const read = closed(other)
        if (read === undefined || read === same) continue
        const isNamed = places.every((place) => place.some((key) => named.includes(String(key))))
        if (!isNamed && (await check(other)).code === 0) {
          confirmed.push(`${path.join('.')}: ${JSON.stringify(form)}`)
        }
      }
    }
  }
  return confirmed
}
