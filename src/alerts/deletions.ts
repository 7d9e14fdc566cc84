/** Deletion of watches and of the data of chats, with its effects on alerts. */
import { type Db, transact } from '#src/db/connection.ts'
import { deleteMessagesOfRecipients, removeTakers } from '#src/delivery/log/delivery-log.ts'
import * as delivery from '#src/delivery/service.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Address } from '#src/kernel/units.ts'
import { forgetRecipients } from '#src/recipients/access.ts'
import { forgetChat } from '#src/recipients/chats.ts'
import { deleteWatch, forgetWatches } from '#src/watches/manage/service.ts'
import * as acting from './acknowledge/store.ts'
import { stopFollowing } from './followers/followers.ts'
import { listIdsOfIncidents } from './incidents/part-store.ts'
import { deleteAlertsOf } from './store.ts'

/**
 * Deletes a watch and closes its open alerts; their chat messages are edited to show that.
 *
 * @throws AppError not_found
 */
export async function deleteWatchAndCloseAlerts(
  deps: Parameters<typeof deleteWatch>[0],
  caller: Caller,
  id: number,
): Promise<void> {
  await transact(deps.db, async (tx) => {
    await deleteWatch({ ...deps, db: tx }, caller, id)
    const closed = await acting.closeAlertsOfWatch(tx, id, deps.clock.now())
    await delivery.reviseMessages(
      tx,
      closed.map(({ id: alertId }) => alertId),
      { ofIncidents: await listIdsOfIncidents(tx, closed) },
    )
  })
}

/**
 * Deletes the data of a chat and its person: links, what it follows, messages with their texts, and the person's name in
 * records of actions, also of those in groups, and in the messages that show it. The wallets with their watches, alerts and ledger stay.
 *
 * @param who `name`: the person's name in records of actions
 */
export async function deleteChatData(
  deps: { readonly db: Db; readonly clock: Clock },
  who: { readonly chatId: number; readonly personId: number; readonly name: string | null },
): Promise<void> {
  await transact(deps.db, async (tx) => {
    await stopFollowing({ ...deps, db: tx }, who)
    const gone = await forgetChat({ ...deps, db: tx }, who)
    const ids = gone.map(({ id }) => id)
    await deleteMessagesOfRecipients(tx, ids)
    const wallets = gone.map(({ wallet }) => wallet)
    const nameless = await acting.removePerson(tx, who, wallets)
    const names = [...new Set(nameless.flatMap(({ name }) => name ?? []))]
    await removeTakers(tx, await listIdsOfIncidents(tx, nameless), names)
    await delivery.reviseMessages(
      tx,
      nameless.map(({ id: alertId }) => alertId),
    )
  })
}

/**
 * Deletes the wallet's watches, alerts, recipients and messages. Its slots must be locked.
 *
 * @returns ids of its recipients, and its chats that no other wallet has
 */
export async function deleteWalletData(
  tx: Db,
  wallet: Address,
  at: Date,
): Promise<{ readonly recipientIds: readonly number[]; readonly chatIds: readonly number[] }> {
  await forgetWatches(tx, wallet)
  await deleteAlertsOf(tx, wallet)
  const gone = await forgetRecipients(tx, wallet, at)
  await deleteMessagesOfRecipients(tx, gone.recipientIds)
  return gone
}
