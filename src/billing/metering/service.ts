import type { Db } from '#src/db/connection.ts'
import { createBatcher } from '#src/kernel/batcher.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import { createKeyedLimiter } from '#src/kernel/keyed-limiter.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Address } from '#src/kernel/units.ts'
import { findAccount } from '../account/store.ts'
import {
  type FoundToken,
  settleCallsTogether,
  settleNetworkCall,
  settleTokenCalls,
  type TokenCall,
} from './charging.ts'
import { createLedgerNotifier } from './listeners.ts'
import * as model from './model.ts'
import { createPendingRefunds, refundCharge } from './refunds.ts'
import { freeCallsLeft, utcDay } from './rules.ts'
import { countFreeCalls, deleteFreeCallsBefore } from './store.ts'

interface Deps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  readonly tokens: model.TokenLookup
}

/** Charges metered calls. Concurrent calls with tokens to this process are settled together. */
export interface Metering {
  /**
   * Settles a call: free, paid, or refused.
   *
   * @throws AppError rate_limited `rate_limited` when too many calls are waiting
   * @throws AppError upstream `dependency_unavailable` when the database connection was lost meanwhile; a
   * charge that was written is then refunded
   */
  charge(call: model.MeteredCall): Promise<model.ChargeOutcome>
  /**
   * Refunds a charge: the free call, or the credits with an entry `refund`. Never rejects: credits that
   * cannot be refunded now are refunded by `settleRefunds`.
   */
  refund(charge: model.Charge): Promise<model.RefundResult>
  /**
   * Retries the pending refunds.
   * @throws Error when the database does not answer
   */
  settleRefunds(): Promise<void>
  /** Waits for the work in progress. */
  stop(): Promise<void>
}

const LIMITS = {
  batchesAtOnce: model.BATCHES_AT_ONCE,
  besideFrom: model.CONCURRENT_BATCH_MIN_CALLS,
  lingerMs: model.BATCH_WAIT_MS,
  patienceMs: model.BATCH_PATIENCE_MS,
  groupsPerBatch: model.PAYERS_PER_BATCH_MAX,
  itemsPerGroup: model.CALLS_PER_PAYER_MAX,
  itemsPerBatch: model.CALLS_PER_BATCH,
  waitingPerKeyMax: model.WAITING_CALLS_PER_PAYER_MAX,
  itemsMax: model.CALLS_IN_FLIGHT_MAX,
} as const

/**
 * Work of one payer at a time: it would wait for the row of the payer anyway, and keep a connection meanwhile.
 *
 * @param waitingMax maximum number of waiting pieces of work of one payer
 */
function createPayerWork(waitingMax: number) {
  const limiter = createKeyedLimiter({
    each: { runningMax: 1, waitingMax, refusal: tooManyWait },
    all: {
      runningMax: model.PAYERS_AT_ONCE,
      waitingMax: model.CALLS_IN_FLIGHT_MAX,
      refusal: tooManyWait,
    },
  })
  const working = new Set<Promise<void>>()
  return {
    run<Result>(payer: string, work: () => Promise<Result>): Promise<Result> {
      const result = limiter.take(payer, work)
      const forget = () => {
        working.delete(ended)
      }
      const ended: Promise<void> = result.then(forget, forget)
      working.add(ended)
      return result
    },
    async idle(): Promise<void> {
      while (working.size > 0) await Promise.all(working)
    },
  }
}

function tooManyWait(): AppError {
  return new AppError('rate_limited', 'rate_limited', { retryAfterSeconds: 1 })
}

/** Creates the metering of this process. */
export function createMetering(deps: Deps): Metering {
  const ledgerNotifier = createLedgerNotifier(deps)
  const pendingRefunds = createPendingRefunds(deps)
  /** Wallets of known tokens; the wallet of a token never changes. */
  const wallets = new Map<string, string>()
  const useRecords = new Set<Promise<void>>()
  const charging = {
    ...deps,
    onTokenFound: (token: FoundToken, at: Date) => {
      rememberWallet(wallets, token)
      if (token.charge !== undefined && token.charge.paid > 0) ledgerNotifier.notify(token.wallet)
      const { tokenId: id, lastUsedAt } = token
      const useRecord = deps.tokens.recordUse({ id, lastUsedAt }, at)
      useRecords.add(useRecord)
      void useRecord.then(() => useRecords.delete(useRecord))
    },
    onUncertain: pendingRefunds.add,
  }
  const tokenCalls = createBatcher<TokenCall, model.ChargeOutcome>({
    ...LIMITS,
    processTogether: (groups) => settleCallsTogether(charging, groups),
    processAlone: (group) => settleTokenCalls(charging, group),
    isAlike: (call, other) => call.hash === other.hash && call.resource === other.resource,
  })
  const networkCalls = createPayerWork(model.WAITING_CALLS_PER_PAYER_MAX)
  const refunds = createPayerWork(model.CALLS_IN_FLIGHT_MAX)

  return {
    async charge({ resource, payer }) {
      if (payer.kind === 'network') {
        const { network } = payer
        return networkCalls.run(network, () => settleNetworkCall(deps, network))
      }
      const { hash } = payer
      const outcome = tokenCalls.add(wallets.get(hash) ?? hash, { hash, resource })
      if (outcome === undefined) throw tooManyWait()
      return outcome
    },
    async refund(charge) {
      try {
        return await refunds.run(payerOf(charge), () => refundCharge(deps, charge))
      } catch (error) {
        deps.log.warn(
          { problem: loggableError(error) },
          'charge of a failed call was not refunded yet; the next run tries again',
        )
        if (charge.kind === 'paid') pendingRefunds.add([charge.reference])
        return { ok: false }
      }
    },
    settleRefunds: pendingRefunds.settle,
    async stop() {
      await Promise.all([tokenCalls.idle(), networkCalls.idle()])
      await refunds.idle()
      await pendingRefunds.close()
      await Promise.all([ledgerNotifier.idle(), ...useRecords])
    },
  }
}

/** Credits and free calls of a wallet or client network. */
export async function getPayerFunds(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  subject: { readonly wallet: Address } | { readonly network: string },
): Promise<model.PayerFunds> {
  const isWallet = 'wallet' in subject
  const account = isWallet ? await findAccount(db, subject.wallet) : undefined
  const subjectName = isWallet ? subject.wallet : subject.network
  const counted = await countFreeCalls(db, subjectName, utcDay(clock.now()))
  return { balanceCredits: account?.balanceCredits ?? 0, freeLeft: freeCallsLeft(counted) }
}

/**
 * Retention of counts: those of today are needed, and those of yesterday for calls that began before
 * midnight.
 */
const DAYS_KEPT_MS = DAY_MS

/** Deletes the counts of past days. */
export async function pruneFreeCalls({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<void> {
  await deleteFreeCallsBefore(db, utcDay(new Date(clock.now().getTime() - DAYS_KEPT_MS)))
}

function rememberWallet(wallets: Map<string, string>, { hash, wallet }: FoundToken): void {
  if (wallets.has(hash)) return
  const [oldest] = wallets.keys()
  if (wallets.size >= model.KNOWN_TOKENS_MAX && oldest !== undefined) wallets.delete(oldest)
  wallets.set(hash, wallet)
}

function payerOf(charge: model.Charge): string {
  return charge.kind === 'free' ? charge.subject : charge.wallet
}
