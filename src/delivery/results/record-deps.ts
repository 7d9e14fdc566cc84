import type { Channels } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import type { ChatLink } from '#src/recipients/chats.ts'
import type { SwitchedOffListener } from '#src/recipients/destinations.ts'
import type { IncidentReader, StateReader } from '../chats/chat-situation.ts'

export interface RecordDeps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  readonly box: SecretBox
  readonly channels: Channels
  /** States of alerts, for messages that can be changed. */
  readonly stateOf: StateReader
  /** States of incidents, for channels that follow them. */
  readonly incidentOf: IncidentReader
  readonly quarantine: Quarantine
  /**
   * Listeners that are notified of destinations that were switched off or moved, in the same transaction.
   */
  readonly notices: SwitchedOffListener & TopicGoneListener
}

/** A chat whose topic was deleted, so that its alerts go to the topic General from now on. */
export interface TopicGone {
  readonly link: ChatLink
  readonly partitionKey: string
  /** Id of the deleted topic. */
  readonly threadId: number
  /** All recipients of the chat, one per wallet. */
  readonly recipientIds: readonly number[]
}

/** Notifies a chat of its deleted topic, in the transaction that removes the topic from the destination. */
export interface TopicGoneListener {
  topicGone(tx: Db, gone: TopicGone): Promise<void>
}
