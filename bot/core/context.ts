import type { Context } from 'grammy'
import type { Press } from '#src/actions/codec.ts'
import type { Translate } from '#src/i18n/translate.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { App, OperationWith as Operation } from '#src/operations/define.ts'
import type { RawInput } from '#src/operations/gate/invoke.ts'
import type { ChatLink } from '#src/recipients/chats.ts'
import type { Reader } from '../views/view.ts'
import type { LiveRow } from './live-store.ts'
import type { QuestionRow } from './session-store.ts'
import type { KnownChat } from './store.ts'

/**
 * A wallet linked to the chat, and the rights that the person behind the update has for this wallet in this
 * chat.
 */
export interface Membership extends ChatLink {
  readonly caller: Caller
  /** Whether the person acts with the link's rights; others in a group only read. */
  readonly manages: boolean
}

/** What handlers know about one update. */
export interface UpdateState {
  readonly app: App
  /** Stored data of the chat. */
  readonly knownChat: KnownChat
  /** Wallets linked to the chat; the selected one first. */
  readonly links: readonly Membership[]
  /**
   * Whether the person is an administrator of the group, under their own name. Always true in private
   * chats.
   */
  readonly isAdministrator: boolean
  /** Whether the person is in the group; true in a private chat. */
  readonly isMember: boolean
  /** Whether an administrator writes in the group's name, so that the person is unknown. */
  readonly isAnonymous: boolean
  readonly t: Translate
  readonly reader: Reader
  /** The person's open question when the update came, in a private chat. */
  readonly openQuestion: QuestionRow | undefined
  /**
   * The pressed message: its row if it changes later, which must end before it shows another screen; undefined once it
   * ended.
   */
  readonly pressedMessage: { readonly live: LiveRow | undefined } | undefined
  /** The pressed button, if it is a button of this bot. */
  readonly press: Press | undefined
  /**
   * Invokes an operation for the chat's selected wallet or another one; anonymously if there is none. The
   * idempotency key is that of the update, unless the input has one. A read that is repeated before the next call that
   * may change something gets the first answer.
   *
   * @throws the errors of `invoke`
   */
  call<Output>(
    operation: Operation<Output>,
    input?: Omit<RawInput, 'locale'>,
    link?: Membership,
  ): Promise<Output>
}

/** Runs an operation through the gate. */
export type InvokeOperation = <Output>(
  operation: Operation<Output>,
  input: RawInput,
) => Promise<Output>

/** Chat and person for whom a screen is made, by an update or by a job that changes a message. */
export type ChatState = Pick<
  UpdateState,
  'app' | 'knownChat' | 'links' | 't' | 'reader' | 'call'
> & {
  readonly from?: { readonly id: number } | undefined
}

/** Response to a press. */
export interface PressAnswer {
  /** Answers the press: with a toast, a box or a deep link, or silently. Only the first call counts. */
  answer(text?: string, options?: { readonly box?: boolean; readonly url?: string }): Promise<void>
  /** Toast of the press if its handler does not answer it. A long text is cut. */
  answerAtEnd(text: string): void
  /**
   * Stops the progress indication. Call it before changing the message with the pressed button: its former buttons
   * are then not restored.
   */
  takeOver(): Promise<void>
  /** Undoes `takeOver`, because the message was not changed. */
  handBack(): void
}

/** The question that a text or file of this update answers. */
export interface PendingQuestion {
  /** The message that asks. */
  readonly messageId: number
  readonly askedAt: Date
  /** Whether the handler of the answer has asked a question: the same one again, or the next one. */
  isAsked: boolean
}

/** State for handlers of answers. */
export interface AnswerFlavor {
  /** Undefined if the update answers no question. */
  answering?: PendingQuestion
  /** Whether the pressed button belongs to the screen of a question, which the press closed. */
  isQuestionPressed?: boolean
  /** Asks the question again that this command closed; called if the command is unknown. */
  askAgain?: () => Promise<void>
}

/** grammY's context with the additions of the middleware. */
export type BotContext = Context & UpdateState & PressAnswer & AnswerFlavor
