import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { requireBilling } from '#src/billing/account/service.ts'
import * as capacity from '#src/billing/subscriptions/capacity.ts'
import { type Db, transact } from '#src/db/connection.ts'
import { isInTransaction } from '#src/db/transaction-scope.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError, type FieldError } from '#src/kernel/errors.ts'
import {
  PAGE_LIMIT_DEFAULT,
  type Page,
  type PageQuery,
  readCursor,
  toPage,
} from '#src/kernel/pagination.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import { type Address, ID_MAX } from '#src/kernel/units.ts'
import { type NewWatch, SignalChoices, type UnaddressedWatch, type WatchChanges } from '../model.ts'
import * as store from '../store.ts'
import { lockTargets } from '../target-store.ts'
import { getWatchType } from '../types/index.ts'
import { resolveTarget } from './preview.ts'
import { checkSignals, mergeSignals, targetKey } from './rules.ts'
import { fitWatchesToSlots, type SlotListener } from './slots.ts'
import {
  checkTargetOnChain,
  keySettingsOf,
  mergeSettings,
  muteColumns,
  requestObservation,
  resetBaseline,
  wakeLedgerJudge,
} from './watch-changes.ts'
import { toWatch } from './watch-view.ts'

/** Name of this list in cursors: a cursor of another list is refused. */
const LIST = 'watches'

interface Deps {
  readonly db: Db
  readonly clock: Clock
}

/** The wallet's watches, ordered by id. One that cannot be read is put into quarantine and left out. */
export async function listWatches(
  deps: Deps & { readonly quarantine: Quarantine },
  caller: Caller,
  { limit = PAGE_LIMIT_DEFAULT, cursor }: PageQuery,
): Promise<Page<UnaddressedWatch>> {
  const [after = 0] = readCursor(cursor, [ID_MAX], LIST) ?? []
  const rows = await store.listWatches(deps.db, caller.wallet, after, limit + 1)
  const page = toPage(rows, limit, LIST, ({ id }) => [id])
  const now = deps.clock.now()
  const data = page.data.flatMap((row) => {
    try {
      return [toWatch(row, now)]
    } catch (error) {
      deps.quarantine.add('watch', row.id, error)
      return []
    }
  })
  return { ...page, data }
}

/**
 * One watch of the wallet.
 * @throws AppError not_found
 */
export async function getWatch(deps: Deps, caller: Caller, id: number): Promise<UnaddressedWatch> {
  const row = await store.findWatch(deps.db, caller.wallet, id)
  if (row === undefined) throw new AppError('not_found', 'not_found')
  return toWatch(row, deps.clock.now())
}

/** The target of a new watch in canonical form. */
export interface CheckedTarget {
  readonly canonicalTarget: unknown
}

/**
 * Validates a new watch against the chain. Never call it inside a transaction.
 *
 * @throws the errors of `createWatch`
 */
export async function checkNewWatch(
  deps: Deps & { readonly chain: FspChain; readonly billing: { readonly enabled: boolean } },
  input: NewWatch,
): Promise<CheckedTarget> {
  const type = getWatchType(input.type)
  if (type.reads === 'ledger') requireBilling(deps.billing)
  const canonicalTarget = await resolveTarget(deps, type, input.target)
  const errors = [
    ...checkSignals(type.signals, input.signals ?? []),
    ...(await checkTargetOnChain(deps, type, canonicalTarget, input.settings)),
  ]
  throwIfInvalid(errors)
  return { canonicalTarget }
}

/**
 * Creates a watch in a free slot. The first observation is its baseline.
 *
 * Checks against the chain, such as whether an address is a token, are skipped when the chain does not answer.
 *
 * @param checked result of `checkNewWatch`; required inside a transaction, where the chain is not called
 * @throws AppError invalid `validation_failed`, conflict `no_free_slot`; where billing is disabled
 * `watch_limit_reached`, or `billing_disabled` for a watch of credits
 */
export async function createWatch(
  deps: Deps & { readonly chain: FspChain; readonly billing: { readonly enabled: boolean } },
  caller: Caller,
  input: NewWatch,
  checked?: CheckedTarget,
): Promise<UnaddressedWatch> {
  const { canonicalTarget } = checked ?? (await checkNewWatch(deps, input))
  const at = deps.clock.now()
  const id = await deps.db.transaction(async (tx) => {
    await capacity.occupySlot({ ...deps, db: tx }, caller.wallet, at)
    return await insertNewWatch(tx, caller.wallet, { input, canonicalTarget, at })
  })
  return getWatch(deps, caller, id)
}

/**
 * Stores a checked watch, and requests the first observation of its target.
 * @returns its id
 */
