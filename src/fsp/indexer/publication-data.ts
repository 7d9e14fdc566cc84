import { z } from 'zod'
import type { Validator } from '#src/chain/pchain.ts'
import { cleanOutsideText } from '#src/kernel/outside-text.ts'
import { Address } from '#src/kernel/units.ts'

/** One of so many registered voters may be without a row, else the calculation is only half published. */
const VOTERS_PER_MISSING = 5

/** Kinds of publications in the table. */
export const PASSES = 'passes'
export const REWARDS = 'rewards'
export const CLAIMS = 'claims'

/** The last published reward calculation as it is stored. */
export const StoredPasses = z.array(
  z.object({
    voter: Address,
    /** null: its row could not be read. */
    isEligible: z.boolean().nullable(),
    passes: z.number().nullable(),
    name: z.string().nullable(),
    failures: z.array(z.string()),
  }),
)
export type StoredPasses = z.output<typeof StoredPasses>

/**
 * One row of `passes.json` for each provider that had a part in the reward epoch.
 *
 */
const PassesRow = z.looseObject({
  rewardEpochId: z.coerce.number().int(),
  voterAddress: Address,
  eligibleForReward: z.boolean(),
  passes: z.number().nullish().catch(null),
  dataProviderName: z.string().nullish().catch(null),
  failures: z
    .array(z.looseObject({ failureId: z.string() }))
    .nullish()
    .catch(null),
})
/** The registry holds at most 100 voters. */
const ROWS_MAX = 2000
export const Passes = z.array(z.unknown()).min(1).max(ROWS_MAX)

/** `reward-distribution-data.json`. */
export const RewardData = z.looseObject({
  rewardEpochId: z.int(),
  merkleRoot: z.string(),
  rewardClaims: z.array(z.unknown()).default([]),
})
/** Only a provider's own claims matter. */
export const RewardClaim = z.looseObject({
  body: z.looseObject({
    beneficiary: Address,
    amount: z.string().regex(/^\d{1,77}$/),
    claimType: z.int(),
  }),
})

const NAME_LENGTH_MAX = 40
const FAILURE_LENGTH_MAX = 64
const FAILURES_MAX = 20

/** A stake's end in whole seconds; null where it is not a time. */
export function toAnswer(validator: Validator | undefined) {
  if (validator === undefined) return null
  const { connected, endsAt } = validator
  const seconds = endsAt === null ? Number.NaN : Math.trunc(endsAt.getTime() / 1000)
  return { connected, endsAt: Number.isSafeInteger(seconds) ? seconds : null }
}

/**
 * The rows of a calculation as they are stored; undefined where it is not to be believed: of another reward
 * epoch, or with far fewer rows than there were voters.
 *
 * @param voters registered for the reward epoch; where none is known, `before` says how many there are
 */
export function readPasses(
  epoch: number,
  values: readonly unknown[],
  voters: readonly Address[],
  before: StoredPasses | undefined,
): StoredPasses | undefined {
  const parsed = values.map((value) => PassesRow.safeParse(value))
  const rows = parsed.flatMap(({ data }) => (data === undefined ? [] : [data]))
  if (rows.length === 0 || rows.some(({ rewardEpochId }) => rewardEpochId !== epoch)) return
  const byVoter = new Map(rows.map((row) => [row.voterAddress, toStored(row)]))
  const expected = voters.length > 0 ? voters : (before ?? []).map(({ voter }) => voter)
  const missing = expected.filter((voter) => !byVoter.has(voter))
  if (missing.length * VOTERS_PER_MISSING > expected.length) return
  // Whose row cannot be read is not known not to be eligible.
  const isEach = rows.length === values.length
  const unknown = isEach ? [] : missing.map((voter) => ({ ...NOTHING_KNOWN, voter }))
  return [...byVoter.values(), ...unknown]
}

const NOTHING_KNOWN = { isEligible: null, passes: null, name: null, failures: [] }

function toStored(row: z.output<typeof PassesRow>): StoredPasses[number] {
  return {
    voter: row.voterAddress,
    isEligible: row.eligibleForReward,
    passes: row.passes ?? null,
    name: cleanOutsideText(row.dataProviderName ?? '', NAME_LENGTH_MAX) || null,
    failures: (row.failures ?? [])
      .slice(0, FAILURES_MAX)
      .map(({ failureId }) => cleanOutsideText(failureId, FAILURE_LENGTH_MAX)),
  }
}
