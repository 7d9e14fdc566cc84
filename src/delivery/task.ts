/** One message in progress to one recipient, and its result. */
import type { DeliveryError, Receipt } from '#src/channels/define.ts'
import type { EnvelopeKind, MessageState } from '#src/channels/envelope.ts'
import type { ChannelKey } from '#src/channels/index.ts'
import type { ClaimedRow } from './due-store.ts'
import type { OutagePicture } from './picture-rules.ts'

/** A message to send, or a sent one to change. */
export interface Task {
  readonly channel: ChannelKey
  readonly recipientId: number
  readonly wallet: string
  readonly partitionKey: string
  /** Whether it was in its recipient's backlog. */
  readonly backlog?: boolean
  /** Its deliveries, in the order they fired; none if a message is only updated. */
  readonly rows: readonly ClaimedRow[]
  /** Unchecked `Envelope`. */
  readonly envelope: unknown
  /** How the sent message is stored. Undefined for channels that get each alert once, such as webhooks. */
  readonly keep?: RetainedMessage
  /** The message to change; undefined for a new one. */
  readonly change?: MessageChange
  /** Id of the answered message at the destination. */
  readonly answersMessageId?: string
}

export interface RetainedMessage {
  readonly kind: EnvelopeKind
  readonly watchId: number | null
  readonly recovery: boolean
  readonly loud: boolean
  readonly openedAt: Date
  /** Known state of each alert in it, by id. */
  readonly states: ReadonlyMap<number, MessageState>
  /** The picture that may follow the message. */
  readonly picture?: OutagePicture
}

export interface MessageChange {
  readonly id: string
  readonly messageId: string
  readonly version: number
  readonly leasedUntil: Date
  /** Failures so far. */
  readonly revisions: number
  /** Whether it gets more alerts. */
  readonly isLonger: boolean
  readonly state: MessageState
}

/** Result of an attempt. */
export type AttemptResult =
  | { readonly kind: 'delivered'; readonly receipt: Receipt }
  | { readonly kind: 'failed'; readonly error: DeliveryError }
  /** The destination is gone or off: nothing was sent. */
  | { readonly kind: 'off' }
  /** The message to change was deleted. */
  | { readonly kind: 'gone' }
  /** It is no longer needed: nothing was sent. */
  | { readonly kind: 'obsolete' }
  /** Aborted by the stop of this process, or its place came too late. */
  | { readonly kind: 'aborted' }

/** A task with its result. */
export interface TaskResult {
  readonly task: Task
  readonly isTest: boolean
  readonly at: Date
  readonly ending: AttemptResult
  /** Whether the previous attempt had no response either. */
  readonly isSuspect?: boolean
}
