/**
 * What the chat page is told, as JSON, and how its parts know each other. Types only: the page's
 * scripts import them in their comments.
 */
import type {
  BotStatus,
  Entity,
  InlineButton,
  Keyboard,
  MemberStatus,
  Topic,
  Wire,
} from './model.ts'

/** A person as others see them; `language` is that of their app. */
export interface PersonView {
  readonly id: number
  readonly name: string
  readonly language: string
}

/** A person in a group. */
export interface MemberView extends PersonView {
  readonly status: MemberStatus
}

/** A person's chat with the bot. */
export interface PrivateChatView {
  readonly type: 'private'
  readonly id: number
  readonly title: string
  readonly username: string | undefined
  readonly person: PersonView
  readonly started: boolean
  readonly blocked: boolean
  readonly pinned: readonly number[]
}

/** A group, with or without topics. */
export interface GroupChatView {
  readonly type: 'group' | 'supergroup'
  readonly id: number
  readonly title: string
  readonly isForum: boolean
  readonly bot: BotStatus
  readonly members: readonly MemberView[]
  readonly topics: readonly Topic[]
  readonly migratedTo: number | undefined
  readonly pinned: readonly number[]
}

export type ChatView = PrivateChatView | GroupChatView

/** A file of a message; its bytes are at `/chat/files/<id>`. */
export interface FileView {
  readonly id: string
  readonly kind: 'photo' | 'document' | 'voice' | 'sticker'
  readonly name: string
  readonly bytes: number
  readonly width: number | undefined
  readonly height: number | undefined
}

/** The message another one replies to, in short. */
export interface ReplyView {
  readonly id: number
  readonly name: string
  readonly text: string
}

/** A message as it stands now. Instants in ISO 8601. */
export interface MessageView {
  readonly id: number
  readonly chatId: number
  readonly from: number
  readonly name: string
  readonly anonymous: boolean
  readonly at: string
  readonly editedAt: string | undefined
  readonly text: string
  readonly entities: readonly Entity[]
  readonly file: FileView | undefined
  readonly threadId: number | undefined
  readonly reply: ReplyView | undefined
  readonly keyboard: Keyboard
  /** Buttons with data it had once and has no more. */
  readonly oldButtons: readonly InlineButton[]
  /** Labels of a reply keyboard. */
  readonly replyKeyboard: readonly (readonly string[])[]
  readonly silent: boolean
  readonly viaBot: boolean
  /** A sentence, for a service message. */
  readonly service: string | undefined
}

/** One call of the bot. */
export interface CallView {
  readonly sequence: number
  readonly method: string
  readonly at: string
  readonly chatId: unknown
  readonly payload: Wire
  readonly result: unknown
  readonly refused: { readonly code: number; readonly description: string } | undefined
}

/** The answer to a press. */
export interface AnswerView {
  readonly queryId: string
  readonly chatId: number
  readonly messageId: number
  readonly personId: number
  readonly text: string
  readonly showAlert: boolean
  readonly url: string | undefined
}

/** The answer to an inline query. */
export interface InlineView {
  readonly queryId: string
  readonly personId: number
  readonly results: readonly {
    readonly id: string
    readonly title: string
    readonly description: string
  }[]
  readonly button: { readonly text: string; readonly start: string } | undefined
}

/** Who the bot is. */
export interface BotView {
  readonly id: number
  readonly username: string
  readonly name: string
}

/** One server-sent event; the first one is `all`. */
export type PageEvent =
  | {
      readonly kind: 'all'
      readonly bot: BotView
      readonly chats: readonly ChatView[]
      readonly messages: readonly MessageView[]
      readonly calls: readonly CallView[]
    }
  | { readonly kind: 'chat'; readonly chat: ChatView }
  | { readonly kind: 'message'; readonly message: MessageView }
  | { readonly kind: 'gone'; readonly chatId: number; readonly messageId: number }
  | { readonly kind: 'call'; readonly call: CallView }
  | { readonly kind: 'answer'; readonly answer: AnswerView }
  | { readonly kind: 'inline'; readonly answer: InlineView }
  | { readonly kind: 'action'; readonly chatId: number }
  | { readonly kind: 'profile' }

/** The commands and texts of the bot, as one person sees them in one chat. */
export interface AboutView {
  readonly commands: readonly { readonly command: string; readonly description: string }[]
  readonly name: string
  readonly description: string
}

/** What `POST /chat/act` answers; which of them depends on the act. */
export interface ActResult {
  readonly queryId?: string
  readonly chatId?: number
  readonly threadId?: number
}

/** Who looks at a message, and what they can do with it. */
export interface Viewer {
  readonly me: number
  readonly isGroup: boolean
  readonly language: string
  open(url: string): void
  jump(messageId: number): void
  menu(message: MessageView): void
  /** Sends a text at once. */
  say(text: string): void
  /** Begins an inline query in the text field. */
  typeInline(query: string): void
}

/** The state of the page, as its parts see it. */
export interface Page {
  chat(): ChatView
  /** Id of whoever writes, with `:anonymous` behind it in a group's name. */
  author(): string
  chooseAuthor(value: string): void
  me(): number
  isAnonymous(): boolean
  /** The topic in view. */
  thread(): number | undefined
  chooseThread(id: number | undefined): void
  /** The start parameter that waits for the Start button. */
  payload(): string | undefined
  /** Takes the Start button away. */
  started(): void
  heading(): string
  choose(chatId: number): void
  reply(message: MessageView): void
  open(url: string): void
  viewer(): Viewer
}
