/** What an alert about a data provider says of the other providers, and of what its outage costs. Pure. */
import { z } from 'zod'
import type { DisplayValue, DisplayValues } from './display-values.ts'
import { type JsonObject, Units } from './units.ts'

/** How many of the other providers failed the same in the same rounds. */
export const OtherProviders = z
  .object({
    /** The other providers of which it is known. */
    total: z.int().meta({ description: 'operations:field.othersTotal' }),
    failed: z.int().meta({ description: 'operations:field.othersFailed' }),
  })
  .meta({ id: 'OtherProviders' })
export type OtherProviders = z.output<typeof OtherProviders>

/** The rounds of an outage, and about how much rewards as many rounds earn. */
export const OutageCost = z
  .object({
    /** Number of rounds that failed since the outage began. */
    rounds: z.int().meta({ description: 'operations:field.costRounds' }),
    /** Number of rounds in a reward epoch. */
    ofRounds: z.int().meta({ description: 'operations:field.costOfRounds' }),
    /**
     * What as many rounds of `source` earned the provider, scaled by its weight since; null where no rewards are published. A single duty earns a part
     * of it, and penalties are not included.
     */
    amountWei: Units.nullable().meta({ description: 'operations:field.costAmount' }),
    symbol: z.string(),
    /** The published rewards of the provider that `amountWei` follows from. */
    source: z
      .object({
        rewardEpochId: z.int().meta({ description: 'operations:field.costEpoch' }),
        amountWei: Units.meta({ description: 'operations:field.costPublished' }),
        weightRatio: z
          .number()
          .nullable()
          .meta({ description: 'operations:field.costWeightRatio' }),
      })
      .nullable()
      .meta({ description: 'operations:field.costSource' }),
  })
  .meta({ id: 'OutageCost' })
export type OutageCost = z.output<typeof OutageCost>

/** Share of the other providers from which on the cause is probably the network. */
const NETWORK_SHARE = 0.3
/** Fewer providers than these can have a cause of their own in common, such as one operator. */
const NETWORK_PROVIDERS = 3

/** Whether so many other providers failed that the cause is probably the network. */
export function isNetworkWide({ total, failed }: OtherProviders): boolean {
  return failed >= NETWORK_PROVIDERS && failed >= NETWORK_SHARE * total
}

/** Both; each is undefined if it is unknown. */
export interface OutageFigures {
  readonly others?: OtherProviders | undefined
  readonly cost?: OutageCost | undefined
}

/** The figures in the data of an alert or a recovery. */
export function outageFiguresOf({ others, cost }: JsonObject): OutageFigures {
  return {
    others: OtherProviders.safeParse(others).data,
    cost: OutageCost.safeParse(cost).data,
  }
}

/** An amount that is only about right. */
export type Estimate = Extract<DisplayValue, { readonly kind: 'estimate' }>

/** About how much rewards the rounds of an outage earn; undefined if it is not known. */
export function lostRewards({ cost }: Pick<OutageFigures, 'cost'>): Estimate | undefined {
  if (cost === undefined || cost.amountWei === null) return undefined
  return { kind: 'estimate', units: cost.amountWei, decimals: 18, symbol: cost.symbol }
}

/** The figures as display values, named after their fields, in the order in which they are shown. */
export function outageFacts({ others, cost }: OutageFigures): DisplayValues {
  const isShared = others !== undefined && isNetworkWide(others)
  const rewards = lostRewards({ cost })
  return {
    ...(others !== undefined && {
      [isShared ? 'othersFailed' : 'othersFine']: {
        kind: 'share',
        part: isShared ? others.failed : others.total - others.failed,
        of: others.total,
      },
    }),
    ...(cost !== undefined && {
      affected: { kind: 'share', part: cost.rounds, of: cost.ofRounds },
    }),
    ...(rewards !== undefined && { rewards }),
  }
}
