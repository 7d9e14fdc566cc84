/** One message on its way to one recipient, and what became of it. */
import type { DeliveryError, EnvelopeKind, MessageState, Receipt } from '#src/channels/define.ts'
import type { ChannelKey } from '#src/channels/index.ts'
import type { ClaimedRow } from './due-store.ts'

/** A message that is sent, or one that is there and is changed. */
export interface Task {
  readonly channel: ChannelKey
  readonly recipientId: number
  readonly wallet: string
  readonly partitionKey: string
  /** It waited in its recipient's backlog. */
  readonly backlog?: boolean
  /** The deliveries it brings, in the order they fired; none where a message is only brought up to date. */
  readonly rows: readonly ClaimedRow[]
  /** To be checked as `Envelope`. */
  readonly envelope: unknown
  /** Of a chat or mailbox: how what was sent is kept. Undefined for webhooks. */
  readonly keep?: Keep
  /** The message that is changed; undefined where a new one is sent. */
  readonly change?: Change
  /** What the message it answers is called at the destination. */
  readonly answersMessageId?: string
}

export interface Keep {
  readonly kind: EnvelopeKind
  readonly watchId: number | null
  readonly recovery: boolean
  readonly loud: boolean
  readonly openedAt: Date
  /** What was known of each alert in it, by id. */
  readonly states: ReadonlyMap<number, MessageState>
}

export interface Change {
  readonly id: string
  readonly messageId: string
  readonly version: number
  readonly leasedUntil: Date
  /** Failures so far. */
  readonly revisions: number
  readonly state: MessageState
}

/** What an attempt came to. */
export type Ending =
  | { readonly kind: 'delivered'; readonly receipt: Receipt }
  | { readonly kind: 'failed'; readonly error: DeliveryError }
  /** The destination is gone or off: nothing was sent. */
  | { readonly kind: 'off' }
  /** The message to be changed is not there any more. */
  | { readonly kind: 'gone' }
  /** It is not worth telling any more: nothing was sent. */
  | { readonly kind: 'needless' }
  /** Broken off by our own stop. */
  | { readonly kind: 'broken_off' }

/** A task whose attempt is over. */
export interface Ended {
  readonly task: Task
  readonly isTest: boolean
  readonly at: Date
  readonly ending: Ending
  /** The destination did not answer the attempt before either. */
  readonly isSuspect?: boolean
}
