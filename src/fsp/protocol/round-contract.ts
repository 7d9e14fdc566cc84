import { FDC_PROTOCOL, FTSO_PROTOCOL, type SubmitFunction } from './framing.ts'
import type { IndexedPolicy } from './policy.ts'
import {
  emptyProviderEvidence,
  type OpenRound,
  type ProviderEvidence,
  type RoundEvidence,
  type Submissions,
} from './round-evidence.ts'

/**
 * The Submission contract of a round. Contracts move, and blocks can be read long after a move. So the
 * contract of a round is the contract to which the most weight of its policy submitted. It is determined
 * for each function separately, because a move can happen during the round.
 */

/** The part of a provider's evidence that each function fills. */
const PART_OF = {
  submit1: ({ commit, strayCommit }: ProviderEvidence) => ({
    commit,
    ...(strayCommit && { strayCommit }),
  }),
  submit2: ({ reveal, bitVote }: ProviderEvidence) => ({ reveal, bitVote }),
  submitSignatures: (evidence: ProviderEvidence) => {
    const { signatures, earlySignature, signaturesWithReveals } = evidence
    return { signatures, earlySignature, signaturesWithReveals }
  },
} as const
const FUNCTIONS = ['submit1', 'submit2', 'submitSignatures'] as const

/** For each submit function: whether a provider called it in the round. */
const HAS_CALLED: Readonly<Record<SubmitFunction, (evidence: ProviderEvidence) => boolean>> = {
  submit1: ({ commit, strayCommit }) => isSeen(commit) || strayCommit !== undefined,
  submit2: ({ reveal, bitVote }) => isSeen(reveal) || isSeen(bitVote),
  submitSignatures: ({ signatures, earlySignature }) =>
    signatures[FTSO_PROTOCOL].length + signatures[FDC_PROTOCOL].length > 0 ||
    isSeen(earlySignature),
}

function isSeen(seen: object): boolean {
  return Object.keys(seen).length > 0
}

/**
 * Completes a round: separates submissions to the contract of the round from submissions to other
 * contracts.
 */
export function toRoundEvidence({ contracts, ...round }: OpenRound): RoundEvidence {
  const [first] = contracts
  if (first === undefined || contracts.size === 1) {
    const [address, providers = new Map()] = first ?? []
    const contractOf = Object.fromEntries(
      address === undefined ? [] : FUNCTIONS.map((name) => [name, address]),
    )
    return { ...round, providers, elsewhere: new Map(), contractOf }
  }
  const contractOf = Object.fromEntries(
    FUNCTIONS.flatMap((name) => {
      const address = heaviest(contracts, round.policy, name)
      return address === undefined ? [] : [[name, address] as const]
    }),
  )
  const ofRound = (name: SubmitFunction) => [contracts.get(contractOf[name] ?? '')]
  const others = (name: SubmitFunction) =>
    [...contracts].flatMap(([address, all]) => (address === contractOf[name] ? [] : [all]))
  return {
    ...round,
    contractOf,
    providers: assembled(contracts, ofRound),
    elsewhere: assembled(contracts, others),
  }
}

/** The contract with the most weight of submissions of a function; the first of equals. */
function heaviest(
  contracts: OpenRound['contracts'],
  { providers }: IndexedPolicy,
  name: SubmitFunction,
): string | undefined {
  const weights = [...contracts].map(([address, all]) => {
    const submitting = [...all].filter(([, evidence]) => HAS_CALLED[name](evidence))
    return {
      address,
      weight: submitting.reduce((sum, [index]) => sum + (providers[index]?.weight ?? 0), 0),
    }
  })
  const [most] = weights.toSorted((a, b) => b.weight - a.weight)
  return most === undefined || most.weight === 0 ? undefined : most.address
}

/**
 * Every provider's evidence. For each function it comes from the first of the given contracts that has
 * evidence.
 */
function assembled(
  contracts: OpenRound['contracts'],
  contractsOf: (name: SubmitFunction) => readonly (Submissions | undefined)[],
): Submissions {
  const indexes = new Set([...contracts.values()].flatMap((all) => [...all.keys()]))
  return new Map(
    [...indexes].map((index) => {
      const partOf = <Name extends SubmitFunction>(name: Name) => {
        const providerEvidence = contractsOf(name)
          .flatMap((all) => all?.get(index) ?? [])
          .find(HAS_CALLED[name])
        return PART_OF[name](providerEvidence ?? emptyProviderEvidence()) as ReturnType<
          (typeof PART_OF)[Name]
        >
      }
      return [
        index,
        { ...partOf('submit1'), ...partOf('submit2'), ...partOf('submitSignatures') },
      ] as const
    }),
  )
}
