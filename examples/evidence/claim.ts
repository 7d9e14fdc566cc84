/** What all checks of claims share. */
import type { Protocol } from './protocol.ts'
import { Refuted } from './rpc.ts'

/** A claim of the evidence; its properties depend on its kind. */
export type Claim = Readonly<Record<string, unknown>>
/** Checks a claim and returns what the chain says. @throws Refuted, Unchecked */
export type Check = (protocol: Protocol, claim: Claim, chainId: number) => Promise<string>

/** Refutes the claim unless something holds. */
export function must(holds: boolean, contradiction: string): void {
  if (!holds) throw new Refuted(contradiction)
}

/** Whether two values of JSON are equal; texts in any case, because addresses have checksums. */
export function isEqual(one: unknown, other: unknown): boolean {
  const sorted = (value: unknown): unknown => {
    if (typeof value === 'string') return value.toLowerCase()
    if (Array.isArray(value)) return value.map(sorted)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, inner]) => [key, sorted(inner)]),
    )
  }
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))
}

/** A number of a claim, and a text in lower case. */
export const number = (claim: Claim, name: string) => Number(claim[name])
export const text = (claim: Claim, name: string) => String(claim[name]).toLowerCase()
