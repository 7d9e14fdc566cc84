/** A message that is being sent to one recipient, and the result. */
import type { DeliveryError, IncidentState, Receipt } from '#src/channels/define.ts'
import type { EnvelopeKind, MessagePicture, MessageState } from '#src/channels/envelope.ts'
import type { ChannelKey } from '#src/channels/index.ts'
import type { ClaimedRow } from '../claims/claim-store.ts'
import type { DestinationState } from '../claims/concurrency-limiter.ts'

/** A message to send, or a sent message to change. */
export interface SendTask {
  readonly channel: ChannelKey
  readonly recipientId: number
  readonly wallet: string
  readonly partitionKey: string
  /** Deliveries in the order in which their alerts fired; empty if a message is only edited. */
  readonly rows: readonly ClaimedRow[]
  /** The stored `Envelope`, not validated yet. */
  readonly envelope: unknown
  /**
   * What is stored about the message after it was sent. Undefined for channels whose messages never change,
   * such as webhooks.
   */
  readonly stored?: StoredMessage
  /** The message to change; undefined for a new one. */
  readonly change?: MessageChange
  /** The message that a new one replaces, with its deliveries; leased meanwhile. */
  readonly replaces?: ReplacedMessage
  /** Ids, at the destination, of the messages to which this message replies; undefined for one that is not known. */
  readonly answeredMessageIds?: readonly (string | undefined)[]
}

export interface StoredMessage {
  readonly kind: EnvelopeKind
  readonly watchId: number | null
  readonly recovery: boolean
  readonly loud: boolean
  readonly openedAt: Date
  /** Known state of each alert in the message, by id. */
  readonly states: ReadonlyMap<number, MessageState>
  /** The picture of the message with the label of the watch, if it shows something new. */
  readonly picture?: MessagePicture & { readonly name: string }
}

/** A message that another one replaces. */
export interface ReplacedMessage {
  readonly id: string
  readonly leasedUntil: Date | null
  readonly revisions: number
}

export interface MessageChange {
  readonly id: string
  readonly messageId: string
  readonly version: number
  readonly leasedUntil: Date
  /** Number of failed changes so far. */
  readonly revisions: number
  /** Whether alerts are added to the message. */
  readonly isLonger: boolean
  /** Whether it rings again. */
  readonly rings: boolean
  /** Whether another message replaced it, so that it is deleted. */
  readonly isReplaced: boolean
  /** Whether a person has pressed a button and waits for the change. */
  readonly isAwaited: boolean
  readonly state: MessageState
}

/** Result of an attempt. */
export type AttemptResult =
  | { readonly kind: 'delivered'; readonly receipt: Receipt }
  | { readonly kind: 'failed'; readonly error: DeliveryError }
  /** The recipient was deleted or is off, so nothing was sent. */
  | { readonly kind: 'off' }
  /** The message to change was deleted. */
  | { readonly kind: 'gone' }
  /** The message or change is no longer needed, so nothing was sent. */
  | { readonly kind: 'obsolete' }
  /** The process stopped, or the message waited too long for its place. */
  | { readonly kind: 'aborted' }

/** A task with its result. */
export interface SendTaskResult {
  readonly task: SendTask
  readonly isTest: boolean
  readonly at: Date
  readonly attemptResult: AttemptResult
  /** The state of the incident that was sent, where the channel follows it. */
  readonly incident?: IncidentState | undefined
  /** How the recipient responded to the attempt before. */
  readonly stateBefore?: DestinationState
}
