import { z } from 'zod'
import {
  listEntriesAfter,
  listWalletsWithNewEntries,
  readBalance,
} from '#src/billing/account/service.ts'
import { findNextRenewal } from '#src/billing/subscriptions/renewal.ts'
import type { Db } from '#src/db/connection.ts'
import { CreditsObservation, type LedgerWatchType } from '../define.ts'
import { ledgerTargetKey, walletOfTargetKey } from '../manage/rules.ts'
import { readTargetPages, sliceOf } from '../slice-pages.ts'
import { OUTAGE_STATE_KEY } from '../store.ts'
import * as store from '../target-store.ts'
import { LEDGER_WATCH_TYPES } from '../types/index.ts'
import {
  type DueTarget,
  groupDueTargets,
  type JudgeDeps,
  judgeGroup,
  type TargetJudgement,
} from './judge-group.ts'
import { startRepeatedFold } from './repeated-fold.ts'

/** Number of targets that one query reads. */
const TARGETS_PER_READ = 500
/** Maximum number of ledger entries of a wallet that one transaction judges. */
const ENTRIES_MAX = 500
/** Estimated number of new entries of a wallet. */
const USUAL_ENTRIES = 10

export type JudgeLedgersDeps = JudgeDeps

/**
 * Judges every ledger entry since the last run, one after another, with the watches of its wallet. Only
 * wallets in the slices of this process are judged.
 *
 * A wallet's states, alerts and position in its ledger are one transaction, so a stop at any point loses
 * and repeats nothing.
 *
 * @param wallets wallets that may have new entries; undefined for all
 */
export async function judgeLedgers(
  deps: JudgeLedgersDeps,
  wallets: ReadonlySet<string> | undefined,
  signal: AbortSignal,
): Promise<void> {
  for (const type of LEDGER_WATCH_TYPES) {
    const held = deps.slices.held()
    const pages = wallets
      ? named(deps.db, type, held, wallets)
      : readTargetPages(deps.db, type.name, held, TARGETS_PER_READ)
    for await (const targets of pages) {
      const due = (await selectDueTargets(deps, targets)).map((row) => dueByLedger(deps, type, row))
      await judgeAll(deps, due, signal)
      if (signal.aborted) return
    }
  }
}

/** Judges targets, those with many entries several times. */
async function judgeAll(
  deps: JudgeLedgersDeps,
  all: readonly LedgerTarget[],
  signal: AbortSignal,
): Promise<void> {
  for (let due = all; due.length > 0; ) {
    const unfinished: LedgerTarget[] = []
    for (const group of groupDueTargets(due)) {
      if (signal.aborted) return
      const judgedIds = await judgeGroup(deps, group)
      unfinished.push(...group.filter(({ row, hasMore }) => hasMore() && judgedIds.has(row.id)))
    }
    due = unfinished
  }
}

async function* named(
  db: Db,
  type: LedgerWatchType,
  held: readonly number[],
  wallets: ReadonlySet<string>,
): AsyncGenerator<readonly store.TargetRow[]> {
  const isHeld = new Set(held)
  const keys = [...wallets].map(ledgerTargetKey).filter((key) => isHeld.has(sliceOf(key)))
  for (let start = 0; start < keys.length; start += TARGETS_PER_READ) {
    const batch = keys.slice(start, start + TARGETS_PER_READ)
    const targets = await store.listTargetsOf(db, type.name, held, batch)
    if (targets.length > 0) yield targets
  }
}

/**
 * Selects targets with a new entry, with a watch that joined or changed since the last run, or with a
 * deferred alert whose cooldown is over.
 */
async function selectDueTargets(
  { db, clock }: Pick<JudgeLedgersDeps, 'db' | 'clock'>,
  targets: readonly store.TargetRow[],
): Promise<readonly store.TargetRow[]> {
  const now = clock.now()
  const known = targets.map((row) => {
    // A target whose observation cannot be parsed is selected; judging it fails for its own wallet only.
    const last = CreditsObservation.nullable().safeParse(row.observation)
    const mustJudge = row.mustJudge || isCooled(row, now) || !last.success
    return { row, mustJudge, wallet: walletOfTargetKey(row.key), position: last.data?.entry ?? 0 }
  })
  const moved = new Set(await listWalletsWithNewEntries(db, known))
  return known.flatMap(({ row, mustJudge, wallet }) =>
    mustJudge || moved.has(wallet) ? [row] : [],
  )
}

