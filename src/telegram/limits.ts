/** Maximum length of a message's text, in UTF-16 units without markup. */
export const TEXT_MAX = 4096
/** Maximum length of a picture's caption, in UTF-16 units without markup. */
export const CAPTION_MAX = 1024

/**
 * Limits of a bot: one message a second to a chat, 20 a minute to a group, 30 a second in total. The last
 * limit leaves some room, because messages may arrive closer together than they were sent.
 */
export const CHAT_MS = 1000
export const GROUP_WINDOW = { count: 20, ms: 60_000 }
export const ALL_MS = 36
