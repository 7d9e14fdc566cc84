/** Examples of alerts about a data provider. Pure. */
import type { EarningsPart, ProviderObservation } from '#src/fsp/indexer/observation-model.ts'
import type { Address, JsonObject } from '#src/kernel/units.ts'
import type { ProviderTarget } from '../provider-target.ts'
import { costData } from './cost.ts'

/** Addresses and a transaction of the provider in examples. */
export const PROVIDER_EXAMPLE = {
  provider: '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE',
  address: '0xc4a19715F3Dd209F01E84ABe65De7c2E9C8b6269',
  tx: '0x8f1b6ad9c2e34f70b5d1a8c6e7f90213d4b5a6978c0e1f2a3b4c5d6e7f801923',
} as const

/** A validator in examples. */
export const EXAMPLE_NODE = 'NodeID-EPLACd344ouymyJAQYXZBvbmU3NJ6ooeB'

/** What rounds are worth in examples. */
export const EXAMPLE_EARNINGS: EarningsPart = {
  roundsPerEpoch: 3360,
  newest: { rewardEpoch: 451, amountWei: '1680000000000000000000', weightRatio: 1 },
}

/** Address of a role of a watched provider; its identity address while the others are unknown. */
export function knownAddress(
  role: 'submit' | 'submitSignatures' | 'signingPolicy',
  { provider }: ProviderTarget,
  observation: ProviderObservation | undefined,
): Address {
  return observation?.addresses?.[role] ?? provider
}

/** An alert and a recovery of a signal about voting rounds. */
export function roundSignalExamples(signal: {
  readonly id: string
  readonly isStreak: boolean
  readonly isFree?: boolean
  readonly example: JsonObject
}): Readonly<Record<string, JsonObject>> {
  const common = {
    provider: PROVIDER_EXAMPLE.provider,
    rewardEpochId: 452,
    address: PROVIDER_EXAMPLE.address,
  }
  const streak = signal.isStreak ? 2 : 1
  const figuresOf = (rounds: number): JsonObject => ({
    others: { total: 97, failed: 1 },
    ...(signal.isFree === true ? {} : costData(rounds, EXAMPLE_EARNINGS)),
  })
  return {
    [`fsp.${signal.id}`]: {
      ...common,
      votingRoundId: 1_519_400,
      roundStart: '2026-11-20T12:00:00.000Z',
      since: signal.isStreak ? '2026-11-20T11:58:30.000Z' : '2026-11-20T12:00:00.000Z',
      firstRoundId: 1_519_401 - streak,
      streak,
      rounds: streak,
      ...signal.example,
      ...figuresOf(streak),
    },
    [`fsp.${signal.id}.recovered`]: {
      ...common,
      votingRoundId: 1_519_408,
      roundStart: '2026-11-20T12:12:00.000Z',
      since: '2026-11-20T12:12:00.000Z',
      missedRounds: 8,
      gapSeconds: 720,
      ...figuresOf(8),
    },
  }
}
