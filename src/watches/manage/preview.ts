/**
 * Preview of a target for a person who is about to create a watch: its canonical form and last observation.
 */
import { formatUnits } from 'viem/utils'
import { z } from 'zod'
import { readBalance } from '#src/billing/account/service.ts'
import { findNextRenewal } from '#src/billing/subscriptions/renewal.ts'
import type { Asset } from '#src/chain/chain.ts'
import type { Db } from '#src/db/connection.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import { parseInput } from '#src/kernel/validation.ts'
import { type ChainWatchType, CreditsObservation, type WatchType } from '../define.ts'
import type { WatchTypeFacts } from '../facts.ts'
import { suggestedSettings } from '../form.ts'
import { feedMove } from '../types/feed-move.ts'
import { CHAIN_WATCH_TYPES, findWatchType } from '../types/index.ts'
import { undefinedIfUnavailable } from '../unavailable.ts'
import { readUsdPrice } from '../usd-price.ts'

export interface WatchPreviewDeps {
  readonly db: Db
  readonly clock: Clock
  readonly chain: FspChain
  readonly facts: WatchTypeFacts
  readonly confirmations: number
}

/** A target that can be watched. */
export const TargetPreview = z.object({
  /** The target in canonical form. */
  target: z.unknown(),
  /** Default label of a watch on the target. */
  label: z.string(),
  /** Current observation, encoded; null when it cannot be read now. */
  observation: z.unknown(),
})
export type TargetPreview = z.output<typeof TargetPreview>

/**
 * Observes a target without watching it.
 *
 * @throws AppError invalid `validation_failed`, with pointers below `/target`
 */
export async function previewTarget(
  deps: WatchPreviewDeps,
  caller: Caller,
  input: { readonly type: string; readonly target: unknown },
): Promise<TargetPreview> {
  const type = findWatchType(input.type)
  if (type === undefined) {
    throw new AppError('invalid', 'validation_failed', {
      errors: [{ pointer: '/type', code: 'not_available' }],
    })
  }
  const parsed = parseInput(type.target, input.target, '/target')
  if (!parsed.success) throw parsed.error
  const target = await resolveTarget(deps, type, parsed.data)
  await requireOnChain(deps, type, target)
  return {
    target: z.encode(type.target, target),
    label: type.defaultLabel(target),
    observation: await observeNow(deps, type, target, caller),
  }
}

/** Current observation of a price feed, encoded; null when it cannot be read now. */
export async function observeFeed(deps: WatchPreviewDeps, feed: string): Promise<unknown> {
  return (await observeChain(deps, feedMove, { feed })) ?? null
}

/** Price of an asset in US dollars, as text; null without a feed, and when it cannot be read now. */
export async function readUsdPriceNow(
  deps: WatchPreviewDeps,
  asset: Asset,
): Promise<string | null> {
  const { chain, confirmations } = deps
  const block = await undefinedIfUnavailable(() => chain.confirmedBlock(confirmations))
  const price = block && (await readUsdPrice(deps, asset, block))
  return price === undefined ? null : decimalText(price)
}

/** A price as text, such as 0.0184. */
export function decimalText({
  value,
  decimals,
}: {
  readonly value: bigint
  readonly decimals: number
}): string {
  return formatUnits(decimals < 0 ? value * 10n ** BigInt(-decimals) : value, Math.max(0, decimals))
}

/** Names of the price feeds that can be watched; empty while the chain does not answer. */
export async function listFeeds({ chain }: Pick<WatchPreviewDeps, 'chain'>): Promise<string[]> {
  const list = await undefinedIfUnavailable(() => chain.feedList())
  return (list?.feeds ?? []).map(({ name }) => name).toSorted()
}

/**
 * Validates a target against the chain; skipped when the chain does not answer.
 * @throws AppError invalid
 */
async function requireOnChain(
  { chain }: WatchPreviewDeps,
  type: WatchType,
  target: unknown,
): Promise<void> {
  const settings = type.settings.safeParse(suggestedSettings(type.form))
  if (!settings.success) return
  const fieldErrors =
    (await undefinedIfUnavailable(() => type.check({ chain }, target, settings.data))) ?? []
  const errors = fieldErrors.filter(({ pointer }) => pointer.startsWith('/target'))
  if (errors.length > 0) throw new AppError('invalid', 'validation_failed', { errors })
}

async function observeNow(
  deps: WatchPreviewDeps,
  type: WatchType,
  target: unknown,
  { wallet }: Caller,
): Promise<unknown> {
  const chainType = CHAIN_WATCH_TYPES.find(({ name }) => name === type.name)
  if (chainType !== undefined) return (await observeChain(deps, chainType, target)) ?? null
  const nextRenewal = (await findNextRenewal(deps.db, wallet)) ?? null
  const balance = await readBalance(deps.db, wallet)
  return z.encode(CreditsObservation, {
    position: 0,
    at: deps.clock.now(),
    ...balance,
    nextRenewal,
  })
}

async function observeChain(
  { chain, facts, confirmations }: WatchPreviewDeps,
  type: ChainWatchType,
  target: unknown,
): Promise<unknown> {
  return undefinedIfUnavailable(async () => {
    const block = await chain.confirmedBlock(confirmations)
    const settings = type.settings.safeParse(suggestedSettings(type.form))
    const keySettings = settings.success ? type.keySettings?.of(settings.data) : undefined
    const request = { target, keySettings, isNew: true, last: null }
    const [seen] = await type.observe({ chain, facts }, [request], { after: null, upTo: block })
    const observation = seen?.at(-1)
    return observation && z.encode(type.observation, observation)
  })
}

/** The canonical form of the target; unchanged while the chain does not answer. */
export async function resolveTarget(
  { chain }: { readonly chain: FspChain },
  type: WatchType,
  target: unknown,
): Promise<unknown> {
  return (await undefinedIfUnavailable(async () => type.resolve?.({ chain }, target))) ?? target
}
