/** The watch by which a provider is judged for its followers: one for all of them, with the default signals. */
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import { NewWatch } from '../model.ts'
import * as store from '../store.ts'
import { insertNewWatch, removeWatch } from './service.ts'

const TYPE = 'provider-fsp'

/**
 * Adds the watch of a wallet of followers, unless it exists. It needs no slot. The wallet must be locked.
 *
 * @param about `provider`: identity address; `name`: public name, with which the alerts begin; the newest one counts
 */
export async function watchForFollowers(
  tx: Db,
  about: {
    readonly wallet: Address
    readonly provider: Address
    readonly name: string
    readonly at: Date
  },
): Promise<void> {
  const { wallet, provider, name: label, at } = about
  const [existing] = await store.listWatches(tx, wallet, 0, 1)
  if (existing === undefined) {
    const input = NewWatch.parse({
      type: TYPE,
      target: { provider },
      minSeverity: 'critical',
      label,
    })
    await insertNewWatch(tx, wallet, { input, canonicalTarget: input.target, at })
  } else if (existing.label !== label) {
    await store.updateWatch(tx, { wallet, id: existing.id }, { label, updatedAt: at })
  }
}

/**
 * Deletes the watch of a wallet of followers. The wallet must be locked.
 * @returns its id; undefined if there is none
 */
export async function unwatchForFollowers(tx: Db, wallet: Address): Promise<number | undefined> {
  const [watch] = await store.listWatches(tx, wallet, 0, 1)
  if (watch === undefined) return undefined
  await removeWatch(tx, wallet, watch.id)
  return watch.id
}
