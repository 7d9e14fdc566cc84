/** What all checks of claims share. */
import type { ClaimOf, Evidence, Kind } from './file.ts'
import type { Protocol } from './protocol.ts'
import { Refuted } from './rpc.ts'

/** Reads what is published about a reward epoch; undefined where nobody said where that is. */
export type ReadPublished = ((epoch: number) => Promise<unknown>) | undefined
/** What claims need that is not on the chain. */
export interface Beside {
  readonly published?: ReadPublished
  /** URL of the P-chain API of a node. */
  readonly pChain?: string | undefined
}
/** The alert that makes a claim. */
export type OfAlert = Pick<Evidence, 'chainId' | 'firedAt' | 'data' | 'blocks'>
/** Checks a claim and returns what the chain says. @throws Refuted, Unchecked */
export type Check<K extends Kind> = (
  protocol: Protocol,
  claim: ClaimOf<K>,
  alert: OfAlert,
  beside: Beside,
) => Promise<string>

/** Refutes the claim unless something holds. */
export function must(holds: boolean, contradiction: string): void {
  if (!holds) throw new Refuted(contradiction)
}

/** Whether two values of JSON are equal, in whatever order of their properties. */
export function isEqual(left: unknown, right: unknown): boolean {
  const sorted = (value: unknown): unknown => {
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

/** Refutes the claim unless one of these reward epochs was in force at the time of the alert. */
export async function mustBeIn(
  { clock, startOf }: Protocol,
  { firedAt }: Pick<OfAlert, 'firedAt'>,
  [first, last]: readonly [number, number],
): Promise<void> {
  const settings = await clock()
  const round = Math.floor((Date.parse(firedAt) / 1000 - settings.first) / settings.length)
  // The chain may not know an epoch before its first.
  const [start, end] = [(await startOf(first)) ?? (await startOf(last)), await startOf(last + 1)]
  const isIn = start !== undefined && start <= round && (end === undefined || round < end)
  must(isIn, `at ${firedAt} none of the reward epochs ${first} to ${last} was in force`)
}
