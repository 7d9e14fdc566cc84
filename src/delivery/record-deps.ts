import type { Channels } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import type { ChatLink } from '#src/recipients/chats.ts'
import type { SwitchedOffListener } from '#src/recipients/destinations.ts'
import type { StateReader } from './chat-situation.ts'

export interface RecordDeps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  readonly box: SecretBox
  readonly channels: Channels
  /** States of alerts, for messages that can be changed. */
  readonly stateOf: StateReader
  readonly quarantine: Quarantine
  /** Notified of destinations that this switched off or moved, in the same transaction. */
  readonly notices: SwitchedOffListener & TopicListener
}

/** A chat whose topic was deleted: its alerts go to General from now on. */
export interface TopicGone {
  readonly link: ChatLink
  readonly partitionKey: string
  /** The topic. */
  readonly threadId: number
  /** All recipients of the chat, one per wallet. */
  readonly recipientIds: readonly number[]
}

/** Notifies a chat of its deleted topic, in the transaction that moves it. */
export interface TopicListener {
  topicGone(tx: Db, gone: TopicGone): Promise<void>
}
