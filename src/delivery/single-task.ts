/** Tasks of channels that get each delivery as a separate message. Pure. */
import type { ServiceChannel } from '#src/channels/index.ts'
import type { ClaimedRow } from './claim-store.ts'
import type { SendTask } from './send-task.ts'

/** The task that sends one delivery. */
export function taskOfOneDelivery(
  channel: ServiceChannel,
  row: ClaimedRow,
  backlog: boolean,
): SendTask {
  const { recipientId, wallet, partitionKey, envelope } = row
  return { channel: channel.key, recipientId, wallet, partitionKey, backlog, rows: [row], envelope }
}
