import { randomUUID } from 'node:crypto'
import { DeliveryError, defineChannel } from '#src/channels/define.ts'
import type { Envelope, MessageState } from '#src/channels/envelope.ts'
import { TelegramDestination } from '#src/channels/telegram/telegram.ts'
import { enqueue, type NewDelivery } from '#src/delivery/service.ts'
import { toStoredDestination } from '#src/recipients/destination-box.ts'
import * as recipientRows from '#src/recipients/store.ts'
import { drain } from '../support/drain.ts'
import { envelopeOf } from '../support/envelopes.ts'
import { CALLER, type Outbox } from './outbox.ts'

/** A message in its present state in the chat. */
export interface ChatMessage {
  readonly id: string
  envelope: Envelope
  state: MessageState
  edits: number
  readonly answers: string | undefined
}

export type Chat = Awaited<ReturnType<typeof openChat>>

/**
 * A stand-in for a messenger's servers behind the outbox: a chat that can refuse, lose and delay
 * messages.
 */
export async function openChat(outbox: Outbox, { canEdit = true, chatId = 4711 } = {}) {
  const messages: ChatMessage[] = []
  const refusals: DeliveryError[] = []
  let gate: Promise<void> | undefined
  let calls = 0
  const answer = async () => {
    calls += 1
    const refusal = refusals.shift()
    await gate
    if (refusal !== undefined) throw refusal
  }
  const defined = defineChannel<TelegramDestination>({
    destination: TelegramDestination,
    limits: { capacity: 30, initialLimit: 1, limitMax: 1 },
    available: () => true,
    mask: ({ chatId }) => `chat ${chatId}`,
    partitionKey: ({ chatId }) => String(chatId),
    send: async (_destination, envelope, { answersMessageId }) => {
      await answer()
      const id = String(messages.length + 1)
      messages.push({ id, envelope, state: {}, edits: 0, answers: answersMessageId })
      return { messageId: id }
    },
    edit: async (_destination, messageId, envelope, state) => {
      await answer()
      const message = messages.find(({ id }) => id === messageId)
      if (message === undefined || message.edits < 0) return {}
      Object.assign(message, { envelope, state, edits: message.edits + 1 })
      return { messageId }
    },
  })
  const base = { key: 'telegram', ...defined } as const
  const { edit: _, ...withoutEdit } = base
  const telegram = canEdit ? base : withoutEdit
  const deps = { ...outbox.deps, channels: { ...outbox.channels, telegram } }
  const now = outbox.clock.now()
  const chat = await recipientRows.insertRow(outbox.db, {
    wallet: CALLER.wallet,
    channel: 'telegram',
    own: false,
    name: 'Ann',
    ...toStoredDestination(outbox.box, telegram, { chatId }),
    locale: 'en',
    timezone: 'UTC',
    status: 'active',
    minSeverity: 'info',
    isDefault: true,
    createdAt: now,
    updatedAt: now,
  })
  return {
    id: chat.id,
    deps,
    messages,
    calls: () => calls,
    /** Contents of each message, as the numbers of its alerts. */
    shown: () =>
      messages.map(({ envelope: { items, message } }) =>
        (items ?? [message]).map(({ alertId }) => alertId),
      ),
    refuse: (...errors: readonly DeliveryError[]) => refusals.push(...errors),
    /** Deletes its messages; new ones arrive. */
    clear: () => {
      for (const message of messages) message.edits = -1
    },
    /** Holds all answers until the promise settles. */
    hold: (until: Promise<void>) => {
      gate = until
    },
    deliver: () => drain(deps),
    notify: async (...drafts: readonly ChatDraft[]): Promise<string[]> => {
      const rows = drafts.map((draft) =>
        deliveryOf({ id: chat.id, partitionKey: `${chatId}` }, draft, outbox.clock.now()),
      )
      await outbox.db.transaction((tx) => enqueue(tx, rows))
      return rows.map(({ id }) => id)
    },
  }
}

export interface ChatDraft {
  readonly alert: number
  readonly watch?: number
  readonly signal?: string
  readonly severity?: 'info' | 'warning' | 'critical'
  readonly kind?: Envelope['kind']
  readonly test?: boolean
  /** The alert that it recovers. */
  readonly recoveryOf?: number
  /** Its incident; by default each alert has its own. */
  readonly incident?: number
  readonly status?: NewDelivery['status']
  readonly deferredUntil?: Date
  /** Milliseconds from now at which it fired; by default its number. */
  readonly firedInMs?: number
}

function deliveryOf(
  to: { readonly id: number; readonly partitionKey: string },
  draft: ChatDraft,
  now: Date,
): NewDelivery {
  const { alert, watch = 42, signal = `signal ${alert}`, kind, recoveryOf, deferredUntil } = draft
  const firedAt = new Date(now.getTime() + (draft.firedInMs ?? alert))
  const id = randomUUID()
  const isRecovery = recoveryOf !== undefined
  return {
    id,
    wallet: CALLER.wallet,
    alertId: kind === 'notice' ? null : alert,
    recipientId: to.id,
    channel: 'telegram',
    partitionKey: to.partitionKey,
    orderKey: `${to.id} ${watch} ${signal}`,
    firedAt,
    position: alert,
    envelope: envelopeOf({
      deliveryId: id,
      type: 'provider-fsp',
      signal: 'ftso-commit',
      ...(kind !== undefined && { kind }),
      ...(isRecovery && { answers: recoveryOf }),
      message: {
        alertId: alert,
        incidentId: draft.incident ?? recoveryOf ?? alert,
        watchId: watch,
        title: `Alert ${alert}`,
        test: draft.test ?? false,
        event: isRecovery ? 'fsp.ftso-commit.recovered' : 'fsp.ftso-commit',
        severity: isRecovery ? 'info' : (draft.severity ?? 'warning'),
        firedAt: firedAt.toISOString(),
      },
    }),
    createdAt: now,
    status: draft.status ?? 'pending',
    ...(deferredUntil !== undefined && { deferredUntil }),
  }
}

/** A temporary failure. */
export const DOWN = new DeliveryError('status_502', { statusCode: 502 })
/** The reader has blocked the sender. */
export const BLOCKED = new DeliveryError('blocked', { permanent: true, becomes: 'blocked' })
