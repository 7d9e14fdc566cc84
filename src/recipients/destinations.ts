import {
  CHANNEL_KEYS,
  REGISTRY as CHANNELS,
  type ChannelKey,
  type Channels,
} from '#src/channels/index.ts'
import { type Db, transact } from '#src/db/connection.ts'
import { afterCommit } from '#src/db/transaction-scope.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import type { Address } from '#src/kernel/units.ts'
import { type AddedListener, creatorOf, isGroup, toAdded } from './added.ts'
import { planConfirmation } from './confirmations.ts'
import { decryptDestination, toStoredDestination } from './destination-box.ts'
import { applyDestinationChange, deleteDestination, requireChannel } from './destination-change.ts'
import type { LastSuccesses } from './last-successes.ts'
import {
  type ChannelSetup,
  type ChannelState,
  FAILING_HOURS_MAX,
  OFF_BY_MOVE,
  type RecipientStatus,
} from './model.ts'
import { recordDeliverySuccesses, saveFailures } from './outcome-store.ts'
import { type AttemptOutcome, type OutcomeSum, sumOutcomes } from './rules.ts'
import { lockWallet } from './settings.ts'
import * as store from './store.ts'
import { newDestination } from './typed-destination.ts'

interface Deps {
  readonly db: Db
  readonly clock: Clock
  readonly box: SecretBox
  readonly channels: Channels
  readonly notices: AddedListener
}

/**
 * Every channel with the wallet's own destination. For Telegram it is the oldest active linked chat, or the oldest
 * linked chat if none is active.
 */
export async function listChannels(
  deps: { readonly db: Db; readonly channels: Channels },
  caller: Caller,
): Promise<ChannelState[]> {
  const rows = await store.listOwnChannelsAndChats(deps.db, caller.wallet)
  return CHANNEL_KEYS.map((key) =>
    toChannelState(
      deps.channels,
      key,
      rows.find((row) => row.channel === key),
    ),
  )
}

/**
 * Sets the wallet's own destination of a channel, or switches the existing destination on again. The same destination
 * keeps its secret, unless `rotateSecret` asks for another one.
 *
 * @throws AppError not_found for an unknown channel; invalid `validation_failed`; conflict
 * `use_telegram_link`; upstream `channel_unavailable`
 */
export async function configureChannel(
  deps: Deps,
  caller: Caller,
  input: { readonly key: string; readonly setup: ChannelSetup },
): Promise<ChannelState> {
  const key = requireKey(input.key)
  const made = newDestination(deps.channels[key], input.setup)
  const channel = requireChannel(deps.channels, key)
  const now = deps.clock.now()
  return await transact(deps.db, async (tx) => {
    const settings = await lockWallet(tx, caller.wallet, now)
    const before = await store.findOwnChannel(tx, caller.wallet, key)
    if (before !== undefined) {
      const change = { input: input.setup, wanted: 'active', now } as const
      const { row, secret } = await applyDestinationChange(deps, tx, before, change)
      return toChannelState(deps.channels, key, row, secret)
    }
    const row = await store.insertRow(tx, {
      wallet: caller.wallet,
      channel: key,
      own: true,
      name: null,
      ...toStoredDestination(deps.box, channel, made.destination),
      locale: settings.locale,
      timezone: settings.timezone,
      status: CHANNELS[key].needsConsent ? 'pending' : 'active',
      minSeverity: 'info',
      isDefault: true,
      createdAt: now,
      updatedAt: now,
    })
    if (CHANNELS[key].needsConsent) await planConfirmation(tx, row, made.destination, now)
    await deps.notices.linked(tx, toAdded(row, await creatorOf({ ...deps, db: tx }, caller)))
    return toChannelState(deps.channels, key, row, made.secret)
  })
}

/**
 * Removes the destination that `listChannels` shows for a channel.
 * @throws AppError not_found if there is none
 */
export async function removeChannel(
  deps: { readonly db: Db; readonly clock: Clock; readonly channels: Channels },
  caller: Caller,
  input: { readonly key: string },
): Promise<void> {
  const key = requireKey(input.key)
  await transact(deps.db, async (tx) => {
    await lockWallet(tx, caller.wallet, deps.clock.now())
    await deleteDestination(tx, await requireShown(tx, caller.wallet, key))
  })
}

