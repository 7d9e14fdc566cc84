/**
 * Data of the chat page, as JSON, and the interface between its parts. Types only: the page's scripts
 * import them in their comments.
 */
import type {
  BotStatus,
  CallbackAnswer,
  Entity,
  InlineButton,
  Keyboard,
  MemberStatus,
  Topic,
  Wire,
} from './model.ts'

/** A person as others see them; `language` is the language of their app. */
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
  readonly type: 'group' | 'supergroup' | 'channel'
  readonly id: number
  readonly title: string
  readonly isForum: boolean
  readonly botStatus: BotStatus
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

/** A page whose picture a message shows; the picture is at `/chat/previews/<chat>/<message>`. */
export interface PreviewView {
  readonly url: string
  readonly isAbove: boolean
}

/** Summary of the message to which a message replies. */
export interface ReplyView {
  readonly id: number
  readonly name: string
  readonly text: string
}

/** A message in its present state. Instants in ISO 8601. */
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
  /** The page whose picture is shown with the text. */
  readonly preview: PreviewView | undefined
  readonly threadId: number | undefined
  readonly reply: ReplyView | undefined
  readonly keyboard: Keyboard
  /** Former buttons with data. */
  readonly oldButtons: readonly InlineButton[]
  /** Labels of a reply keyboard. */
  readonly replyKeyboard: readonly (readonly string[])[]
  readonly silent: boolean
  readonly viaBot: boolean
  /** Sentence of a service message. */
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
export type AnswerView = Omit<CallbackAnswer, 'at'>

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

/** Profile of the bot. */
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

/** The commands and texts of the bot for one person in one chat. */
export interface AboutView {
  readonly commands: readonly { readonly command: string; readonly description: string }[]
  readonly name: string
  readonly description: string
}

/** Answer of `POST /chat/act`; its content depends on the action. */
export interface ActResult {
  readonly queryId?: string
  readonly chatId?: number
  readonly threadId?: number
}

/** What drawing a message needs: the person at the page, and the actions of links and buttons. */
export interface MessageContext {
  readonly me: number
  readonly isGroup: boolean
  readonly language: string
  open(url: string): void
  scrollTo(messageId: number): void
  openMenu(message: MessageView): void
  /** Sends a text at once. */
  sendText(text: string): void
  /** Starts an inline query in the text field. */
  typeInline(query: string): void
}

/** State of the page for its parts. */
export interface ChatPageState {
  chat(): ChatView
  /** Id of the author, with the suffix `:anonymous` in a group's name. */
  author(): string
  chooseAuthor(value: string): void
  me(): number
  isAnonymous(): boolean
  /** The topic in view. */
  thread(): number | undefined
  chooseThread(id: number | undefined): void
  /** Pending start parameter of the Start button. */
  payload(): string | undefined
  /** Removes the Start button. */
  started(): void
  heading(): string
  choose(chatId: number): void
  reply(message: MessageView): void
  open(url: string): void
  messageContext(): MessageContext
}
