import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { Validator } from '#src/chain/pchain.ts'
import { cleanOutsideText } from '#src/kernel/outside-text.ts'
import { Address, Instant } from '#src/kernel/units.ts'

/** Eligibility data that lacks more than one in five registered voters counts as incomplete. */
const VOTERS_PER_MISSING = 5

/** Kinds of stored publications. */
export const PASSES_KIND = 'passes'
export const REWARDS_KIND = 'rewards'
export const CLAIMS_KIND = 'claims'

/** What eligibility data says about a provider. */
const EligibilityAnswer = z.object({
  /** Eligibility; null if the provider's row could not be parsed. */
  isEligible: z.boolean().nullable(),
  passes: z.number().nullable(),
  failures: z.array(z.string()),
})

/** Published eligibility data, in its stored form. */
export const StoredPasses = z.array(
  EligibilityAnswer.extend({
    voter: Address,
    name: z.string().nullable(),
    /** Earlier content of the row, before the data was published again, oldest first. */
    earlier: z.array(EligibilityAnswer.extend({ until: Instant })),
  }),
)
export type StoredPasses = z.output<typeof StoredPasses>

/** One row of `passes.json`, for each provider of the reward epoch. */
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
/** Maximum number of rows; the registry has at most 100 voters. */
const ROWS_MAX = 2000
export const PublishedPasses = z.array(z.unknown()).min(1).max(ROWS_MAX)

/** `reward-distribution-data.json`. */
export const RewardData = z.looseObject({
  rewardEpochId: z.int(),
  merkleRoot: z.string(),
  rewardClaims: z.array(z.unknown()).default([]),
})
/** Claims of delegators are skipped. */
export const PublishedClaim = z.looseObject({
  body: z.looseObject({
    beneficiary: Address,
    amount: z.string().regex(/^\d{1,77}$/),
    claimType: z.int(),
  }),
})

const NAME_LENGTH_MAX = 40
const FAILURE_LENGTH_MAX = 64
const FAILURES_MAX = 20

/**
 * Converts a validator to the stored form of a poll: the end of the stake in whole seconds; null where it
 * is not a time.
 */
export function toPolledValidator(validator: Validator | undefined) {
  if (validator === undefined) return null
  const { connected, endsAt } = validator
  const seconds = endsAt === null ? Number.NaN : Math.trunc(endsAt.getTime() / 1000)
  return { connected, endsAt: Number.isSafeInteger(seconds) ? seconds : null }
}

/**
 * Parses eligibility data into its stored form; undefined if it is not plausible, because it is of another
 * reward epoch or has far fewer rows than there are voters.
 *
 * @param voters voters registered for the reward epoch; if none is known, `before` determines the expected
 * number
 */
export function parsePasses(
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
  // A provider whose row cannot be parsed has unknown eligibility.
  const areAllReadable = rows.length === values.length
  const unknown = areAllReadable ? [] : missing.map((voter) => ({ ...NOTHING_KNOWN, voter }))
  return [...byVoter.values(), ...unknown]
}

const NOTHING_KNOWN = { isEligible: null, passes: null, name: null, failures: [], earlier: [] }
/** Result for a provider that eligibility data does not name: it is not eligible. */
const NOT_NAMED = { isEligible: false, passes: null, failures: [] }
/** Maximum number of earlier contents of a row that are stored. */
const EARLIER_MAX = 20

/**
 * Keeps the earlier content of eligibility data that is published again, so that a backtest sees what the
 * watches saw.
 *
 * @param before the stored form until now; undefined at the first publication
 */
export function withEarlierContent(
  rows: StoredPasses,
  before: StoredPasses | undefined,
  until: Date,
): StoredPasses {
  if (before === undefined) return rows
  const known = new Map(before.map((row) => [row.voter, row]))
  const named = new Set(rows.map(({ voter }) => voter))
  const gone = before.filter(({ voter }) => !named.has(voter))
  return [...rows, ...gone.map((row) => ({ ...row, ...NOT_NAMED }))].map((row) => {
    const { earlier, ...last } = known.get(row.voter) ?? { ...NOT_NAMED, earlier: [] }
    const answer = EligibilityAnswer.parse(last)
    if (isDeepStrictEqual(answer, EligibilityAnswer.parse(row))) return { ...row, earlier }
    return { ...row, earlier: [...earlier, { ...answer, until }].slice(-EARLIER_MAX) }
  })
}

/** The content of a row at a time. */
export function eligibilityAt(
  row: StoredPasses[number],
  at: Date,
): z.output<typeof EligibilityAnswer> {
  return row.earlier.find(({ until }) => until > at) ?? row
}

function toStored(row: z.output<typeof PassesRow>): StoredPasses[number] {
  return {
    voter: row.voterAddress,
    earlier: [],
    isEligible: row.eligibleForReward,
    passes: row.passes ?? null,
    name: cleanOutsideText(row.dataProviderName ?? '', NAME_LENGTH_MAX) || null,
    failures: (row.failures ?? [])
      .slice(0, FAILURES_MAX)
      .map(({ failureId }) => cleanOutsideText(failureId, FAILURE_LENGTH_MAX)),
  }
}