/** Id of the destination that `listChannels` shows for a channel. @throws AppError not_found */
export async function getChannelRecipientId(
  deps: { readonly db: Db; readonly channels: Channels },
  caller: Caller,
  input: { readonly key: string },
): Promise<number> {
  const key = requireKey(input.key)
  const row = await requireShown(deps.db, caller.wallet, key)
  return row.id
}

/** A decrypted destination. */
export interface DecryptedDestination {
  readonly id: number
  readonly wallet: Address
  readonly channel: ChannelKey
  /** The destination, not validated; `send` validates it by the channel's schema. */
  readonly destination: unknown
  readonly status: RecipientStatus
  readonly locale: Locale
  readonly timezone: string
  /** Null for the wallet's own channels. */
  readonly name: string | null
  readonly own: boolean
  /** Whether watches without named recipients notify this recipient. */
  readonly byDefault: boolean
  /** Whether it is a Telegram group. */
  readonly isGroup: boolean
  /** Whether it is a chat that only receives: nobody there may change anything. */
  readonly isReceiveOnly: boolean
  /** The provider that the chat follows without a wallet; null for recipients of a person's wallet. */
  readonly follows: Address | null
}

/** A destination, or why its stored data cannot be decrypted. */
export type DecryptionResult =
  | DecryptedDestination
  | { readonly id: number; readonly unreadable: unknown }

/**
 * These destinations, decrypted; deleted destinations are missing.
 *
 * @throws Error when a destination cannot be decrypted
 */
export async function decryptDestinations(
  deps: { readonly db: Db; readonly box: SecretBox },
  ids: readonly number[],
): Promise<Map<number, DecryptedDestination>> {
  const rows = await store.listRows(deps.db, ids)
  return new Map(rows.map((row) => [row.id, toOpen(deps.box, row)]))
}

/**
 * These destinations, each decrypted separately, so that one that cannot be decrypted does not affect the others.
 * Deleted destinations are missing.
 */
export async function decryptDestinationsSeparately(
  deps: { readonly db: Db; readonly box: SecretBox; readonly quarantine: Quarantine },
  ids: readonly number[],
): Promise<Map<number, DecryptionResult>> {
  const rows = await store.listRows(deps.db, ids)
  return new Map(
    rows.map((row): [number, DecryptionResult] => {
      try {
        return [row.id, toOpen(deps.box, row)]
      } catch (error) {
        deps.quarantine.add('destination', row.id, error)
        return [row.id, { id: row.id, unreadable: error }]
      }
    }),
  )
}

/** A destination that was switched off, but not by its owner. */
export interface StoppedDestination {
  readonly id: number
  readonly wallet: Address
  readonly channel: ChannelKey
  readonly name: string | null
  readonly target: string
  readonly status: RecipientStatus
  readonly statusReason: string | null
  /** Time since which every attempt failed. */
  readonly failingSince: Date | null
}

/**
 * Notifies the wallet's other recipients of destinations that are switched off, in the transaction that
 * does so.
 */
export interface SwitchedOffListener {
  switchedOff(tx: Db, stopped: readonly StoppedDestination[]): Promise<void>
}

interface RecordingDeps {
  /** The transaction that records the deliveries. */
  readonly db: Db
  readonly box: SecretBox
  readonly channels: Channels
  /** Records later what changes only the time of a success; without it all is recorded in the transaction. */
  readonly lastSuccesses?: LastSuccesses
}

/**
 * Records results of attempts, which may be in any order, with one statement for all successes and one for all
 * failures. A destination is switched off when it has failed for 120 hours, or by a result with `disable`.
 *
 * @returns the destinations that this call switched off, whose owner must be notified at another
 * destination
 */
