/**
 * All destinations of a wallet in one list: named recipients, linked chats, and the wallet's own channels,
 * which have no name, are defaults, and use the wallet's language and time zone.
 */
import type { ChannelTraits } from '#src/channels/define.ts'
import type { Channels } from '#src/channels/index.ts'
import { REGISTRY as CHANNELS } from '#src/channels/index.ts'
import { type Db, transact } from '#src/db/connection.ts'
import type { Caller, Scope } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import { type AddedListener, isGroup } from './added.ts'
import { decryptDestination } from './destination-box.ts'
import type { NewRecipient, Recipient, RecipientChanges } from './model.ts'
import {
  changeFoundRecipient,
  createRecipient,
  deleteFoundRecipient,
  toRecipient,
} from './service.ts'
import { lockWallet } from './settings.ts'
import * as store from './store.ts'
import { changedDestination, newDestination } from './typed-destination.ts'

/** One destination with all data for its owner. */
export interface Destination extends Recipient {
  /**
   * Whether it is the wallet's own destination of its channel, which has no name and which watches cannot
   * name.
   */
  readonly own: boolean
  /** For chats: id, whether it is a group, and its rights. */
  readonly chat: {
    readonly id: number
    readonly isGroup: boolean
    readonly scopes: readonly Scope[]
  } | null
  /** Time since which every attempt failed. */
  readonly failingSince: Date | null
  /** Time since which it has its status. */
  readonly switchedAt: Date
  /** For webhooks: last characters of the newest signing secret, and the time since which it is the newest. */
  readonly key: { readonly ending: string; readonly since: Date } | null
}

interface Deps {
  readonly db: Db
  readonly clock: Clock
  readonly box: SecretBox
  readonly channels: Channels
}

interface AddingDeps extends Deps {
  readonly notices: AddedListener
  readonly quarantine: Quarantine
}

/** Number of characters of a secret that are shown. */
const ENDING_LENGTH = 4

/** All destinations of the wallet: named recipients, then its own channels. */
export async function listDestinations(
  deps: Pick<Deps, 'db' | 'box'>,
  caller: Caller,
): Promise<readonly Destination[]> {
  const rows = await store.listOfWallet(deps.db, caller.wallet)
  return rows
    .toSorted((a, b) => Number(a.own) - Number(b.own) || a.id - b.id)
    .map((row) => toDestination(deps.box, row))
}

/**
 * One destination.
 * @throws AppError not_found
 */
export async function getDestination(
  deps: Pick<Deps, 'db' | 'box'>,
  caller: Caller,
  id: number,
): Promise<Destination> {
  const row = await store.findOfWallet(deps.db, caller.wallet, id)
  if (row === undefined) throw new AppError('not_found', 'not_found')
  return toDestination(deps.box, row)
}

/** The recipient that was created, or the wallet's destination that already has the address. */
export type AddedDestination =
  | { readonly kind: 'added'; readonly recipient: Recipient }
  | { readonly kind: 'known'; readonly id: number }

/**
 * Creates a recipient like `createRecipient`, unless the wallet has a destination of the channel with the same
 * address. Of two calls at once, the second finds the recipient of the first.
 *
 * @throws the errors of `createRecipient`
 */
export async function addDestination(
  deps: AddingDeps,
  caller: Caller,
  input: NewRecipient,
): Promise<AddedDestination> {
  newDestination(deps.channels[input.channel], input)
  return await transact(deps.db, async (tx) => {
    await lockWallet(tx, caller.wallet, deps.clock.now())
    const rows = await store.listOfWallet(tx, caller.wallet)
    const existing = rows.find(
      (row) => row.channel === input.channel && hasAddress(deps, row, input),
    )
    if (existing !== undefined) return { kind: 'known', id: existing.id }
    return { kind: 'added', recipient: await createRecipient({ ...deps, db: tx }, caller, input) }
  })
}

/** Whether a destination has the address of a valid input. One that cannot be read is quarantined and has none. */
function hasAddress(
  { box, channels, clock, quarantine }: AddingDeps,
  row: store.RecipientRow,
  { address, url }: NewRecipient,
): boolean {
  try {
    const stored = decryptDestination(box, row.destination)
    const channel = channels[row.channel]
    return changedDestination(channel, stored, { address, url }, clock.now()) === undefined
  } catch (error) {
    quarantine.add('destination', row.id, error)
    return false
  }
}

/**
 * Changes a destination like `updateRecipient`. Of the wallet's own destinations only status, signing secret and lowest
 * severity can be changed: changes of address, URL, name, language, time zone and default setting are ignored.
 *
 * @throws AppError not_found; invalid `validation_failed`; upstream `channel_unavailable`
 */
export async function changeDestination(
  deps: Deps,
  caller: Caller,
  { id, changes }: { readonly id: number; readonly changes: RecipientChanges },
): Promise<Destination> {
  const { own } = await getDestination(deps, caller, id)
  const { status, rotateSecret, minSeverity } = changes
  const allowedChanges = own ? { status, rotateSecret, minSeverity } : changes
  const { row, secret } = await changeFoundRecipient(
    deps,
    caller,
    { id, changes: allowedChanges },
    store.findOfWallet,
  )
  return { ...toDestination(deps.box, row), ...(secret !== undefined && { secret }) }
}

/** Deletes a destination. @throws AppError not_found */
export function removeDestination(
  deps: Pick<Deps, 'db' | 'clock'>,
  caller: Caller,
  id: number,
): Promise<void> {
  return deleteFoundRecipient(deps, caller, id, store.findOfWallet)
}

function toDestination(box: SecretBox, row: store.RecipientRow): Destination {
  const { own, chatId, chatScopes, failingSince, switchedAt } = row
  return {
    ...toRecipient(row),
    own,
    chat: chatId === null ? null : { id: chatId, isGroup: isGroup(row), scopes: chatScopes ?? [] },
    failingSince,
    switchedAt,
    key: keyOf(box, row),
  }
}

function keyOf(box: SecretBox, row: store.RecipientRow): Destination['key'] {
  const { signingKey }: ChannelTraits = CHANNELS[row.channel]
  if (signingKey === undefined) return null
  const { key, since } = signingKey(decryptDestination(box, row.destination))
  return { ending: key.slice(-ENDING_LENGTH), since: since ?? row.createdAt }
}
