/**
 * Test receivers: addresses of this service that take its own webhooks for an hour and show them. An address is a signed
 * code, so it needs no row; what arrives is stored, because any process may answer the page. Whoever has the code may
 * read and post, but only what this service itself has sent is taken.
 */
import { createHash, randomBytes } from 'node:crypto'
import { isProven } from '#src/channels/hooks/receiver-proof.ts'
import { WEBHOOK_HEADERS } from '#src/channels/hooks/webhook.ts'
import { type Db, transact } from '#src/db/connection.ts'
import { deleteInBatches } from '#src/db/delete-in-batches.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import { RECEIVED_MAX, type TestReceiver } from './model.ts'
import * as store from './receiver-store.ts'

interface Deps {
  readonly db: Db
  readonly clock: Clock
  readonly box: SecretBox
}

/** A request to a test receiver. */
export interface ReceivedRequest {
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The body as it was sent. */
  readonly body: string
  readonly proof: string
}

const PURPOSE = 'receiver'
const LIFETIME_MS = HOUR_MS
const NONCE_BYTES = 16

/** Headers that are shown. Those that a proxy adds tell about the installation and not about the delivery. */
const SHOWN = ['Content-Type', 'User-Agent', ...WEBHOOK_HEADERS.map(({ name }) => name)]

/** Creates the code of a new receiver. */
export function createReceiver({ box, clock }: Pick<Deps, 'box' | 'clock'>): string {
  const until = (clock.now().getTime() + LIFETIME_MS).toString(36)
  return box.signLink(PURPOSE, `${until}.${randomBytes(NONCE_BYTES).toString('base64url')}`)
}

/** @throws AppError not_found `link_not_valid` for a code that was not signed here */
export async function readReceiver(deps: Deps, code: string): Promise<TestReceiver> {
  const { expiresAt, isOver } = openCode(deps, code)
  const received = isOver ? [] : await store.listReceived(deps.db, addressOf(code), RECEIVED_MAX)
  return { expiresAt, isOver, received }
}

/**
 * Stores a delivery of this service.
 *
 * @returns whether the receiver is still there
 * @throws AppError not_found `link_not_valid` for a code that was not signed here, and for a request that this service
 * did not send
 */
export async function receiveDelivery(
  deps: Deps,
  code: string,
  { headers, body, proof }: ReceivedRequest,
): Promise<boolean> {
  const { isOver } = openCode(deps, code)
  if (isOver) return false
  if (!isProven(deps.box, { code, body, proof })) throw new AppError('not_found', 'link_not_valid')
  const shown = SHOWN.flatMap((name): [string, string][] => {
    const value = headers[name.toLowerCase()]
    return value === undefined ? [] : [[name, value]]
  })
  const address = addressOf(code)
  await transact(deps.db, async (tx) => {
    await store.insertReceived(tx, {
      address,
      receivedAt: deps.clock.now(),
      headers: shown,
      body,
    })
    await store.deleteAllBut(tx, address, RECEIVED_MAX)
  })
  return true
}

/** Deletes what arrived at receivers that are over. */
export async function pruneReceived({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<void> {
  const before = new Date(clock.now().getTime() - LIFETIME_MS)
  await deleteInBatches((limit) => store.deleteReceivedBefore(db, before, limit))
}

/** @throws AppError not_found `link_not_valid` */
function openCode({ box, clock }: Pick<Deps, 'box' | 'clock'>, code: string) {
  const [until = ''] = box.readLink(PURPOSE, code)?.split('.') ?? []
  const untilMs = Number.parseInt(until, 36)
  if (Number.isNaN(untilMs)) throw new AppError('not_found', 'link_not_valid')
  return { expiresAt: new Date(untilMs), isOver: untilMs <= clock.now().getTime() }
}

/** What rows have instead of the code, so that a copy of the database opens no page. */
function addressOf(code: string): string {
  return createHash('sha256').update(code).digest('hex')
}
