/**
 * Whether a chat is a group or supergroup: those have negative ids; a private chat has the id of its
 * person.
 */
export function isGroupId(chatId: number): boolean {
  return chatId < 0
}
