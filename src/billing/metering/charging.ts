/** Settles concurrent calls of several payers in one statement. */
import { randomUUID } from 'node:crypto'
import type { Db, SQL } from '#src/db/connection.ts'
import { isConnectionFailure } from '#src/db/session.ts'
import type { BatchGroup } from '#src/kernel/batcher.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { RESOURCE_PRICES_CREDITS, type ResourceId } from '../price-list.ts'
import type { ChargeOutcome, TokenLookup } from './model.ts'
import { freeCallsLeft, listCallOutcomes, usageReference, utcDay } from './rules.ts'
import * as store from './store.ts'

/** A call with a token. */
export interface TokenCall {
  /** SHA-256 of the token. */
  readonly hash: string
  readonly resource: ResourceId
}

/** An active token that a statement found, and the charge of its calls. */
export type FoundToken = store.TokenChargeResult & { readonly hash: string }

/** Dependencies of settling calls, and the listeners of the results. */
export interface ChargingDeps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  readonly tokens: TokenLookup
  /**
   * Called with each token that a statement found. If `token.charge.paid` is above 0, its wallet has new ledger entries.
   */
  onTokenFound(token: FoundToken, at: Date): void
  /**
   * Called with references of ledger entries that may or may not have been written. The calls have failed.
   */
  onUncertain(references: readonly string[]): void
}

const RETRY_AFTER_LOSS_SECONDS = 5

/**
 * Settles calls of several tokens. The calls of a group have the same token and resource.
 *
 * @returns for each group the outcomes of its calls, or undefined if nothing was changed and the group must
 * be settled alone
 * @throws AppError upstream `dependency_unavailable` when the database connection was lost meanwhile
 */
export async function settleCallsTogether(
  deps: ChargingDeps,
  groups: readonly BatchGroup<TokenCall>[],
): Promise<readonly (readonly ChargeOutcome[] | undefined)[]> {
  const rows = groups.map(toRow)
  const at = deps.clock.now()
  try {
    return await settle(deps, rows, { at, isPatient: false })
  } catch (error) {
    if (error instanceof AppError) throw error
    // An error in the row of one payer must not fail the others, so each payer is settled alone.
    deps.log.warn(
      { payers: rows.length, problem: loggableError(error) },
      'calls of several payers were not settled in one statement; each is settled alone',
    )
    return []
  }
}

/**
 * Settles calls of one token, waiting for its account to be unlocked.
 * @throws the errors of `settleCallsTogether`
 */
export async function settleTokenCalls(
  deps: ChargingDeps,
  group: BatchGroup<TokenCall>,
): Promise<readonly ChargeOutcome[]> {
  const at = deps.clock.now()
  const [outcomes] = await settle(deps, [toRow(group)], { at, isPatient: true })
  if (outcomes === undefined) throw new Error('calls of a locked account were skipped')
  return outcomes
}

/** Settles a call without a token. These are counted by client network, and only free ones are possible. */
export async function settleNetworkCall(
  { db, clock }: Pick<ChargingDeps, 'db' | 'clock'>,
  network: string,
): Promise<ChargeOutcome> {
  const day = utcDay(clock.now())
  const counted = await store.takeFreeCalls(db, network, day, 1)
  if (counted === undefined) {
    return { ok: false, reason: 'payment_required', balanceCredits: 0, freeLeft: 0 }
  }
  const charge = { kind: 'free', subject: network, day } as const
  return { ok: true, charge, balanceCredits: 0, freeLeft: freeCallsLeft(counted) }
}

async function settle(
  deps: ChargingDeps,
  rows: readonly store.TokenCharge[],
  { at, isPatient }: { readonly at: Date; readonly isPatient: boolean },
): Promise<readonly (readonly ChargeOutcome[] | undefined)[]> {
  const day = utcDay(at)
  const activeToken = (hash: SQL) => deps.tokens.activeTokenQuery(hash, at)
  const charged = await store
    .chargeTokens(deps.db, rows, { activeToken, at, day, isPatient })
    .catch((error: unknown) => {
      if (!isConnectionFailure(error)) throw error
      deps.onUncertain(rows.flatMap(referencesOf))
      const details = { retryAfterSeconds: RETRY_AFTER_LOSS_SECONDS }
      throw new AppError('upstream', 'dependency_unavailable', details, { cause: error })
    })
  return rows.map((row, index) => {
    const result = charged[index]
    if (result === undefined) {
      return Array.from({ length: row.calls }, () => ({ ok: false, reason: 'invalid_token' }))
    }
    deps.onTokenFound({ ...result, hash: row.hash }, at)
    return result.charge && outcomesOf(row, day, result.wallet, result.charge)
  })
}

function outcomesOf(
  { calls, priceCredits, batch }: store.TokenCharge,
  day: string,
  wallet: string,
  { counted, ...charge }: store.SettledCalls,
): readonly ChargeOutcome[] {
  const freeLeftBefore = leftBefore(counted, calls)
  return listCallOutcomes(
    { ...charge, subject: wallet, day, priceCredits, batch, freeLeftBefore },
    calls,
  )
}

function toRow([{ hash, resource }, ...others]: BatchGroup<TokenCall>): store.TokenCharge {
  const priceCredits = RESOURCE_PRICES_CREDITS[resource]
  return { hash, calls: others.length + 1, priceCredits, batch: randomUUID(), note: resource }
}

/** The references that a row's ledger entries can have. */
function referencesOf({ batch, calls }: store.TokenCharge): readonly string[] {
  return Array.from({ length: calls }, (_, index) => usageReference(batch, index + 1))
}

/**
 * Number of free calls that were left before these calls.
 *
 * @param counted free calls counted, including these; null or undefined when none were left
 */
function leftBefore(counted: number | null | undefined, calls: number): number {
  return counted === null || counted === undefined ? 0 : freeCallsLeft(counted - calls)
}
