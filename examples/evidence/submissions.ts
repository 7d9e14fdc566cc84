/** Submissions of a round, told apart by the Submission contract they were sent to. */
import type { Policy } from './protocol.ts'

export const FTSO = 100
export const FDC = 200
export type ProtocolId = typeof FTSO | typeof FDC

export interface Sent {
  readonly payload: Buffer
  readonly tx: string
  readonly at: number
  /** The contract that it was sent to. */
  readonly to: string
}

export interface Seen {
  inTime?: Sent
  early?: Sent
  late?: Sent
}

/** Submissions of one provider for one round. */
export interface Submissions {
  readonly commit: Seen
  stray?: Sent
  readonly reveal: Seen
  readonly bitVote: Seen
  readonly signatures: Record<ProtocolId, Sent[]>
  readonly early: Partial<Record<ProtocolId, Sent>>
  /** FDC signatures between the end of the round and the end of its reveals. */
  readonly withReveals: Sent[]
}

export interface Result {
  readonly isSecure: boolean
  readonly root: string
  readonly at: number
}

export interface Round {
  readonly round: number
  readonly policy: Policy
  readonly windows: Windows
  /** Submissions by contract, then by place in the policy. */
  readonly contracts: Map<string, Map<number, Submissions>>
  readonly requests: string[]
  readonly results: Partial<Record<ProtocolId, Result>>
}

/** A round with its submissions told apart by `settle`. */
export interface SettledRound extends Round {
  /** Submissions to the contract of the round, by place in the policy. */
  readonly sent: ReadonlyMap<number, Submissions>
  /** Those to other Submission contracts, which the protocol ignores. */
  readonly elsewhere: ReadonlyMap<number, Submissions>
  /** The contract of the round, by function. */
  readonly contractOf: Readonly<Partial<Record<string, string>>>
}

export interface Windows {
  readonly start: number
  readonly end: number
  readonly revealEnd: number
  readonly graceEnd: number
  readonly complete: number
}

export function nothing(): Submissions {
  const signatures = { [FTSO]: [], [FDC]: [] }
  return { commit: {}, reveal: {}, bitVote: {}, signatures, early: {}, withReveals: [] }
}

const hasAny = (seen: object) => Object.keys(seen).length > 0
/** The parts of submissions by function, and whether they have anything. */
const PARTS = {
  submit1: {
    of: ({ commit, stray }: Submissions) => ({ commit, ...(stray && { stray }) }),
    has: ({ commit, stray }: Submissions) => hasAny(commit) || stray !== undefined,
  },
  submit2: {
    of: ({ reveal, bitVote }: Submissions) => ({ reveal, bitVote }),
    has: ({ reveal, bitVote }: Submissions) => hasAny(reveal) || hasAny(bitVote),
  },
  submitSignatures: {
    of: ({ signatures, early, withReveals }: Submissions) => ({ signatures, early, withReveals }),
    has: ({ signatures, early }: Submissions) =>
      signatures[FTSO].length + signatures[FDC].length > 0 || hasAny(early),
  },
} as const
type FunctionName = keyof typeof PARTS

/**
 * Tells submissions to the contract of the round from those to other ones. The contract of a round is the one to
 * which most of the weight submitted, for each function.
 */
export function settle(round: Round): SettledRound {
  const { contracts, policy } = round
  const names = Object.keys(PARTS) as FunctionName[]
  const contractOf = Object.fromEntries(
    names.flatMap((name) => {
      const weights = [...contracts].map(([address, all]) => {
        const places = [...all].filter(([, evidence]) => PARTS[name].has(evidence))
        const sum = places.reduce((total, [at]) => total + (policy.members[at]?.weight ?? 0), 0)
        return { address, sum }
      })
      const [most] = weights.sort((a, b) => b.sum - a.sum)
      return most === undefined || most.sum === 0 ? [] : [[name, most.address]]
    }),
  )
  const places = new Set([...contracts.values()].flatMap((all) => [...all.keys()]))
  const assemble = (isOwn: boolean) =>
    new Map(
      [...places].map((place) => {
        const part = (name: FunctionName) => {
          const found = [...contracts]
            .filter(([address]) => (address === contractOf[name]) === isOwn)
            .flatMap(([, all]) => all.get(place) ?? [])
            .find(PARTS[name].has)
          return PARTS[name].of(found ?? nothing())
        }
        return [place, { ...nothing(), ...Object.assign({}, ...names.map(part)) }] as const
      }),
    )
  return { ...round, contractOf, sent: assemble(true), elsewhere: assemble(false) }
}
