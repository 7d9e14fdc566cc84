import { z } from 'zod'
import { listEntriesAfter, listMoved, readBalance } from '#src/billing/account/service.ts'
import { findNextRenewal } from '#src/billing/subscriptions/renewal.ts'
import { type Db, transact } from '#src/db/connection.ts'
import { isolateEach } from '#src/db/isolate.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { Address } from '#src/kernel/units.ts'
import { Balance, type LedgerWatchType } from './define.ts'
import { evaluateWatch, type Raised } from './evaluate.ts'
import type { EvaluatedWatch } from './model.ts'
import { keyOfOwn, ownerOfKey } from './rules.ts'
import { listEvaluated, saveStates } from './store.ts'
import * as store from './target-store.ts'
import { LEDGER_TYPES } from './types/index.ts'

/** Targets read at once. */
const TARGETS_PER_READ = 500
/** Ledger entries read at once. */
const ENTRIES_PER_READ = 500
/** More watches than one wallet can have. */
const WATCHES_MAX = 100

export interface JudgeDeps {
  readonly db: Db
  readonly clock: Clock
  readonly quarantine: Quarantine
  /** Records firings in the given transaction: `alerts.raise`, a higher room. */
  readonly raise: (tx: Db, raised: readonly Raised[]) => Promise<void>
}

/**
 * Judges every ledger entry since the last look, one after another, by the watches of its wallet.
 *
 * Each wallet's states, alerts and place in its ledger are one transaction, so a stop anywhere loses and
 * repeats nothing.
 *
 * @param wallets whose ledger may have moved; undefined: look at all
 */
export async function judgeLedgers(
  deps: JudgeDeps,
  wallets: ReadonlySet<string> | undefined,
  signal: AbortSignal,
): Promise<void> {
  for (const type of LEDGER_TYPES) {
    for await (const targets of wallets ? named(deps.db, type, wallets) : all(deps.db, type)) {
      const { quarantine } = deps
      const idOf = ({ id }: { readonly id: number }) => id
      const news = await withNews(deps.db, targets)
      await isolateEach(news, { quarantine, kind: 'ledger-target', idOf }, async (target) => {
        if (!signal.aborted) await judge(deps, type, target.id, target.wallet)
      })
      if (signal.aborted) return
    }
  }
}

async function* named(
  db: Db,
  type: LedgerWatchType,
  wallets: ReadonlySet<string>,
): AsyncGenerator<readonly store.TargetRow[]> {
  const keys = [...wallets].map(keyOfOwn)
  for (let start = 0; start < keys.length; start += TARGETS_PER_READ) {
    yield await store.listTargetsOf(db, type.name, keys.slice(start, start + TARGETS_PER_READ))
  }
}

async function* all(db: Db, type: LedgerWatchType): AsyncGenerator<readonly store.TargetRow[]> {
  for (let after = 0; ; ) {
    const targets = await store.listTargets(db, type.name, { after, limit: TARGETS_PER_READ })
    const last = targets.at(-1)
    if (last === undefined) return
    after = last.id
    yield targets
  }
}

/** Those where an entry was made, or a watch joined or changed, since the last look. */
async function withNews(
  db: Db,
  targets: readonly store.TargetRow[],
): Promise<readonly { readonly id: number; readonly wallet: Address }[]> {
  const known = targets.map(({ id, key, stale, observation }) => {
    // An unreadable one counts as new, and fails alone when it is judged.
    const last = observation === null ? undefined : Balance.safeParse(observation)
    const isUnreadable = last?.success === false
    return {
      id,
      wallet: ownerOfKey(key),
      stale: stale || isUnreadable,
      position: last?.data?.entry ?? 0,
    }
  })
  const moved = new Set(await listMoved(db, known))
  return known.filter(({ stale, wallet }) => stale || moved.has(wallet))
}

/** Judges what is new in one wallet's ledger. */
async function judge(
  deps: JudgeDeps,
  type: LedgerWatchType,
  targetId: number,
  wallet: Address,
): Promise<void> {
  await transact(deps.db, async (tx) => {
    const target = await store.lockTarget(tx, targetId)
    if (target === undefined) return
    const nextRenewal = (await findNextRenewal(tx, wallet)) ?? null
    const fold = startFold(type, await listEvaluated(tx, targetId, 0, WATCHES_MAX))
    const look = (
      place: Pick<Balance, 'entry' | 'balanceCredits'>,
      at: Date,
      before: Balance | undefined,
    ): Balance => {
      const { entry, balanceCredits } = place
      const position = (before?.position ?? 0) + 1
      const balance = { position, at, entry, balanceCredits, nextRenewal }
      fold.add(balance)
      return balance
    }
    let last = target.observation === null ? undefined : Balance.parse(target.observation)
    while (last !== undefined) {
      const entries = await listEntriesAfter(tx, wallet, last.entry, ENTRIES_PER_READ)
      for (const { position: entry, balanceAfterCredits: balanceCredits, createdAt } of entries) {
        last = look({ entry, balanceCredits }, createdAt, last)
      }
      await deps.raise(tx, fold.takeRaised())
      if (entries.length < ENTRIES_PER_READ) break
    }
    if (target.stale || last === undefined) {
      last = look(last ?? (await readBalance(tx, wallet)), deps.clock.now(), last)
    }
    await saveStates(tx, fold.states())
    await deps.raise(tx, fold.takeRaised())
    await store.saveObservation(tx, targetId, {
      observation: z.encode(Balance, last),
      observedAt: last.at,
    })
  })
}

/** The watches of one wallet while observations pass through them. */
function startFold(type: LedgerWatchType, watches: readonly EvaluatedWatch[]) {
  let folded = watches
  let raised: readonly Raised[] = []
  return {
    add: (balance: Balance) => {
      folded = folded.map((watch) => {
        const outcome = evaluateWatch(type, {}, watch, balance)
        raised = [...raised, ...outcome.raised]
        return { ...watch, states: outcome.states }
      })
    },
    /** What was raised since this was last asked, in order. */
    takeRaised: () => {
      const taken = raised
      raised = []
      return taken
    },
    states: () =>
      folded.flatMap(({ id, states }) => states.map((state) => ({ watchId: id, state }))),
  }
}
