/** Changes every figure of evidence, to find those that the script of examples/ does not check. */
import { expect } from 'vitest'
import type { EvidenceVerdict } from '../../examples/evidence/check.ts'
import { someOfEachKind } from '../support/runs.ts'

type Part = Record<string, unknown>

/** The parts of evidence that have figures. */
export interface Evidence {
  readonly claim: Part
  readonly data: Part
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
  const named = /not checked: ([^)]*)\)$/.exec(said)?.[1]?.split(', ') ?? []
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
        // Where the claim is changed, the alert says nothing else.
        const same = name === 'data' ? [] : Object.keys(other.data)
        for (const key of same) if (other.data[key] === before) delete other.data[key]
        if ((await check(other)).code === 0) confirmed.push(`${name}.${figure} ${by}`)
      }
    }
  }
  return confirmed
}
