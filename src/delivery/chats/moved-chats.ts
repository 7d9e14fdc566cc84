import { TelegramDestination } from '#src/channels/telegram/telegram.ts'
import type { Db } from '#src/db/connection.ts'
import { findChatId, listChatLinks, moveChat } from '#src/recipients/chats.ts'
import * as messages from '../messages/message-store.ts'
import type { RecordDeps } from '../results/record-deps.ts'
import type { SendTaskResult } from '../sending/send-task.ts'

/**
 * Moves the recipients of groups that Telegram gave another id. Called before the ids of messages in the new chats
 * are stored, because it deletes the ids of messages of the moved recipients.
 */
export async function recordMigratedChats(
  deps: RecordDeps,
  tx: Db,
  results: readonly SendTaskResult[],
): Promise<void> {
  const sentMessages = { forgetIds: messages.forgetMessageIds }
  for (const { task, attemptResult } of results) {
    if (attemptResult.kind !== 'delivered' || attemptResult.receipt.moved !== 'migrated') continue
    const { chatId: to } = TelegramDestination.parse(attemptResult.receipt.movedTo)
    const from = await findChatId(tx, task.recipientId)
    if (from !== null && from !== to)
      await moveChat({ ...deps, sentMessages, db: tx }, { from, to })
  }
}

/**
 * Notifies chats whose topic was deleted, while the recipient is still stored with a topic. Otherwise another process
 * has sent the notice, or the recipient was removed.
 */
export async function notifyDeletedTopics(
  deps: RecordDeps,
  tx: Db,
  results: readonly SendTaskResult[],
): Promise<void> {
  for (const { task, attemptResult } of results) {
    if (attemptResult.kind !== 'delivered' || attemptResult.receipt.moved !== 'topic_gone') continue
    const { chatId } = TelegramDestination.parse(attemptResult.receipt.movedTo)
    const links = await listChatLinks({ db: tx, box: deps.box }, chatId)
    const link = links.find(({ recipientId }) => recipientId === task.recipientId)
    if (link === undefined || link.threadId === null) continue
    const recipientIds = links.map(({ recipientId }) => recipientId)
    const deletedTopic = {
      link,
      partitionKey: task.partitionKey,
      threadId: link.threadId,
      recipientIds,
    }
    await deps.notices.topicGone(tx, deletedTopic)
  }
}
