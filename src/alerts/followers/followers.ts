/**
 * Following a data provider, free and without a wallet: a private chat hears of the beginning and the end of its
 * critical alerts. All followers of a provider share one watch with the default signals, which belongs to a wallet
 * of nobody (`followersWallet`). Alerts, deliveries, messages and limits are those of every watch.
 */
import type { Channels } from '#src/channels/index.ts'
import { type Db, transact } from '#src/db/connection.ts'
import { deleteMessagesOfRecipients } from '#src/delivery/log/delivery-log.ts'
import * as delivery from '#src/delivery/service.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import { followersWallet } from '#src/kernel/followers.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import type { Address } from '#src/kernel/units.ts'
import {
  addFollower,
  type Follower,
  findFollower,
  listLostFollowers,
  lockFollowers,
  removeFollower,
} from '#src/recipients/followers.ts'
import { unwatchForFollowers, watchForFollowers } from '#src/watches/manage/followed-watch.ts'
import { closeAlertsOfWatch } from '../acknowledge/store.ts'

interface Deps {
  readonly db: Db
  readonly clock: Clock
}

/** A provider that a chat follows. */
export type Followed = Pick<Follower, 'recipientId' | 'provider' | 'name'>

/** Result of following a provider. */
export interface FollowResult {
  /** The provider that the chat followed before; undefined if it followed none, or the same. */
  readonly instead: Followed | undefined
}

/** Maximum number of transactions of one change. One is repeated when a concurrent one changed what the chat follows. */
const TRIES_MAX = 5

/**
 * Lets a private chat follow a provider, instead of the one that it follows. A chat that follows the provider already
 * goes on.
 *
 * @param input `provider`: identity address; `name`: public name, with which the alerts begin
 * @throws AppError upstream `dependency_unavailable` when concurrent changes were in the way of each of `TRIES_MAX` tries
 */
export async function followProvider(
  deps: Deps & { readonly box: SecretBox; readonly channels: Channels },
  input: {
    readonly chatId: number
    readonly locale: Locale
    readonly provider: Address
    readonly name: string
  },
): Promise<FollowResult> {
  const { chatId, provider, name } = input
  const wallet = followersWallet(provider)
  return await changeFollowed(deps, chatId, [wallet], async (tx, before) => {
    const at = deps.clock.now()
    const isSame = before?.wallet === wallet && before.isActive
    if (before !== undefined && !isSame) await leave(tx, before, at)
    const isAdded = isSame || (await addFollower({ ...deps, db: tx }, { ...input, wallet, at }))
    // A concurrent transaction has let the chat follow another provider.
    if (!isAdded) return undefined
    await watchForFollowers(tx, { wallet, provider, name, at })
    const isOther = before?.isActive === true && before.wallet !== wallet
    return { instead: isOther ? followedOf(before) : undefined }
  })
}

/**
 * Lets a chat follow nothing any more.
 * @returns the provider that it followed; undefined if it followed none
 */
export async function stopFollowing(
  deps: Deps,
  { chatId }: { readonly chatId: number },
): Promise<Followed | undefined> {
  const { stopped } = await changeFollowed(deps, chatId, [], async (tx, before) => {
    if (before !== undefined) await leave(tx, before, deps.clock.now())
    return { stopped: before }
  })
  return stopped?.isActive === true ? followedOf(stopped) : undefined
}

/** The provider that a chat follows. */
export async function findFollowed(
  { db }: Pick<Deps, 'db'>,
  { chatId }: { readonly chatId: number },
): Promise<Followed | undefined> {
  const follower = await findFollower(db, chatId)
  return follower?.isActive === true ? followedOf(follower) : undefined
}

const LOST_PER_READ = 100

/** Deletes what chats followed that do not let the bot write any more. */
export async function pruneFollowers(deps: Deps): Promise<void> {
  let after = 0
  for (;;) {
    const lost = await listLostFollowers(deps.db, { after, limit: LOST_PER_READ })
    for (const { chatId } of lost) await stopFollowing(deps, { chatId })
    const last = lost.at(-1)
    if (last === undefined) return
    after = last.id
  }
}

/**
 * Changes what a chat follows, with the wallets of both providers locked: of the one that it follows, and of those in
 * `wallets`.
 *
 * @param change returns undefined, without having written anything, to be called again
 */
async function changeFollowed<Result extends object>(
  { db, clock }: Deps,
  chatId: number,
  wallets: readonly Address[],
  change: (tx: Db, before: Follower | undefined) => Promise<Result | undefined>,
): Promise<Result> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const result = await transact(db, async (tx) => {
      const seen = await findFollower(tx, chatId)
      await lockFollowers(tx, [...wallets, ...(seen ? [seen.wallet] : [])], clock.now())
      // Whoever changes the chat's row locks its wallet first, so the row stays as it is from here on.
      const before = await findFollower(tx, chatId)
      return before?.recipientId === seen?.recipientId ? await change(tx, before) : undefined
    })
    if (result !== undefined) return result
  }
  throw new AppError('upstream', 'dependency_unavailable', { retryAfterSeconds: 1 })
}

/**
 * Removes a follower with the texts that it was sent, which nothing could find again; after the last one also the watch,
 * whose open alerts are closed.
 */
async function leave(tx: Db, follower: Follower, at: Date): Promise<void> {
  if (!(await removeFollower(tx, follower))) return
  await deleteMessagesOfRecipients(tx, [follower.recipientId])
  const watchId = await unwatchForFollowers(tx, follower.wallet)
  if (watchId === undefined) return
  const closed = await closeAlertsOfWatch(tx, watchId, at)
  await delivery.reviseMessages(
    tx,
    closed.map(({ id }) => id),
  )
}

function followedOf({ recipientId, provider, name }: Follower): Followed {
  return { recipientId, provider, name }
}