export async function insertNewWatch(
  tx: Db,
  wallet: Address,
  { input, canonicalTarget, at }: CheckedTarget & { readonly input: NewWatch; readonly at: Date },
): Promise<number> {
  const type = getWatchType(input.type)
  const target = z.encode(type.target, canonicalTarget)
  const keySettings = keySettingsOf(type, input.settings)
  const key = targetKey(type, target, wallet, keySettings)
  const targetId = await store.joinTarget(tx, { type: type.name, key, target, keySettings })
  await wakeLedgerJudge(tx, type, wallet)
  return await store.insertWatch(tx, {
    wallet,
    type: type.name,
    targetId,
    label: input.label ?? type.defaultLabel(canonicalTarget),
    settings: z.encode(type.settings, input.settings),
    signals: input.signals ?? [],
    recipientIds: input.recipientIds ?? null,
    minSeverity: input.minSeverity,
    cooldownSeconds: input.cooldownSeconds,
    escalateAfterMinutes: input.escalateAfterMinutes ?? null,
    escalateTo: input.escalateTo ?? [],
    status: 'active',
    version: 1,
    createdAt: at,
    updatedAt: at,
  })
}

/**
 * Changes a watch. Settings merge by field, signals by id. A watch that is resumed, or a signal that is switched on,
 * starts with a new baseline; with an open episode it keeps its state, and the episode continues or ends as observed.
 *
 * @param input `ifVersions`: expected versions (ETag)
 * @throws AppError not_found, stale `etag_mismatch`, invalid `validation_failed`; upstream `dependency_unavailable`
 * when concurrent changes altered the settings during each of `CHECKS_MAX` checks
 */
export async function updateWatch(
  deps: Deps & { readonly chain: FspChain },
  caller: Caller,
  input: WatchUpdate,
  first?: CheckedSettings,
): Promise<UnaddressedWatch> {
  // In the transaction of a caller the chain must not be called.
  const checksMax = isInTransaction() ? 1 : CHECKS_MAX
  for (let attempt = 1; attempt <= checksMax; attempt += 1) {
    const isFirst = attempt === 1 && first !== undefined
    const { settings: checked } = isFirst ? first : await checkSettings(deps, caller, input)
    if (await applyChanges(deps, caller, input, checked)) return getWatch(deps, caller, input.id)
  }
  throw new AppError('upstream', 'dependency_unavailable', { retryAfterSeconds: 1 })
}

/** Maximum number of checks of one change. A check is repeated when another change altered the settings after it. */
const CHECKS_MAX = 5

/** Changed settings that were checked on the chain: merged and encoded; undefined if they are unchanged. */
export interface CheckedSettings {
  readonly settings: unknown
}

interface WatchUpdate {
  readonly id: number
  readonly changes: WatchChanges
  readonly ifVersions?: readonly number[] | undefined
}

/** Validates changed settings against the chain. Never call it inside a transaction. @throws the errors of `updateWatch` */
export async function checkSettings(
  deps: Deps & { readonly chain: FspChain },
  caller: Caller,
  input: WatchUpdate,
): Promise<CheckedSettings> {
  if (input.changes.settings === undefined) return { settings: undefined }
  const row = await store.findWatch(deps.db, caller.wallet, input.id)
  requireUpdatable(row, input)
  const type = getWatchType(row.type)
  const settings = mergeSettings(type, row, input.changes.settings)
  throwIfInvalid(await checkTargetOnChain(deps, type, z.decode(type.target, row.target), settings))
  return { settings: z.encode(type.settings, settings) }
}

/**
 * Checks that a watch can be changed.
 * @throws AppError not_found, stale `etag_mismatch`, invalid `validation_failed`
 */
function requireUpdatable(
  row: store.WatchRow | undefined,
  { changes, ifVersions }: WatchUpdate,
): asserts row is store.WatchRow {
  if (row === undefined) throw new AppError('not_found', 'not_found')
  if (ifVersions?.includes(row.version) === false) throw new AppError('stale', 'etag_mismatch')
  throwIfInvalid(checkSignals(getWatchType(row.type).signals, changes.signals ?? []))
}

/**
 * Applies checked changes in a transaction.
 * @returns false without any effect when a concurrent change altered the settings after the check
 */
