/** Compares the figures of an alert with those of its claim, and says which of them nothing on the chain decides. */
import { must } from './claim.ts'
import type { Claim, Data, Kind } from './file.ts'

/** Names of figures in the alert, where they differ from those in the claim. */
const IN_DATA: Readonly<Record<string, string>> = {
  rewardEpoch: 'rewardEpochId',
  round: 'votingRoundId',
  firstRound: 'firstRoundId',
  required: 'rounds',
  transaction: 'tx',
  sender: 'from',
  receiver: 'to',
  probability: 'probabilityOfSilence',
  startRound: 'startVotingRoundId',
}
/** The block of a fast update is not the one at which the provider was judged. */
const OF_UPDATE: Readonly<Record<string, string>> = { block: 'updateBlock' }
/** The reward epoch of a calculation is not the one in force. */
const OF_ELIGIBILITY: Readonly<Record<string, string>> = { rewardEpoch: 'eligibilityEpochId' }

/**
 * Figures of claims that the chain does not decide, or does not decide exactly: settings of the watch, for which the
 * claim only must be true, and figures that the service estimates.
 */
const UNDECIDED: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  round: ['required'],
  silence: ['probability', 'sampleSize', 'threshold', 'onePercentBlocks'],
  registration: ['minutes'],
  balance: ['role', 'limitWei'],
  vote: ['openedAt', 'minutes'],
}
/** Figures of an alert that are checked although its claim does not have them. */
const CHECKED: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  round: ['since', 'roundStart'],
  eligibility: ['rewardEpochId'],
  vote: ['endedAt'],
}

/** The name in the alert of a figure of the claim. */
function nameIn(data: Data, kind: Kind, name: string): string {
  return (
    (kind === 'eligibility' && OF_ELIGIBILITY[name]) ||
    (kind === 'update' && OF_UPDATE[name]) ||
    (kind === 'round' && IN_DATA[name]) ||
    // A rate counts rounds under the name that a streak has for its rule.
    (name in data ? name : IN_DATA[name]) ||
    name
  )
}

/**
 * Refutes a claim that is not that of the alert.
 *
 * @returns names of the figures of both that are not checked
 */
export function checkData(data: Data, claim: Claim): readonly string[] {
  const { kind } = claim
  const { values = {}, ...rest } = claim as Data
  const compared = new Set(CHECKED[kind])
  for (const [name, value] of Object.entries({ ...rest, ...(values as Data) })) {
    const inData = nameIn(data, kind, name)
    const stated = data[inData]
    compared.add(inData)
    must(
      stated === undefined || JSON.stringify(stated) === JSON.stringify(value),
      `the alert says ${JSON.stringify(stated)} for ${name}, the claim ${JSON.stringify(value)}`,
    )
  }
  // Without an update, nothing says where the silence began: a shorter one is as true.
  const isOpen = kind === 'silence' && claim.lastUpdateBlock === null
  const undecided = [...(UNDECIDED[kind] ?? []), ...(isOpen ? ['blocksSinceUpdate'] : [])].filter(
    (name) => (rest[name] ?? null) !== null,
  )
  return [...undecided, ...Object.keys(data).filter((name) => !compared.has(name))]
}
