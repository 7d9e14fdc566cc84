import { TelegramDestination } from '#src/channels/telegram.ts'
import type { Db } from '#src/db/connection.ts'
import { findChatId, listChatLinks, moveChat } from '#src/recipients/chats.ts'
import * as messages from './message-store.ts'
import type { RecordDeps } from './record-deps.ts'
import type { SendTaskResult } from './send-task.ts'

/** Records groups that became other chats, before ids of messages in the new chats are stored. */
export async function followMigrations(
  deps: RecordDeps,
  tx: Db,
  over: readonly SendTaskResult[],
): Promise<void> {
  const sentMessages = { forgetIds: messages.forgetMessageIds }
  for (const { task, attemptResult } of over) {
    if (attemptResult.kind !== 'delivered' || attemptResult.receipt.moved !== 'migrated') continue
    const { chatId: to } = TelegramDestination.parse(attemptResult.receipt.movedTo)
    const from = await findChatId(tx, task.recipientId)
    if (from !== null && from !== to)
      await moveChat({ ...deps, sentMessages, db: tx }, { from, to })
  }
}

/**
 * Notifies chats whose topic was deleted, if the topic is still stored; otherwise another process has sent
 * the notice.
 */
export async function notifyTopicsGone(
  deps: RecordDeps,
  tx: Db,
  over: readonly SendTaskResult[],
): Promise<void> {
  for (const { task, attemptResult } of over) {
    if (attemptResult.kind !== 'delivered' || attemptResult.receipt.moved !== 'topic_gone') continue
    const { chatId } = TelegramDestination.parse(attemptResult.receipt.movedTo)
    const links = await listChatLinks({ db: tx, box: deps.box }, chatId)
    const link = links.find(({ recipientId }) => recipientId === task.recipientId)
    if (link === undefined || link.threadId === null) continue
    const recipientIds = links.map(({ recipientId }) => recipientId)
    const gone = { link, partitionKey: task.partitionKey, threadId: link.threadId, recipientIds }
    await deps.notices.topicGone(tx, gone)
  }
}
