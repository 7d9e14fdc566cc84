/** Longest text of a message, in UTF-16 units without markup. */
export const TEXT_MAX = 4096
/** Longest caption of a picture, counted the same way. */
export const CAPTION_MAX = 1024

/**
 * Limits of a bot: one message a second to a chat, 20 a minute to a group, 30 a second in all. The last one has some room for
 * messages that the network brings together.
 */
export const CHAT_MS = 1000
export const GROUP_WINDOW = { count: 20, ms: 60_000 }
export const ALL_MS = 36
