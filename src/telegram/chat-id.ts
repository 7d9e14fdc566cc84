/** Whether a chat is a group or supergroup: those have negative ids, private chats the id of their person. */
export function isGroupId(chatId: number): boolean {
  return chatId < 0
}
