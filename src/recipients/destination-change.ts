/** Changes that named recipients and the wallet's own channels share. */
import type { Channel } from '#src/channels/define.ts'
import type { DestinationInput } from '#src/channels/destination-form.ts'
import type { ChannelKey, Channels } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import type { Address } from '#src/kernel/units.ts'
import { forgetRecipient } from '#src/watches/manage/service.ts'
import { cancelConfirmation, planConfirmation } from './confirmations.ts'
import { decryptDestination, toStoredDestination } from './destination-box.ts'
import { RECIPIENTS_MAX } from './model.ts'
import { statusAfterChange } from './rules.ts'
import * as store from './store.ts'
import { changedDestination } from './typed-destination.ts'

/**
 * An available channel.
 * @throws AppError upstream `channel_unavailable`
 */
export function requireChannel(channels: Channels, key: ChannelKey): Channel<unknown> {
  const channel = channels[key]
  if (!channel.available()) throw new AppError('upstream', 'channel_unavailable')
  return channel
}

/**
 * Checks the limit of named recipients of a locked wallet.
 *
 * @throws AppError conflict `recipient_limit_reached`
 */
export async function requireCapacity(tx: Db, wallet: Address): Promise<void> {
  if ((await store.countNamed(tx, wallet)) < RECIPIENTS_MAX) return
  throw new AppError('conflict', 'recipient_limit_reached', { values: { count: RECIPIENTS_MAX } })
}

/**
 * Changes a row's destination and status. The caller's transaction must have locked the wallet.
 *
 * @param change `input`: the typed changes of the destination; `wanted`: the new status, undefined to keep it
 *
 * @throws AppError invalid `validation_failed`; upstream `channel_unavailable`
 */
export async function applyDestinationChange(
  deps: {
    readonly box: SecretBox
    readonly channels: Channels
  },
  tx: Db,
  row: store.RecipientRow,
  change: {
    readonly input: DestinationInput
    readonly wanted: 'active' | 'disabled' | undefined
    readonly now: Date
  },
): Promise<{ readonly row: store.RecipientRow; readonly secret?: string | undefined }> {
  const { now, input, wanted } = change
  const before = decryptDestination(deps.box, row.destination)
  const changed = changedDestination(deps.channels[row.channel], before, input, now)
  if (changed === undefined && wanted === undefined) return { row }
  const isAddressChanged = changed?.isAddressChanged ?? false
  const { ask, ...state } = statusAfterChange(row, { isAddressChanged, wanted })
  const channel =
    changed || ask ? requireChannel(deps.channels, row.channel) : deps.channels[row.channel]
  if (isAddressChanged || wanted === 'disabled') await cancelConfirmation(tx, row.id)
  const isFresh = isAddressChanged || (state.status === 'active' && row.status !== 'active')
  const saved = await store.updateRow(tx, row.id, {
    ...(changed && toStoredDestination(deps.box, channel, changed.destination)),
    ...state,
    ...(isFresh && { failingSince: null }),
    ...(isAddressChanged && { lastSuccessAt: null, lastFailureAt: null }),
    updatedAt: now,
  })
  if (ask) await planConfirmation(tx, saved, changed?.destination ?? before, now)
  return { row: saved, secret: changed?.secret }
}

/** Deletes a row and its unsent messages. */
export async function deleteDestination(tx: Db, row: store.RecipientRow): Promise<void> {
  await cancelConfirmation(tx, row.id)
  await forgetRecipient(tx, row.wallet, row.id)
  await store.deleteRow(tx, row.id)
}
