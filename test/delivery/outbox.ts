import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { sql } from 'drizzle-orm'
import { startReceiver } from '#sandbox/receiver.ts'
import type { MessageState } from '#src/channels/envelope.ts'
import { createChannels } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import { enqueue, type NewDelivery, newDeliveryId } from '#src/delivery/service.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { type Logger, silentLogger } from '#src/kernel/logger.ts'
import { createQuarantine } from '#src/kernel/quarantine.ts'
import { createSecretBox } from '#src/kernel/secret-box.ts'
import { createNotices } from '#src/notices/service.ts'
import { createRecipient } from '#src/recipients/service.ts'
import { testClock } from '../support/clock.ts'
import { freshDatabase } from '../support/database.ts'
import { drain } from '../support/drain.ts'
import { envelopeOf } from '../support/envelopes.ts'

const WALLET = '0x3f12b8aC9d2e7F4b6A1c5D8e0F9a7B3c2d1eA91c'

const NOON = new Date('2026-11-20T12:00:00.000Z')
const RECIPIENTS_MAX = 15

export const CALLER: Caller = { wallet: WALLET, scopes: ['read', 'write'], via: 'http' }

/** Dependencies of a delivery worker on this database. A second call stands for another process. */
export function outboxDeps(
  db: Db,
  { log = silentLogger, timeoutMs = 2000 }: { log?: Logger; timeoutMs?: number } = {},
) {
  const channels = createChannels({
    telegram: undefined,
    mailer: undefined,
    from: '',
    publicUrl: 'https://watchdog.example.org',
    allowPrivateUrls: true,
    timeoutMs,
  })
  const clock = testClock(NOON)
  const states = new Map<number, MessageState>()
  const publicUrl = 'https://watchdog.example.org'
  const billing = { serviceTokenSymbol: 'WDG' }
  return {
    db,
    clock,
    log,
    quarantine: createQuarantine({ log }),
    box: createSecretBox(Buffer.alloc(32, 7)),
    channels,
    notices: createNotices({
      clock,
      publicUrl,
      box: createSecretBox(Buffer.alloc(32, 7)),
      botUsername: () => undefined,
      listChatsShowingTopup: () => Promise.resolve([]),
      billing,
    }),
    publicUrl,
    allowPrivateUrls: true,
    /** States of alerts, set by a test. */
    states,
    stateOf: async (_db: Db, ids: readonly number[]) =>
      new Map([...states].filter(([id]) => ids.includes(id))),
    /** No channel here follows its incident. */
    incidentOf: async () => ({ isOver: false, isTaken: false }),
  }
}

/** An outbox in a new database, and a webhook receiver. */
export async function openOutbox(options: { timeoutMs?: number } = {}) {
  const [database, receiver] = await Promise.all([freshDatabase(), startReceiver()])
  const deps = outboxDeps(database.db, options)
  let recipients = 0
  const outbox = {
    ...deps,
    deps,
    database,
    receiver,
    /** A worker until nothing is due. */
    deliver: (signal?: AbortSignal) => drain(deps, signal),
    /** Creates a webhook recipient with this URL. A wallet has at most 15; further ones get a wallet each. */
    addRecipient: async (url = receiver.url()): Promise<Target> => {
      recipients += 1
      const wallet = CALLER.wallet
      const name = `Hook ${recipients}`
      const caller: Caller =
        recipients > RECIPIENTS_MAX ? { ...CALLER, wallet: walletOf(recipients) } : CALLER
      const { id } = await createRecipient(deps, caller, { name, channel: 'webhook', url })
      return { id, partitionKey: new URL(url).host, wallet }
    },
    /** Puts deliveries into the outbox; returns their ids. */
    enqueue: async (...drafts: Draft[]): Promise<string[]> => {
      const deliveries = drafts.map((draft) => deliveryOf(draft, deps.clock.now()))
      await deps.db.transaction((tx) => enqueue(tx, deliveries))
      return deliveries.map(({ id }) => id)
    },
    /** All rows of `deliveries`, oldest first. */
    rows: async () =>
      await deps.db.execute<Row>(sql`
        select id, status, attempts, recipient_id as "recipientId", order_key as "orderKey",
          next_attempt_at as "nextAttemptAt", leased_until as "leasedUntil",
          last_status_code as "lastStatusCode", last_error as "lastError",
          delivered_at as "deliveredAt"
        from deliveries order by fired_at, created_at, id`),
    /** Resets everything for the next test. */
    reset: async () => {
      recipients = 0
      receiver.clear()
      receiver.answerAlways(undefined)
      deps.clock.set(NOON)
      deps.states.clear()
      await deps.db.execute(
        sql`truncate delivery_queue, delivery_log, delivery_heads, sent_messages, recipients`,
      )
    },
    close: async () => {
      await receiver.close()
      await database.drop()
    },
  }
  return outbox
}

export type Outbox = Awaited<ReturnType<typeof openOutbox>>

export interface Target {
  readonly id: number
  readonly partitionKey: string
  readonly wallet: string
}

export interface Draft {
  readonly to: Target
  readonly firedAfterSeconds?: number
  readonly position?: number
  readonly key?: string
  readonly alertId?: number
  readonly title?: string
  readonly status?: NewDelivery['status']
}

export interface Row extends Record<string, unknown> {
  readonly id: string
  readonly status: string
  readonly attempts: number
  readonly recipientId: number
  readonly orderKey: string
  readonly nextAttemptAt: Date | null
  readonly leasedUntil: Date | null
  readonly lastStatusCode: number | null
  readonly lastError: string | null
  readonly deliveredAt: Date | null
}

/** A delivery to insert. */
export function deliveryOf(draft: Draft, now: Date): NewDelivery {
  const id = newDeliveryId(now)
  const firedAt = new Date(NOON.getTime() + (draft.firedAfterSeconds ?? 0) * 1000)
  const title = draft.title ?? 'Balance changed'
  return {
    id,
    wallet: draft.to.wallet,
    alertId: draft.alertId ?? null,
    recipientId: draft.to.id,
    channel: 'webhook',
    partitionKey: draft.to.partitionKey,
    orderKey: draft.key ?? `${draft.to.id} ${id}`,
    firedAt,
    position: draft.position ?? 0,
    envelope: envelopeOf({
      deliveryId: id,
      message: { title, firedAt: firedAt.toISOString() },
    }),
    createdAt: now,
    status: draft.status ?? 'pending',
  }
}

/** An HTTP server with a given handler, for responses that the receiver cannot give. */
export async function serve(
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => Promise<void>,
): Promise<{ url(path?: string): string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    await answer(request, response, body.toString('utf8'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: (path = 'hook') => `http://127.0.0.1:${address.port}/${path}`,
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function walletOf(number: number): `0x${string}` {
  return `0x${number.toString(16).padStart(40, '0')}`
}
