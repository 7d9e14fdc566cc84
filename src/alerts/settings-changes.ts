/** Effects of changed settings, chats and watches on deferred deliveries and open alerts. */
import { type Db, transact } from '#src/db/connection.ts'
import { forgetMessages } from '#src/delivery/log.ts'
import * as delivery from '#src/delivery/service.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Address } from '#src/kernel/units.ts'
import { forgetChat, muteChat as mute } from '#src/recipients/chats.ts'
import { requestReschedule } from '#src/recipients/service.ts'
import {
  type NewSettings,
  replaceSettings as replace,
  type Settings,
} from '#src/recipients/settings.ts'
import { deleteWatch as remove } from '#src/watches/manage/service.ts'
import * as acting from './acknowledge-store.ts'
import * as episodes from './episode-store.ts'
import { planReminders } from './reminder-rules.ts'

interface Deps {
  readonly db: Db
  readonly clock: Clock
}

/**
 * Replaces the wallet's settings. Deferred deliveries and reminders follow the new ones from now on.
 *
 * @throws AppError as `recipients/settings.ts` does
 */
export async function replaceSettings(
  deps: Deps,
  caller: Caller,
  input: { readonly settings: NewSettings; readonly ifVersions?: readonly number[] | undefined },
): Promise<Settings> {
  return await transact(deps.db, async (tx) => {
    const settings = await replace({ ...deps, db: tx }, caller, input)
    await requestReschedule(tx, [caller.wallet], deps.clock.now())
    await replanReminders(deps, tx, caller.wallet, settings)
    return settings
  })
}

/**
 * Mutes a chat completely, including critical alerts, for a number of minutes; 0 unmutes it, and the
 * deferred deliveries are sent as a summary: critical ones and notices at once, the rest with the digest if
 * there is one.
 *
 * @returns end of the mute; null: not muted
 */
export async function muteChat(
  deps: Deps,
  input: { readonly chatId: number; readonly minutes: number },
): Promise<Date | null> {
  return await transact(deps.db, async (tx) => {
    const { wallets, mutedUntil } = await mute({ ...deps, db: tx }, input)
    await requestReschedule(tx, wallets, deps.clock.now())
    return mutedUntil
  })
}

/**
 * Deletes a watch and closes its open alerts, which their chat messages then show.
 *
 * @throws AppError not_found
 */
export async function deleteWatch(
  deps: Parameters<typeof remove>[0],
  caller: Caller,
  id: number,
): Promise<void> {
  await transact(deps.db, async (tx) => {
    await remove({ ...deps, db: tx }, caller, id)
    const closed = await acting.closeOfWatch(tx, id, deps.clock.now())
    await delivery.reviseMessages(tx, closed)
  })
}

/**
 * Deletes the data of a chat and its person: links, messages with their texts, and the name beside their
 * actions. The wallets with their watches, alerts and ledger stay.
 *
 * @param who `name`: the person's name beside their actions
 */
export async function deleteChatData(
  deps: Deps,
  who: { readonly chatId: number; readonly personId: number; readonly name: string | null },
): Promise<void> {
  await transact(deps.db, async (tx) => {
    const gone = await forgetChat({ ...deps, db: tx }, who)
    await forgetMessages(
      tx,
      gone.map(({ id }) => id),
    )
    const wallets = gone.map(({ wallet }) => wallet)
    if (who.name !== null) await acting.forgetName(tx, wallets, who.name)
  })
}

async function replanReminders(
  deps: Deps,
  tx: Db,
  wallet: Address,
  settings: Settings,
): Promise<void> {
  const open = await episodes.listOpen(tx, [wallet])
  // The next look at a flapping signal is planned by its changes.
  const steady = open.filter(({ flappingAlertId }) => flappingAlertId === null)
  await acting.remindAgain(tx, planReminders(steady, settings, deps.clock.now()))
}
