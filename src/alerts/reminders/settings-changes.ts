/** Changes of settings and mutes of chats, with their effects on deferred deliveries and reminders. */
import { type Db, transact } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Address } from '#src/kernel/units.ts'
import { setChatMute } from '#src/recipients/chats.ts'
import type { MaintenanceRequest, MaintenanceWindow } from '#src/recipients/maintenance.ts'
import { requestReschedule } from '#src/recipients/service.ts'
import {
  addMaintenance,
  type NewSettings,
  removeMaintenance,
  replaceSettings,
  type Settings,
} from '#src/recipients/settings.ts'
import * as acting from '../acknowledge/store.ts'
import * as episodes from '../episodes/store.ts'
import { planReminders } from './rules.ts'

interface Deps {
  readonly db: Db
  readonly clock: Clock
}

/**
 * Replaces the wallet's settings. Deferred deliveries and reminders follow the new settings from now on.
 *
 * @throws the errors of `recipients/settings.ts`
 */
export async function replaceSettingsAndReschedule(
  deps: Deps,
  caller: Caller,
  input: { readonly settings: NewSettings; readonly ifVersions?: readonly number[] | undefined },
): Promise<Settings> {
  return await transact(deps.db, async (tx) => {
    const settings = await replaceSettings({ ...deps, db: tx }, caller, input)
    await requestReschedule(tx, [caller.wallet], deps.clock.now())
    await replanReminders(deps, tx, caller.wallet, settings)
    return settings
  })
}

/**
 * Plans maintenance. Reminders and escalations that fall into it wait for its end.
 *
 * @throws the errors of `recipients/settings.ts`
 */
export function planMaintenance(
  deps: Deps,
  caller: Caller,
  request: MaintenanceRequest,
): Promise<MaintenanceWindow> {
  return transact(deps.db, (tx) => addMaintenance({ ...deps, db: tx }, caller, request))
}

/**
 * Ends maintenance for good. Reminders follow their usual times again; what was held back is sent by the next pass of
 * `jobs/escalate-and-remind`.
 *
 * @throws the errors of `recipients/settings.ts`
 */
export async function endMaintenanceAndReschedule(
  deps: Deps,
  caller: Caller,
  windowId: string,
): Promise<void> {
  await transact(deps.db, async (tx) => {
    const settings = await removeMaintenance({ ...deps, db: tx }, caller, windowId)
    await replanReminders(deps, tx, caller.wallet, settings)
  })
}

/**
 * Mutes a chat completely, including critical alerts, for a number of minutes; 0 unmutes it. After an
 * unmute the deferred deliveries are sent as a summary: critical alerts and notices at once, the rest with
 * the digest if there is one.
 *
 * @returns end of the mute; null if the chat is not muted
 */
export async function muteChatAndReschedule(
  deps: Deps,
  input: { readonly chatId: number; readonly minutes: number },
): Promise<Date | null> {
  return await transact(deps.db, async (tx) => {
    const { wallets, mutedUntil } = await setChatMute({ ...deps, db: tx }, input)
    await requestReschedule(tx, wallets, deps.clock.now())
    return mutedUntil
  })
}

async function replanReminders(
  deps: Deps,
  tx: Db,
  wallet: Address,
  settings: Settings,
): Promise<void> {
  const open = await episodes.listOpenAlerts(tx, [wallet])
  await acting.setNextReminders(tx, planReminders(open, settings, deps.clock.now()))
}
