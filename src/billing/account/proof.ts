/** The nightly proof that every balance is the sum of its ledger entries. */
import type { Db } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import type { Logger } from '#src/kernel/logger.ts'
import * as store from './proof-store.ts'
import { EMPTY_CHAIN, type EntryChain, extendChain, proofDay, provesBalance } from './rules.ts'

interface Deps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
}

/** Number of accounts that are proved together; bounds memory. */
const WALLETS_PER_BATCH = 500
/** Number of entries that one statement sums; bounds its duration. */
const ENTRIES_PER_BATCH = 20_000

/** Result of a proof. */
export interface LedgerProof {
  readonly wallets: number
  readonly entries: number
  readonly wrong: readonly string[]
  readonly totals: LedgerTotals
}

/** Sums of all entries before a time. */
export interface LedgerTotals {
  /** A full hour (UTC). */
  readonly until: Date
  /** Number of accounts created before `until`. */
  readonly wallets: number
  readonly creditsSold: number
  readonly creditsSpent: number
  readonly topups: number
}

/**
 * Time after which entries are final. An entry has the time at which its transaction began. It is committed
 * within this time, because statements end after 30 seconds and the clocks of the service's machines differ
 * by less than minutes.
 */
const SETTLED_AFTER_MS = 600_000

/** The newest full hour before which no more entries are written. */
export function settledHour(now: Date): Date {
  return new Date(Math.floor((now.getTime() - SETTLED_AFTER_MS) / HOUR_MS) * HOUR_MS)
}

/**
 * Proves the ledger once per UTC day, at night, and stores the result. Every wallet with a difference is
 * logged as an error.
 */
export async function proveNightly(deps: Deps, signal: AbortSignal): Promise<void> {
  const on = proofDay(deps.clock.now())
  if (await store.hasProof(deps.db, on)) return
  const proof = await proveLedger(deps, signal)
  if (proof === undefined) return
  const { wallets, entries, wrong, totals } = proof
  const provedAt = deps.clock.now()
  await store.insertProof(deps.db, {
    ...{ on, wallets, entries, wrongWallets: wrong.length, provedAt },
    totalsUntil: totals.until,
    totalWallets: totals.wallets,
    totalCreditsSold: totals.creditsSold,
    totalCreditsSpent: totals.creditsSpent,
    totalTopups: totals.topups,
  })
  deps.log.info({ on, wallets, entries, wrongWallets: wrong.length }, 'ledger proved')
}

/** The newest stored proof; undefined before the first. */
export function findLastProof(db: Db): Promise<store.ProofRow | undefined> {
  return store.findLastProof(db)
}

/**
 * Sums every wallet's entries and compares them with its balance and with each other.
 *
 * It reads in short statements and takes no locks. An account is read before its entries, and only entries
 * up to its position are included: later ones belong to the next proof.
 *
 * @returns undefined when the proof was stopped
 */
export async function proveLedger(
  deps: Deps,
  signal: AbortSignal,
): Promise<LedgerProof | undefined> {
  let wallets = 0
  let entries = 0
  const wrong: string[] = []
  const until = settledHour(deps.clock.now())
  const totals = { until, wallets: 0, creditsSold: 0, creditsSpent: 0, topups: 0 }
  for (let after: string | undefined = ''; after !== undefined; ) {
    if (signal.aborted) return undefined
    const claims: readonly store.AccountState[] = await store.listAccountStates(
      deps.db,
      after,
      WALLETS_PER_BATCH,
    )
    const upTo = claims.length < WALLETS_PER_BATCH ? undefined : claims.at(-1)?.wallet
    // After the highest position of the wallet `after`, so the page begins with the next wallet.
    const from = { wallet: after, position: Number.MAX_SAFE_INTEGER }
    const page = await addUp(deps.db, from, upTo, claims, until, signal)
    if (page === undefined) return undefined
    for (const wallet of findWrong(claims, page.chains)) {
      if (!(await isProved(deps, wallet))) wrong.push(wallet)
    }
    wallets += claims.length
    entries += page.entries
    totals.wallets += claims.filter(({ createdAt }) => createdAt < until).length
    totals.creditsSold += page.sold
    totals.creditsSpent += page.spent
    totals.topups += page.topups
    after = upTo
  }
  return { wallets, entries, wrong, totals }
}

/** Sums of the entries of some wallets. */
interface LedgerPage {
  readonly entries: number
  readonly sold: number
  readonly spent: number
  readonly topups: number
  readonly chains: ReadonlyMap<string, EntryChain>
}

async function addUp(
  db: Db,
  from: store.ProofPosition,
  upTo: string | undefined,
  claims: readonly store.AccountState[],
  totalsUntil: Date,
  signal: AbortSignal,
): Promise<LedgerPage | undefined> {
  const chains = new Map<string, EntryChain>()
  const sums = { entries: 0, sold: 0, spent: 0, topups: 0 }
  let place = from
  for (;;) {
    if (signal.aborted) return undefined
    const links = await store.sumEntries(db, place, upTo, claims, ENTRIES_PER_BATCH, totalsUntil)
    const last = links.at(-1)
    if (last === undefined) return { ...sums, chains }
    for (const link of links) {
      chains.set(link.wallet, extendChain(chains.get(link.wallet) ?? EMPTY_CHAIN, link))
      sums.entries += link.entries
      sums.sold += link.sold
      sums.spent += link.spent
      sums.topups += link.topups
    }
    place = { wallet: last.wallet, position: last.last }
  }
}

/** Wallets whose account and entries differ, including those that have entries and no account. */
function findWrong(
  claims: readonly store.AccountState[],
  chains: ReadonlyMap<string, EntryChain>,
): ReadonlySet<string> {
  const claimed = new Set(claims.map(({ wallet }) => wallet))
  const wrong = claims
    .filter((claim) => !provesBalance(chains.get(claim.wallet) ?? EMPTY_CHAIN, claim))
    .map(({ wallet }) => wallet)
  return new Set([...wrong, ...[...chains.keys()].filter((wallet) => !claimed.has(wallet))])
}

/** Proves one wallet again, because its account may have been created while its page was read. */
async function isProved(deps: Deps, wallet: string): Promise<boolean> {
  const claim = await store.findAccountState(deps.db, wallet)
  const claims = claim === undefined ? [] : [claim]
  const page = await addUp(deps.db, { wallet, position: 0 }, wallet, claims, new Date(0), NEVER)
  const chain = page?.chains.get(wallet) ?? EMPTY_CHAIN
  if (claim !== undefined && provesBalance(chain, claim)) return true
  deps.log.error({ wallet, ...claim, ...chain }, 'the ledger of a wallet does not add up')
  return false
}

const NEVER = new AbortController().signal
