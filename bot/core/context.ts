import type { Context } from 'grammy'
import type { Press } from '#src/actions/codec.ts'
import type { Translate } from '#src/i18n/translate.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { App, Answering as Operation } from '#src/operations/define.ts'
import type { RawInput } from '#src/operations/invoke.ts'
import type { ChatLink } from '#src/recipients/chats.ts'
import type { Reader } from '../views/view.ts'
import type { KnownChat } from './store.ts'

/** A wallet the chat is linked to, and what the person behind the update may do with it here. */
export interface Membership extends ChatLink {
  readonly caller: Caller
  /** The person acts with the link's own rights; others in a group only look. */
  readonly manages: boolean
}

/** What handlers find beside Telegram's update. */
export interface BotState {
  readonly app: App
  /** The chat as we know it. */
  readonly known: KnownChat
  /** The wallets the chat is linked to; the one it works on is the first. */
  readonly links: readonly Membership[]
  /** An administrator of the group, under their own name. In private always. */
  readonly isAdministrator: boolean
  /** An administrator who writes in the group's name: who it is cannot be known. */
  readonly isAnonymous: boolean
  readonly t: Translate
  readonly reader: Reader
  /** The button that was pressed, if it is one of ours. */
  readonly press: Press | undefined
  /**
   * Asks for an operation through the gate, as the chat's first wallet or another; as nobody while
   * there is none. Its idempotency key is the update's, unless the input has one.
   *
   * @throws AppError as the gate does
   */
  call<Output>(
    operation: Operation<Output>,
    input?: Omit<RawInput, 'locale'>,
    link?: Membership,
  ): Promise<Output>
}

/** How a press is answered. */
export interface PressAnswer {
  /**
   * A toast, a box to be closed, a deep link that is opened, or nothing. Only the first call counts.
   */
  answer(text?: string, options?: { readonly box?: boolean; readonly url?: string }): Promise<void>
  /**
   * Ends what shows that work goes on, before the message with the pressed button is changed; whoever
   * changes it then also sets its buttons.
   */
  takeOver(): Promise<void>
}

/** The question that a text or file of this update answers. */
export interface Answering {
  /** The message that asks. */
  readonly messageId: number
  readonly askedAt: Date
  /** A question was asked meanwhile, this one again or the next. */
  isAsked: boolean
}

/** What handlers find while they take an answer. */
export interface SessionState {
  /** undefined: the update answers nothing. */
  answering?: Answering
  /** Asks the question again that a command closed which there is none of. */
  askAgain?: () => Promise<void>
}

/** grammY's context with what the middleware adds. */
export type BotContext = Context & BotState & PressAnswer & SessionState
