import { z } from 'zod'
import { JsonObject } from '#src/kernel/units.ts'
import {
  type CheckVerdict,
  type ProviderRound,
  ROUND_CHECKS,
  type RoundCheck,
  TIMED_DUTIES,
} from '../protocol/verdict.ts'
import {
  BalancePart,
  EarningsPart,
  FastUpdatesPart,
  NodePart,
  PolicyPart,
  RegistrationPart,
  RewardsPart,
  type StoredCheck,
  TransactionPart,
  VotingAddresses,
} from './observation-model.ts'

const Margins = z.array(z.int().nullable())
const Three = z.tuple([z.int(), z.int(), z.int()])

/**
 * Counts of a provider in the reward epoch up to a round: the first round of the epoch, the expected first round of the
 * next, and the judged rounds; of prices and of the FDC fulfilled cases, possible cases, and rounds with evidence;
 * accepted fast updates of the provider, of all, and the millionths of the weight that the provider has.
 */
const EpochRecord = z.tuple([Three, Three, Three, Three])
export type EpochRecord = z.output<typeof EpochRecord>

/**
 * A provider's round in its stored form: one letter per check, and the values of bad checks. The fields
 * below `e` are stored for watched providers only.
 */
export const RoundRecord = z.object({
  /**
   * One letter for each of `ROUND_CHECKS`: g, b, u or n. Absent if the provider was not in the signing
   * policy.
   */
  c: z.string().exactOptional(),
  /** Values of the bad checks. */
  v: z.record(z.string(), JsonObject).exactOptional(),
  /** Anchor feeds: number of prices within 0.5 % of the median, and number of feeds with a median. */
  a: z.tuple([z.int(), z.int()]).exactOptional(),
  /** Seconds that were left of each of `TIMED_DUTIES`; absent without any. */
  m: Margins.exactOptional(),
  /** Counts of the reward epoch up to the round. */
  e: EpochRecord.exactOptional(),
  addresses: VotingAddresses.exactOptional(),
  policy: PolicyPart.exactOptional(),
  registration: RegistrationPart.exactOptional(),
  fastUpdates: FastUpdatesPart.exactOptional(),
  /**
   * For each silence or registration that ended between the previous round and this round: the state at the
   * last block before it ended. Oldest first.
   */
  between: z
    .array(
      z.object({
        block: z.int(),
        /** Time of the block, epoch seconds. */
        at: z.int(),
        registration: RegistrationPart.exactOptional(),
        fastUpdates: FastUpdatesPart.exactOptional(),
      }),
    )
    .exactOptional(),
  transactions: z.array(TransactionPart).exactOptional(),
  balances: z.array(BalancePart).exactOptional(),
  nodes: z.array(NodePart).exactOptional(),
  rewards: RewardsPart.exactOptional(),
  earnings: EarningsPart.exactOptional(),
})
export type RoundRecord = z.output<typeof RoundRecord>

const LETTERS: Readonly<Record<CheckVerdict, string>> = {
  good: 'g',
  bad: 'b',
  unknown: 'u',
  'not-applicable': 'n',
}
const VERDICTS: Readonly<Record<string, CheckVerdict>> = {
  g: 'good',
  b: 'bad',
  u: 'unknown',
  n: 'not-applicable',
}

/** Encodes the verdicts of a provider's round. */
export function toRoundRecord({ checks, anchors, margins }: ProviderRound): RoundRecord {
  const bad = ROUND_CHECKS.flatMap((name) => {
    const { verdict, values } = checks[name]
    return verdict === 'bad' && values !== undefined
      ? [[name, JsonObject.parse(values)] as const]
      : []
  })
  return {
    c: ROUND_CHECKS.map((name) => LETTERS[checks[name].verdict]).join(''),
    ...(bad.length > 0 && { v: Object.fromEntries(bad) }),
    ...(anchors && { a: [anchors.hits, anchors.possible] }),
    ...(margins.some((margin) => margin !== null) && { m: [...margins] }),
  }
}

/** Seconds that were left of a duty in a round; null if they are not known, as in a row from before they were stored. */
export function marginIn(stored: unknown, duty: (typeof TIMED_DUTIES)[number]): number | null {
  return Margins.safeParse(stored).data?.[TIMED_DUTIES.indexOf(duty)] ?? null
}

/**
 * Decodes the verdicts; an unknown or missing letter becomes `unknown`, so that one record does not hide the verdicts
 * of all providers. Returns null for a provider that was not in the signing policy.
 */
export function checksInRecord({
  c,
  v,
}: RoundRecord): Readonly<Record<RoundCheck, StoredCheck>> | null {
  if (c === undefined) return null
  const entries = ROUND_CHECKS.map((name, place): [RoundCheck, StoredCheck] => {
    const values = v?.[name]
    const verdict = VERDICTS[c[place] ?? 'u'] ?? 'unknown'
    return [name, values === undefined ? { verdict } : { verdict, values }]
  })
  return Object.fromEntries(entries) as Record<RoundCheck, StoredCheck>
}
