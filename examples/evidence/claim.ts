/** What all checks of claims share. */
import type { Protocol } from './protocol.ts'
import { Refuted } from './rpc.ts'

/** A claim of the evidence; its properties depend on its kind. */
export type Claim = Readonly<Record<string, unknown>>
/** Reads what is published about a reward epoch; undefined where nobody said where that is. */
export type ReadPublished = ((epoch: number) => Promise<unknown>) | undefined
/** What claims need that is not on the chain. */
export interface Beside {
  readonly published?: ReadPublished
  /** URL of the P-chain API of a node. */
  readonly pChain?: string | undefined
}
/** Checks a claim and returns what the chain says. @throws Refuted, Unchecked */
export type Check = (
  protocol: Protocol,
  claim: Claim,
  chainId: number,
  beside: Beside,
) => Promise<string>

/** Refutes the claim unless something holds. */
export function must(holds: boolean, contradiction: string): void {
  if (!holds) throw new Refuted(contradiction)
}

/** Whether two values of JSON are equal; texts in any case, because addresses have checksums. */
export function isEqual(left: unknown, right: unknown): boolean {
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
  return JSON.stringify(sorted(left)) === JSON.stringify(sorted(right))
}

/** A finite number of a claim; some are texts. @throws Refuted for anything else */
export function number(claim: Claim, name: string): number {
  const value = claim[name]
  const read = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof read !== 'number' || !Number.isFinite(read)) {
    throw new Refuted(`${name} is no number, but ${JSON.stringify(value)}`)
  }
  return read
}

/** A whole number of a claim, such as one of a block or a round. @throws Refuted for anything else */
export function whole(claim: Claim, name: string): number {
  const read = number(claim, name)
  must(Number.isSafeInteger(read) && read >= 0, `${name} is no whole number, but ${read}`)
  return read
}

/**
 * Refutes the claim unless a round is of a reward epoch: the signing policy of another one says nothing about
 * duties in it.
 *
 * @param slack rounds by which it may be later
 */
export async function mustBeOf(
  { startOf }: Protocol,
  epoch: number,
  round: number,
  slack = 0,
): Promise<void> {
  const [start, next] = [await startOf(epoch), await startOf(epoch + 1)]
  must(start !== undefined && start <= round, `reward epoch ${epoch} begins after round ${round}`)
  must(
    next === undefined || round < next + slack,
    `reward epoch ${epoch} ended before round ${round}`,
  )
}

/** A text of a claim in lower case. */
export const text = (claim: Claim, name: string) => String(claim[name]).toLowerCase()
