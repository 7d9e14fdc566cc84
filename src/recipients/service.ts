import { REGISTRY as CHANNELS, type Channels } from '#src/channels/index.ts'
import { type Db, transact } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import { PAGE_LIMIT_DEFAULT, type Page, readCursor, toPage } from '#src/kernel/pagination.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import { type Address, ID_MAX } from '#src/kernel/units.ts'
import { type AddedListener, creatorOf, toAdded } from './added.ts'
import { planConfirmation } from './confirmations.ts'
import { toStoredDestination } from './destination-box.ts'
import {
  applyDestinationChange,
  deleteDestination,
  requireCapacity,
  requireChannel,
} from './destination-change.ts'
import type { NewRecipient, NotifiedRecipient, Recipient, RecipientChanges } from './model.ts'
import * as rescheduling from './reschedule-store.ts'
import { chooseRecipients, type NotificationRequest, type RecipientCandidate } from './rules.ts'
import { lockWallet } from './settings.ts'
import * as store from './store.ts'
import { newDestination } from './typed-destination.ts'

/** Name that binds a cursor to this list. */
const LIST = 'recipients'

interface PageQuery {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

interface Deps {
  readonly db: Db
  readonly clock: Clock
  readonly box: SecretBox
  readonly channels: Channels
}

interface CreatingDeps extends Deps {
  readonly notices: AddedListener
}

/**
 * The wallet's named recipients, by id. @throws AppError invalid `validation_failed` for an invalid cursor
 */
export async function listRecipients(
  deps: { readonly db: Db },
  caller: Caller,
  { limit = PAGE_LIMIT_DEFAULT, cursor }: PageQuery,
): Promise<Page<Recipient>> {
  const [after = 0] = readCursor(cursor, [ID_MAX], LIST) ?? []
  const rows = await store.listNamed(deps.db, caller.wallet, { after, limit: limit + 1 })
  const page = toPage(rows, limit, LIST, ({ id }) => [id])
  return { ...page, data: page.data.map((row) => toRecipient(row)) }
}

/** One named recipient of the wallet, if it exists. */
export async function findRecipient(
  deps: { readonly db: Db },
  caller: Caller,
  id: number,
): Promise<Recipient | undefined> {
  const row = await store.findNamed(deps.db, caller.wallet, id)
  return row && toRecipient(row)
}

/** Selects the ids that are not named recipients of the wallet. */
export async function listUnknownRecipients(
  deps: { readonly db: Db },
  caller: Caller,
  ids: readonly number[],
): Promise<number[]> {
  const known = await store.listKnownIds(deps.db, caller.wallet, ids)
  return ids.filter((id) => !known.includes(id))
}

/** The fields of a recipient that other rooms read. */
export type RecipientFields = Pick<
  store.RecipientRow,
  | 'id'
  | 'wallet'
  | 'channel'
  | 'partitionKey'
  | 'name'
  | 'target'
  | 'locale'
  | 'timezone'
  | 'status'
  | 'statusReason'
  | 'switchedAt'
  | 'failingSince'
  | 'createdAt'
  | 'mutedUntil'
  | 'rescheduleAt'
  | 'chatId'
  | 'chatScopes'
  | 'follows'
>

/** These recipients, by id; deleted recipients are missing. */
export async function readRecipientsById(
  db: Db,
  ids: readonly number[],
): Promise<ReadonlyMap<number, RecipientFields>> {
  const rows = ids.length === 0 ? [] : await store.listRows(db, [...new Set(ids)])
  return new Map(rows.map((row) => [row.id, row]))
}

/** Like `readRecipientsById` for one recipient, which is locked until the transaction ends. */
export function lockRecipient(tx: Db, id: number): Promise<RecipientFields | undefined> {
  return store.lockRow(tx, id)
}

/**
 * Marks deferred deliveries of these wallets' recipients for rescheduling after a change of mutes or settings.
 * A job does it, because there may be many.
 */
export function requestReschedule(tx: Db, wallets: readonly Address[], at: Date): Promise<void> {
  return rescheduling.markReschedule(tx, wallets, at)
}

/** Recipients, by id, above `after`, whose deferred deliveries must be rescheduled. */
export function listReschedule(db: Db, after: number, limit: number): Promise<readonly number[]> {
  return rescheduling.listReschedule(db, after, limit)
}

/** Removes the mark of the time `seen`. A newer mark stays. */
export function endReschedule(db: Db, id: number, seen: Date | null): Promise<void> {
  return rescheduling.clearReschedule(db, id, seen)
}

/** Every recipient of a wallet, including its own channels, by id. */
export function listAllRecipients(
  db: Db,
  wallet: Address,
): Promise<readonly Pick<RecipientFields, 'id' | 'timezone' | 'mutedUntil'>[]> {
  return store.listCandidates(db, [wallet])
}

/** Every recipient of a wallet as `chooseRecipients` sees it, by id. */
export function listCandidates(db: Db, wallet: Address): Promise<readonly RecipientCandidate[]> {
  return store.listCandidates(db, [wallet])
}

/**
 * Creates a recipient from a typed destination. A mailbox gets only the confirmation e-mail until its
 * reader agrees. Only this response contains a webhook's signing secret. Unless the input says otherwise, it is a
 * default recipient if the wallet's defaults and own channels are all off, unconfirmed or missing: alerts of watches that
 * name no recipient would otherwise reach nobody.
 *
 * @throws AppError invalid `validation_failed`; conflict `use_telegram_link`, `recipient_limit_reached`;
 * upstream `channel_unavailable`
 */
export async function createRecipient(
  deps: CreatingDeps,
  caller: Caller,
  input: NewRecipient,
): Promise<Recipient> {
  const { channel: key } = input
  const made = newDestination(deps.channels[key], input)
  const channel = requireChannel(deps.channels, key)
  const now = deps.clock.now()
  const row = await transact(deps.db, async (tx) => {
    const settings = await lockWallet(tx, caller.wallet, now)
    await requireCapacity(tx, caller.wallet)
    const created = await store.insertRow(tx, {
      wallet: caller.wallet,
      channel: key,
      own: false,
      name: input.name,
      ...toStoredDestination(deps.box, channel, made.destination),
      locale: input.locale ?? settings.locale,
      timezone: input.timezone ?? settings.timezone,
      status: CHANNELS[key].needsConsent ? 'pending' : 'active',
      minSeverity: input.minSeverity ?? 'info',
      isDefault: input.default ?? !(await store.hasActiveDefault(tx, caller.wallet)),
      createdAt: now,
      updatedAt: now,
    })
    if (CHANNELS[key].needsConsent) await planConfirmation(tx, created, made.destination, now)
    await deps.notices.linked(tx, toAdded(created, await creatorOf({ ...deps, db: tx }, caller)))
    return created
  })
  return toRecipient(row, made.secret)
}

/**
 * Changes a recipient. A mailbox that gets another address, or is switched on without having been
 * confirmed, waits for its reader's consent. The response contains a webhook's new secret.
 *
 * @throws AppError not_found; invalid `validation_failed`; upstream `channel_unavailable`
 */
export async function updateRecipient(
  deps: Deps,
  caller: Caller,
  input: { readonly id: number; readonly changes: RecipientChanges },
): Promise<Recipient> {
  const { row, secret } = await changeFoundRecipient(deps, caller, input, store.findNamed)
  return toRecipient(row, secret)
}

/** Like `updateRecipient`, for the row that `find` returns, with the wallet locked. */
export async function changeFoundRecipient(
  deps: Deps,
  caller: Caller,
  { id, changes }: { readonly id: number; readonly changes: RecipientChanges },
  find: typeof store.findNamed,
): Promise<{ readonly row: store.RecipientRow; readonly secret?: string | undefined }> {
  const now = deps.clock.now()
  return await transact(deps.db, async (tx) => {
    await lockWallet(tx, caller.wallet, now)
    const row = await find(tx, caller.wallet, id)
    if (row === undefined) throw new AppError('not_found', 'not_found')
    const { row: placed, secret } = await applyDestinationChange(deps, tx, row, {
      input: changes,
      wanted: changes.status,
      now,
    })
    const saved = await store.updateRow(tx, placed.id, {
      ...(changes.name !== undefined && { name: changes.name }),
      ...(changes.locale !== undefined && { locale: changes.locale }),
      ...(changes.timezone !== undefined && { timezone: changes.timezone }),
      ...(changes.minSeverity !== undefined && { minSeverity: changes.minSeverity }),
      ...(changes.default !== undefined && { isDefault: changes.default }),
      updatedAt: now,
    })
    return { row: saved, secret }
  })
}

/** Deletes a recipient; watches that named only it use the defaults from then on. */
export function deleteRecipient(
  deps: { readonly db: Db; readonly clock: Clock },
  caller: Caller,
  id: number,
): Promise<void> {
  return deleteFoundRecipient(deps, caller, id, store.findNamed)
}

/** Like `deleteRecipient`, for the row that `find` returns, with the wallet locked. */
export async function deleteFoundRecipient(
  deps: { readonly db: Db; readonly clock: Clock },
  caller: Caller,
  id: number,
  find: typeof store.findNamed,
): Promise<void> {
  await transact(deps.db, async (tx) => {
    await lockWallet(tx, caller.wallet, deps.clock.now())
    const row = await find(tx, caller.wallet, id)
    if (row === undefined) throw new AppError('not_found', 'not_found')
    await deleteDestination(tx, row)
  })
}

const WALLETS_AT_ONCE = 5_000

/**
 * Chooses the recipients of each request, in order. Makes one query for every 5,000 wallets.
 *
 * Equal requests share one array, so that 100,000 watches of few wallets need little memory.
 */
export async function chooseRecipientsOfEach(
  db: Db,
  requests: readonly NotificationRequest[],
): Promise<readonly (readonly NotifiedRecipient[])[]> {
  const wallets = [...new Set(requests.map(({ wallet }) => wallet))]
  const byWallet = new Map<Address, readonly store.WalletCandidate[]>()
  for (let from = 0; from < wallets.length; from += WALLETS_AT_ONCE) {
    const some = await store.listCandidates(db, wallets.slice(from, from + WALLETS_AT_ONCE))
    for (const [wallet, all] of Map.groupBy(some, (walletCandidate) => walletCandidate.wallet))
      byWallet.set(wallet, all)
  }
  const recipientsByRequest = new Map<string, readonly NotifiedRecipient[]>()
  return requests.map((request) => {
    const key = `${request.wallet} ${request.severity} ${request.recipientIds?.join() ?? ''}`
    const known = recipientsByRequest.get(key)
    if (known !== undefined) return known
    const recipients = chooseRecipients(byWallet.get(request.wallet) ?? [], request).map(
      toNotifiedRecipient,
    )
    recipientsByRequest.set(key, recipients)
    return recipients
  })
}

function toNotifiedRecipient({ status, ...candidate }: RecipientCandidate): NotifiedRecipient {
  const { id, channel, partitionKey, locale, timezone, isGroup, isFollower, mutedUntil } = candidate
  return {
    id,
    channel,
    partitionKey,
    locale,
    timezone,
    isGroup,
    isFollower,
    mutedUntil,
    isOff: status !== 'active',
  }
}

/** Converts a row to a recipient as callers see it. */
export function toRecipient(row: store.RecipientRow, secret?: string): Recipient {
  return {
    id: row.id,
    name: row.name ?? '',
    channel: row.channel,
    target: row.target,
    locale: row.locale,
    timezone: row.timezone,
    status: row.status,
    statusReason: row.statusReason,
    minSeverity: row.minSeverity,
    default: row.isDefault,
    createdAt: row.createdAt,
    verifiedAt: row.verifiedAt,
    lastSuccessAt: row.lastSuccessAt,
    lastFailureAt: row.lastFailureAt,
    ...(secret !== undefined && { secret }),
  }
}
