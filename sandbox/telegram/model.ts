/**
 * The nouns of the local Bot API. State objects are immutable snapshots. `Wire` is the HTTP form, with
 * Telegram's own names.
 */

/** A JSON object in the shape of the Bot API. */
export type Wire = Readonly<Record<string, unknown>>

/** A human with a Telegram account. The private chat with the bot has the same id. */
export interface Person {
  readonly id: number
  readonly firstName: string
  /** IETF tag of the app's language, as the bot sees it. */
  readonly languageCode: string
  readonly username: string | undefined
}

/** The bot of this server's token. */
export interface BotAccount {
  readonly id: number
  readonly firstName: string
  readonly username: string
}

/** The chat of one person with the bot. */
export interface PrivateChat {
  readonly type: 'private'
  readonly id: number
  readonly person: Person
  /** False until the person's first message: before that the bot may not write. */
  readonly started: boolean
  readonly blocked: boolean
  readonly pinned: readonly number[]
}

/** Status of a person in a group; `restricted`, in a channel, is an administrator who may not post. */
export type MemberStatus = 'creator' | 'administrator' | 'restricted' | 'member' | 'left'

/** Status of the bot in a group; `restricted` may read but not write: in a channel, an administrator who may not post. */
export type BotStatus = 'administrator' | 'member' | 'restricted' | 'left' | 'kicked'

/** A person in a group. */
export interface Member {
  readonly person: Person
  readonly status: MemberStatus
}

/** One topic of a forum. Its id is its `message_thread_id`. */
export interface Topic {
  readonly id: number
  readonly name: string
  readonly closed: boolean
}

/** A basic group, a supergroup, or a channel, in which administrators alone write. */
export interface GroupChat {
  readonly type: 'group' | 'supergroup' | 'channel'
  readonly id: number
  readonly title: string
  readonly isForum: boolean
  readonly members: readonly Member[]
  readonly botStatus: BotStatus
  readonly topics: readonly Topic[]
  /** The supergroup this basic group became; its own id refuses messages. */
  readonly migratedTo: number | undefined
  readonly pinned: readonly number[]
}

/** A chat with messages. */
export type Chat = PrivateChat | GroupChat

/** A formatted part of a text; offsets in UTF-16 units. Names as on the wire. */
export interface Entity {
  readonly type: string
  readonly offset: number
  readonly length: number
  readonly url?: string
  readonly language?: string
  readonly user?: Wire
  readonly custom_emoji_id?: string
  readonly unix_time?: number
  readonly date_time_format?: string
}

/** A text with its markup as entities. */
export interface FormattedText {
  readonly text: string
  readonly entities: readonly Entity[]
}

/** A button below a message; exactly one of the actions is set. Names as on the wire. */
export interface InlineButton {
  readonly text: string
  readonly style?: 'primary' | 'success' | 'danger'
  readonly callback_data?: string
  readonly url?: string
  readonly web_app?: { readonly url: string }
  readonly copy_text?: { readonly text: string }
  readonly switch_inline_query?: string
  readonly switch_inline_query_current_chat?: string
  readonly switch_inline_query_chosen_chat?: Wire
  readonly disabled?: Wire
}

/** Rows of buttons. */
export type Keyboard = readonly (readonly InlineButton[])[]

/** A sent file. `width` and `height` are known for photos. */
export interface StoredFile {
  readonly id: string
  readonly kind: 'photo' | 'document' | 'voice' | 'sticker'
  readonly name: string
  readonly mimeType: string
  readonly bytes: Uint8Array
  readonly width: number | undefined
  readonly height: number | undefined
}

/** Options of the preview of a page below or above a text, as in the Bot API. */
export interface LinkPreview {
  readonly is_disabled?: true
  /** The page; by default the first link of the text. */
  readonly url?: string
  readonly prefer_small_media?: true
  readonly prefer_large_media?: true
  readonly show_above_text?: true
}

/** A message in its present state. */
export interface ChatMessage {
  readonly chatId: number
  readonly id: number
  /** Id of the account that sent it; the bot's own id for its messages. */
  readonly from: number
  /** Sent in the group's name by an anonymous administrator. */
  readonly anonymous: boolean
  readonly at: Date
  readonly editedAt: Date | undefined
  /** Text, or the caption of a photo or document. */
  readonly text: string
  readonly entities: readonly Entity[]
  readonly file: StoredFile | undefined
  /** Topic of a forum, or the root of a chain of replies in other supergroups. */
  readonly threadId: number | undefined
  readonly isTopic: boolean
  readonly replyTo: number | undefined
  readonly keyboard: Keyboard
  /** A reply keyboard, its removal, or a forced reply: all markup that is not inline. */
  readonly otherMarkup: Wire | undefined
  readonly linkPreview: LinkPreview | undefined
  /** Sent without sound. */
  readonly silent: boolean
  /** Posted by a person through an inline query of the bot. */
  readonly viaBot: boolean
  /** Fields of a service message, such as `pinned_message` or `migrate_to_chat_id`. */
  readonly service: Wire | undefined
}

/** One request of the bot, with its result. */
export interface Call {
  readonly sequence: number
  /** In the spelling of the documentation, such as `sendMessage`. */
  readonly method: string
  /** Parameters with JSON decoded; a file appears as `{ file, bytes }`. */
  readonly payload: Wire
  readonly at: Date
  readonly result: unknown
  /** Set when the call was refused. */
  readonly refused: { readonly code: number; readonly description: string } | undefined
}

/** The bot's answer to a press: empty, a toast, or an alert box. */
export interface CallbackAnswer {
  readonly queryId: string
  readonly chatId: number
  readonly messageId: number
  readonly personId: number
  readonly text: string
  readonly showAlert: boolean
  readonly url: string | undefined
  readonly at: Date
}

/** The bot's answer to an inline query. */
export interface InlineAnswer {
  readonly queryId: string
  readonly personId: number
  readonly results: readonly Wire[]
  readonly button: Wire | undefined
  readonly cacheSeconds: number
  readonly isPersonal: boolean
}

/** Every observable change. */
export type ChatChange =
  | { readonly kind: 'chat'; readonly chat: Chat }
  | { readonly kind: 'message'; readonly message: ChatMessage }
  | { readonly kind: 'gone'; readonly chatId: number; readonly messageId: number }
  | { readonly kind: 'call'; readonly call: Call }
  | { readonly kind: 'answer'; readonly answer: CallbackAnswer }
  | { readonly kind: 'inline'; readonly answer: InlineAnswer }
  | { readonly kind: 'action'; readonly chatId: number; readonly threadId: number | undefined }
  | { readonly kind: 'profile' }
  | { readonly kind: 'confirmed' }

/** The account in `from` when a group administrator writes anonymously. */
export const ANONYMOUS_ADMINISTRATOR_ID = 1087968824
