import { setTimeout as wait } from 'node:timers/promises'
import { UnexpectedAnswerError } from '../customer.ts'
import type { ChatMessage, InlineButton } from '../telegram/model.ts'
import type { TelegramApi } from '../telegram-api.ts'

/** One person in the chat with the bot. */
export interface TourChat {
  /** Opens a `t.me` link to the bot and presses Start. */
  open(link: string): void
  say(text: string): void
  /** Presses the button with this label, once it exists, and waits until the bot has handled it. */
  press(label: string): Promise<void>
  /**
   * The newest message of the bot with that text.
   * @throws UnexpectedAnswerError on timeout
   */
  read(text: string): Promise<ChatMessage>
}

const PATIENCE_MS = 10_000
const LOOK_MS = 20

/** Acts as a person in the chat with the bot. */
export function createTourChat(api: TelegramApi, chatId: number): TourChat {
  const fromBot = () =>
    api.messages(chatId).filter((message) => message.from === api.bot.id && !message.service)
  const find = async (what: string, fits: (message: ChatMessage) => boolean) => {
    const giveUpAt = performance.now() + PATIENCE_MS
    for (;;) {
      const message = fromBot().findLast(fits)
      if (message !== undefined) return message
      if (performance.now() > giveUpAt) throw new UnexpectedAnswerError(what, describe(fromBot()))
      await wait(LOOK_MS)
    }
  }
  return {
    open: (link) => {
      const url = new URL(link)
      const isBot = url.host === 't.me' && url.pathname === `/${api.bot.username}`
      if (!isBot) throw new UnexpectedAnswerError(`a t.me link to ${api.bot.username}`, link)
      api.send(chatId, `/start ${url.searchParams.get('start') ?? ''}`.trim())
    },
    say: (text) => {
      api.send(chatId, text)
    },
    press: async (label) => {
      const message = await find(`a message with the button “${label}”`, (message) =>
        hasButton(message, label),
      )
      const data = buttonOf(message, label)?.callback_data ?? ''
      await api.press(chatId, message.id, data).answer(PATIENCE_MS)
    },
    read: (text) =>
      find(`a message with “${text}”`, (message) => normalizedText(message.text).includes(text)),
  }
}

function hasButton(message: ChatMessage, label: string): boolean {
  return buttonOf(message, label) !== undefined
}

function buttonOf(message: ChatMessage, label: string): InlineButton | undefined {
  return message.keyboard.flat().find((button) => normalizedText(button.text).includes(label))
}

function describe(messages: readonly ChatMessage[]): string {
  const last = messages.at(-1)
  if (last === undefined) return 'nothing from the bot'
  const labels = last.keyboard.flat().map(({ text }) => `[${text}]`)
  return [`last “${normalizedText(last.text)}”`, ...labels].join(' ')
}

/** Normalizes spaces and removes direction marks. */
export function normalizedText(text: string): string {
  return text.replace(/[\u200e\u200f\u2066-\u2069]/g, '').replace(/\s+/g, ' ')
}