async function applyChanges(
  deps: Deps,
  caller: Caller,
  input: WatchUpdate,
  checked: unknown,
): Promise<boolean> {
  const { id, changes } = input
  const now = deps.clock.now()
  return await transact(deps.db, async (tx) => {
    await lockWithTarget(tx, caller.wallet, id)
    const row = await store.findWatch(tx, caller.wallet, id)
    requireUpdatable(row, input)
    const type = getWatchType(row.type)
    const settings =
      changes.settings && z.encode(type.settings, mergeSettings(type, row, changes.settings))
    if (!isDeepStrictEqual(settings, checked)) return false
    const before = SignalChoices.parse(row.signals)
    const after = mergeSignals(before, changes.signals ?? [])
    await store.updateWatch(
      tx,
      { wallet: caller.wallet, id },
      {
        ...(changes.label !== undefined && { label: changes.label }),
        ...(settings !== undefined && { settings }),
        ...(changes.signals !== undefined && { signals: after }),
        ...(changes.recipientIds !== undefined && { recipientIds: changes.recipientIds }),
        ...(changes.minSeverity !== undefined && { minSeverity: changes.minSeverity }),
        ...(changes.cooldownSeconds !== undefined && { cooldownSeconds: changes.cooldownSeconds }),
        ...(changes.escalateAfterMinutes !== undefined && {
          escalateAfterMinutes: changes.escalateAfterMinutes,
        }),
        ...(changes.escalateTo !== undefined && { escalateTo: changes.escalateTo }),
        ...muteColumns(row, changes.mutedUntil, now),
        ...(changes.status !== undefined && { status: changes.status }),
        updatedAt: now,
      },
    )
    const targetId =
      settings === undefined
        ? row.targetId
        : await requestObservation(tx, type, row, { settings, wallet: caller.wallet })
    // A shorter cooldown may end the wait of a deferred alert.
    if (changes.cooldownSeconds !== undefined) await store.markTargetToJudge(tx, targetId)
    await resetBaseline(
      tx,
      type,
      { ...row, targetId },
      {
        status: changes.status,
        before: { signals: before, settings: row.settings },
        after: { signals: after, settings: settings ?? row.settings },
      },
    )
    await wakeLedgerJudge(tx, type, caller.wallet)
    return true
  })
}

/**
 * Deletes a watch and frees its slot for the oldest suspended watch; the alerts stay in the history.
 *
 * @throws AppError not_found
 */
export async function deleteWatch(
  deps: Deps & {
    readonly notices: SlotListener
    readonly billing: { readonly enabled: boolean }
  },
  caller: Caller,
  id: number,
): Promise<void> {
  const { wallet } = caller
  const now = deps.clock.now()
  await transact(deps.db, async (tx) => {
    await capacity.lockSlots(tx, wallet)
    await removeWatch(tx, wallet, id)
    await capacity.releaseSlot(tx, wallet)
    const slotCount = await capacity.countSlots({ ...deps, db: tx }, wallet, now)
    const change = { wallet, capacity: slotCount, trialEndedAt: undefined, at: now }
    await fitWatchesToSlots(deps, tx, change)
  })
}

/** Deletes a watch, which leaves its target. @throws AppError not_found */
export async function removeWatch(tx: Db, wallet: Address, id: number): Promise<void> {
  const targetId = await lockWithTarget(tx, wallet, id)
  if (targetId === undefined) throw new AppError('not_found', 'not_found')
  await store.deleteWatch(tx, wallet, id)
  await store.leaveTarget(tx, targetId)
}

/**
 * Locks a watch's target and then the watch. The evaluation also locks a target before it writes its
 * watches; another order could cause a deadlock.
 *
 * @returns the target; undefined when the wallet has no such watch
 */
async function lockWithTarget(tx: Db, wallet: Address, id: number): Promise<number | undefined> {
  const targetId = await store.findTargetId(tx, wallet, id)
  if (targetId === undefined) return undefined
  await lockTargets(tx, [targetId])
  return (await store.lockWatch(tx, wallet, id)) ? targetId : undefined
}

/**
 * Deletes every watch of a wallet, each of which leaves its target. The wallet's slots must be locked. Alerts are another
 * room's.
 */
export async function forgetWatches(tx: Db, wallet: Address): Promise<void> {
  const targets = await store.listTargetIds(tx, wallet)
  await lockTargets(tx, [...new Set(targets)])
  await store.deleteWatches(tx, wallet)
  for (const targetId of targets) await store.leaveTarget(tx, targetId)
}

/** Number of running watches of all wallets, for the public figures. */
export function countActiveWatches(db: Db): Promise<number> {
  return store.countActiveWatches(db)
}

/** Removes a deleted recipient from the wallet's watches, in the transaction that deletes it. */
export async function forgetRecipient(tx: Db, wallet: Address, recipientId: number): Promise<void> {
  await store.removeRecipient(tx, wallet, recipientId)
}

function throwIfInvalid(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw new AppError('invalid', 'validation_failed', { errors })
}
