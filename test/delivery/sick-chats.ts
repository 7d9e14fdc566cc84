import { DeliveryError, defineChannel } from '#src/channels/define.ts'
import type { Envelope } from '#src/channels/envelope.ts'
import { TelegramDestination } from '#src/channels/telegram/telegram.ts'
import { createSendingState } from '#src/delivery/sending/sending-state.ts'
import { enqueue, type NewDelivery, newDeliveryId } from '#src/delivery/service.ts'
import { toStoredDestination } from '#src/recipients/destination-box.ts'
import * as recipientRows from '#src/recipients/store.ts'
import { drain } from '../support/drain.ts'
import { envelopeOf } from '../support/envelopes.ts'
import type { Outbox } from './outbox.ts'

/** Answer of a chat; undefined: it accepts the message. */
export type Answer = DeliveryError | undefined

/** The chat refuses the message. */
export const REFUSED = new DeliveryError('rejected', { statusCode: 400 })

/** Many chats behind one messenger, with answers set by a test, and one process with its state. */
export function openChats(outbox: Outbox, answer: (chatId: number) => Answer | Promise<Answer>) {
  const got = new Map<number, Envelope[]>()
  const tries: number[] = []
  const edits: string[] = []
  const defined = defineChannel<TelegramDestination>({
    destination: TelegramDestination,
    limits: { capacity: 30, initialLimit: 1, limitMax: 1 },
    isOneService: true,
    available: () => true,
    mask: ({ chatId }) => `chat ${chatId}`,
    partitionKey: ({ chatId }) => String(chatId),
    send: async ({ chatId }, envelope) => {
      tries.push(chatId)
      const refusal = await answer(chatId)
      if (refusal !== undefined) throw refusal
      got.set(chatId, [...(got.get(chatId) ?? []), envelope])
      return { messageId: `${chatId} ${tries.length}` }
    },
    edit: async (_destination, messageId) => {
      edits.push(messageId)
      return { messageId }
    },
  })
  const telegram = { key: 'telegram', ...defined } as const
  const channels = { ...outbox.channels, telegram }
  const deps = { ...outbox.deps, channels, sending: createSendingState(channels) }
  return {
    deps,
    tries,
    edits,
    /** The alerts that arrived in a chat. */
    alertsIn: (chatId: number) =>
      (got.get(chatId) ?? []).flatMap(({ items, message }) =>
        (items ?? [message]).map(({ alertId }) => alertId),
      ),
    deliver: () => drain(deps),
    link: async (chatId: number): Promise<ChatTarget> => {
      const now = outbox.clock.now()
      const wallet = `0x${Math.abs(chatId).toString(16).padStart(40, '0')}` as const
      const { id } = await recipientRows.insertRow(outbox.db, {
        wallet,
        channel: 'telegram',
        own: false,
        name: 'Chat',
        ...toStoredDestination(outbox.box, telegram, { chatId }),
        locale: 'en',
        timezone: 'UTC',
        status: 'active',
        minSeverity: 'info',
        isDefault: true,
        createdAt: now,
        updatedAt: now,
      })
      return { id, wallet, chatId }
    },
    notify: async (drafts: readonly SickDraft[]): Promise<string[]> => {
      const rows = drafts.map((draft) => deliveryOf(draft, outbox.clock.now()))
      await outbox.db.transaction((tx) => enqueue(tx, rows))
      return rows.map(({ id }) => id)
    },
  }
}

export interface ChatTarget {
  readonly id: number
  readonly wallet: string
  readonly chatId: number
}

export interface SickDraft {
  readonly to: ChatTarget
  readonly alert: number
  readonly severity?: 'info' | 'warning' | 'critical'
  /** Signal of the alert; the same for all by default. */
  readonly signal?: string
  readonly kind?: Envelope['kind']
}

function deliveryOf(draft: SickDraft, now: Date): NewDelivery {
  const { to, alert, severity = 'info', signal = 'balance', kind } = draft
  const id = newDeliveryId(now)
  return {
    id,
    wallet: to.wallet,
    alertId: alert,
    recipientId: to.id,
    channel: 'telegram',
    partitionKey: String(to.chatId),
    orderKey: `${to.id} 1 ${signal}`,
    firedAt: now,
    position: alert,
    envelope: envelopeOf({
      deliveryId: id,
      ...(kind !== undefined && { kind }),
      message: { alertId: alert, watchId: 1, severity, firedAt: now.toISOString() },
    }),
    createdAt: now,
    status: 'pending',
  }
}
