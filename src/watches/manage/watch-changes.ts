import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import type { FieldError } from '#src/kernel/errors.ts'
import type { Address } from '#src/kernel/units.ts'
import { parseInput } from '#src/kernel/validation.ts'
import type { WatchType } from '../define.ts'
import { completeSignals, type SignalChoice, type WatchChanges } from '../model.ts'
import * as store from '../store.ts'
import { CHAIN_WATCH_TYPES } from '../types/index.ts'
import { undefinedIfUnavailable } from '../unavailable.ts'
import { targetKey } from './rules.ts'

/**
 * The columns of a watch that change with its mute. A removed mute is stored as a mute that ends now, so that the job
 * that ends mutes sends the deferred messages.
 */
export function muteColumns(
  { mutedUntil: before }: Pick<store.WatchRow, 'mutedUntil'>,
  until: Date | null | undefined,
  now: Date,
) {
  if (until === undefined) return {}
  if (before === null) return { mutedUntil: until, mutedSince: until === null ? null : now }
  return { mutedUntil: until ?? (before < now ? before : now) }
}

/**
 * Merges and validates settings.
 * @throws AppError invalid `validation_failed`, with pointers below `/settings`
 */
export function mergeSettings(
  type: WatchType,
  row: store.WatchRow,
  changes: Readonly<Record<string, unknown>>,
): unknown {
  const merged = { ...z.record(z.string(), z.unknown()).parse(row.settings), ...changes }
  const parsed = parseInput(type.settings, merged, '/settings')
  if (!parsed.success) throw parsed.error
  return parsed.data
}

/** Validates a new or changed watch against the chain. Finds no errors while the chain does not answer. */
export async function checkTargetOnChain(
  deps: { readonly chain: FspChain },
  type: WatchType,
  target: unknown,
  settings: unknown,
): Promise<readonly FieldError[]> {
  return (await undefinedIfUnavailable(() => type.check(deps, target, settings))) ?? []
}

/** The settings that decide what is observed; undefined for types without such settings. */
export function keySettingsOf(type: WatchType, settings: unknown): unknown {
  const keySettings = CHAIN_WATCH_TYPES.find(({ name }) => name === type.name)?.keySettings
  return keySettings && z.encode(keySettings.schema, keySettings.of(settings))
}

/**
 * Requests an observation after a change of settings. If the changed settings decide what is observed, the
 * watch moves to another target.
 *
 * @returns id of the watch's target from now on
 */
export async function requestObservation(
  tx: Db,
  type: WatchType,
  row: store.WatchRow,
  { settings, wallet }: { readonly settings: unknown; readonly wallet: Address },
): Promise<number> {
  const { target, targetId } = row
  const keySettings = keySettingsOf(type, z.decode(type.settings, settings))
  if (keySettings === undefined) {
    await store.markTargetToJudge(tx, targetId)
    return targetId
  }
  const key = targetKey(type, target, wallet, keySettings)
  const joined = await store.joinTarget(tx, {
    type: type.name,
    key,
    target,
    keySettings,
  })
  await store.leaveTarget(tx, targetId)
  if (joined !== targetId) await store.updateTarget(tx, { wallet, id: row.id }, joined)
  return joined
}

/** Wakes the job that judges ledgers, for a watch of the ledger. Watches of the chain are observed at every tick anyway. */
export async function wakeLedgerJudge(tx: Db, type: WatchType, wallet: Address): Promise<void> {
  if (type.reads === 'ledger') await store.notifyLedgerJudge(tx, wallet)
}

/** What decides which signals a watch has. */
interface SignalsOfWatch {
  readonly signals: readonly SignalChoice[]
  /** Encoded. */
  readonly settings: unknown
}

function enabledSignals(type: WatchType, { signals, settings }: SignalsOfWatch): string[] {
  const complete = completeSignals(type.signals, signals, settings)
  return complete.flatMap(({ id, enabled }) => (enabled ? [id] : []))
}

/**
 * Resets a watch or signal that is switched on again: requests an observation of the target and deletes the
 * states without an open episode, so that this observation is the baseline. Signals that are switched off
 * keep their states.
 */
export async function resetBaseline(
  tx: Db,
  type: WatchType,
  row: store.WatchRow,
  change: {
    readonly status: WatchChanges['status']
    readonly before: SignalsOfWatch
    readonly after: SignalsOfWatch
  },
): Promise<void> {
  const isResumed = change.status === 'active' && row.wanted === 'paused'
  const wasOn = enabledSignals(type, change.before)
  const switchedOn = enabledSignals(type, change.after).filter((id) => !wasOn.includes(id))
  if (isResumed) await store.deleteStatesWithoutEpisode(tx, row.id)
  else if (switchedOn.length > 0) {
    await store.deleteStatesWithoutEpisode(tx, row.id, switchedOn)
  }
  if (isResumed || switchedOn.length > 0) await store.markTargetToJudge(tx, row.targetId)
}
