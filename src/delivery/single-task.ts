/** Tasks of channels that get each delivery as a message of its own. Pure. */
import type { ServiceChannel } from '#src/channels/index.ts'
import { isSilent } from '#src/channels/wording.ts'
import type { ClaimedRow } from './due-store.ts'
import { DecodedEnvelope } from './stored-envelope.ts'
import type { RetainedMessage, Task } from './task.ts'

/** The task that sends one delivery. Its message is stored if the channel can change messages. */
export function singleTask(channel: ServiceChannel, row: ClaimedRow, backlog: boolean): Task {
  const { recipientId, wallet, partitionKey, envelope } = row
  const keep = channel.edit === undefined ? undefined : keepOf(row)
  return {
    channel: channel.key,
    recipientId,
    wallet,
    partitionKey,
    backlog,
    rows: [row],
    envelope,
    ...(keep && { keep }),
  }
}

/** Undefined for an envelope that cannot be read, whose attempt then says so, and for a test. */
function keepOf({ alertId, createdAt, envelope }: ClaimedRow): RetainedMessage | undefined {
  const read = DecodedEnvelope.safeParse(envelope)
  if (!read.success || alertId === null) return undefined
  const { kind = 'alert', message } = read.data
  return {
    kind,
    watchId: message.watchId,
    recovery: message.isRecovery,
    loud: !isSilent(read.data),
    openedAt: createdAt,
    states: new Map(),
  }
}