/** Whether the cooldown of a deferred alert of a target is over. */
function isCooled({ recheckAt }: store.TargetRow, now: Date): boolean {
  return recheckAt !== null && recheckAt <= now
}

/** A wallet whose ledger must be judged. */
interface LedgerTarget extends DueTarget {
  /** Whether the ledger may have further entries after those that were judged. */
  readonly hasMore: () => boolean
}

function dueByLedger(
  { clock }: Pick<JudgeLedgersDeps, 'clock'>,
  type: LedgerWatchType,
  row: store.TargetRow,
): LedgerTarget {
  const wallet = walletOfTargetKey(row.key)
  let hasMore = false
  return {
    row,
    observationCount: USUAL_ENTRIES,
    hasMore: () => hasMore,
    begin: async (tx, current) => {
      const now = clock.now()
      const before = CreditsObservation.nullable().parse(current.observation)
      const nextRenewal = (await findNextRenewal(tx, wallet)) ?? null
      const rows =
        before === null ? [] : await listEntriesAfter(tx, wallet, before.entry, ENTRIES_MAX)
      const entries = rows.map(({ position: entry, balanceAfterCredits, createdAt: at }) => ({
        ...{ at, entry, nextRenewal, balanceCredits: balanceAfterCredits },
      }))
      hasMore = entries.length === ENTRIES_MAX
      const isAsked = current.mustJudge || before === null || isCooled(current, now)
      return startJudgement(type, {
        before,
        entries,
        nextRenewal,
        place: entries.at(-1) ?? before ?? (await readBalance(tx, wallet)),
        until: hasMore ? undefined : now,
        isAsked,
      })
    },
  }
}

interface LedgerSpan {
  readonly before: CreditsObservation | null
  /** Entries after `before`. */
  readonly entries: readonly Omit<CreditsObservation, 'position'>[]
  readonly nextRenewal: CreditsObservation['nextRenewal']
  /** The balance after the entries. */
  readonly place: Pick<CreditsObservation, 'entry' | 'balanceCredits'>
  /** Time up to which the ledger is judged; undefined if it has further entries. */
  readonly until: Date | undefined
  /** Whether the balance is judged at that time even without an entry. */
  readonly isAsked: boolean
}

/** Judgement of a wallet's watches by its ledger entries. */
function startJudgement(type: LedgerWatchType, span: LedgerSpan): TargetJudgement {
  const { before, entries, nextRenewal, until, isAsked } = span
  const { entry, balanceCredits } = span.place
  const place = { entry, balanceCredits, nextRenewal }
  const asked = until !== undefined && isAsked ? { ...place, at: until } : undefined
  const at = asked?.at ?? entries.at(-1)?.at ?? before?.at
  if (at === undefined) throw new Error('a ledger was judged without a balance')
  const count = entries.length + (asked === undefined ? 0 : 1)
  let last = { ...place, position: (before?.position ?? 0) + count, at }
  return {
    observationCount: Math.max(count, 1),
    fold: (watch) => {
      const states = watch.states.filter(({ signal }) => signal !== OUTAGE_STATE_KEY)
      const start = before === null ? undefined : { ...before, nextRenewal }
      const folded = startRepeatedFold(type, {}, { ...watch, states }, start)
      // A watch without states is new or was reset, so earlier entries do not concern it.
      const concerned = states.length === 0 ? [] : entries
      const candidates = [
        ...concerned.flatMap((next) => [...folded.repeatUntil(next.at), ...folded.add(next)]),
        ...(until === undefined ? [] : folded.repeatUntil(new Date(until.getTime() + 1))),
        ...(asked === undefined ? [] : folded.add(asked)),
      ]
      const seen = folded.last() ?? last
      last = {
        ...last,
        position: Math.max(last.position, seen.position),
        at: seen.at > last.at ? seen.at : last.at,
      }
      return { ...folded.outcome(), candidates }
    },
    seen: () => ({
      observation: z.encode(CreditsObservation, last),
      observedAt: last.at,
      summary: null,
      // Further entries are judged at once, or by the next process if this one dies.
      recheckAt: until === undefined ? last.at : null,
    }),
  }
}