export async function recordOutcomes(
  deps: RecordingDeps,
  outcomes: readonly AttemptOutcome[],
): Promise<readonly StoppedDestination[]> {
  for (const { recipientId, movedTo, at } of outcomes) {
    if (movedTo === undefined) continue
    const row = await store.findRecipientRow(deps.db, recipientId)
    if (row !== undefined) await moveDestination(deps, row, movedTo, at)
  }
  const sums = sumOutcomes(outcomes)
  const failing = sums.filter(({ failingSince }) => failingSince !== null)
  await recordSuccesses(deps, sums)
  const stopped = await saveFailures(deps.db, failing, FAILING_HOURS_MAX)
  return stopped.length === 0 ? [] : await store.listRows(deps.db, stopped)
}

/**
 * Writes a success now if the recipient also has a failure in these outcomes, or if it ends a series of failures.
 * The other successes are written later, from `lastSuccesses`.
 */
async function recordSuccesses(
  { db, lastSuccesses }: Pick<RecordingDeps, 'db' | 'lastSuccesses'>,
  sums: readonly OutcomeSum[],
): Promise<void> {
  const successful = sums.filter(({ successAt }) => successAt !== null)
  if (lastSuccesses === undefined) return await recordDeliverySuccesses(db, successful, 'all')
  const failing = sums.flatMap((sum) => (sum.failingSince === null ? [] : [sum.recipientId]))
  await recordDeliverySuccesses(db, lastSuccesses.pendingOf(failing), 'unchanged')
  await recordDeliverySuccesses(db, successful, 'failing')
  afterCommit(() => lastSuccesses.add(successful))
}

/**
 * Stores the new destination after Telegram gave a chat another id. If the wallet has a recipient for the new chat
 * already, that one stays as it is, and this one is switched off.
 */
export async function moveDestination(
  deps: { readonly db: Db; readonly box: SecretBox; readonly channels: Channels },
  row: store.RecipientRow,
  movedTo: unknown,
  at: Date,
): Promise<void> {
  const channel = deps.channels[row.channel]
  const chatId = chatIdOf(movedTo)
  const isTaken =
    chatId !== null &&
    chatId !== row.chatId &&
    (await store.findChat(deps.db, row.wallet, chatId)) !== undefined
  await store.updateRow(
    deps.db,
    row.id,
    isTaken
      ? { status: 'disabled', statusReason: OFF_BY_MOVE, chatId: null, updatedAt: at }
      : { ...toStoredDestination(deps.box, channel, movedTo), chatId, updatedAt: at },
  )
}

function chatIdOf(destination: unknown): number | null {
  const isChat = typeof destination === 'object' && destination !== null && 'chatId' in destination
  return isChat && typeof destination.chatId === 'number' ? destination.chatId : null
}

function requireKey(text: string): ChannelKey {
  const key = CHANNEL_KEYS.find((channelKey) => channelKey === text)
  if (key === undefined) throw new AppError('not_found', 'not_found')
  return key
}

async function requireShown(db: Db, wallet: Address, key: ChannelKey): Promise<store.RecipientRow> {
  const rows = await store.listOwnChannelsAndChats(db, wallet)
  const row = rows.find(({ channel }) => channel === key)
  if (row === undefined) throw new AppError('not_found', 'not_found')
  return row
}

function toOpen(box: SecretBox, row: store.RecipientRow): DecryptedDestination {
  return {
    id: row.id,
    wallet: row.wallet,
    channel: row.channel,
    destination: decryptDestination(box, row.destination),
    status: row.status,
    locale: row.locale,
    timezone: row.timezone,
    name: row.name,
    own: row.own,
    byDefault: row.own || row.isDefault,
    isGroup: isGroup(row),
    isReceiveOnly: row.chatId !== null && !(row.chatScopes ?? []).includes('write'),
    follows: row.follows,
  }
}

function toChannelState(
  channels: Channels,
  key: ChannelKey,
  row: store.RecipientRow | undefined,
  secret?: string,
): ChannelState {
  const channel = channels[key]
  return {
    key,
    kind: CHANNELS[key].kind,
    available: channel.available(),
    configured: row !== undefined,
    target: row?.target ?? null,
    status: row?.status ?? null,
    statusReason: row?.statusReason ?? null,
    lastSuccessAt: row?.lastSuccessAt ?? null,
    lastFailureAt: row?.lastFailureAt ?? null,
    ...(secret !== undefined && { secret }),
  }
}
