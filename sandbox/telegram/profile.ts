import type { ChangeHub } from './change-hub.ts'
import { isAdministrator, memberOf } from './chat-store.ts'
import type { BotAccount, Chat } from './model.ts'

/** One entry of the `/` menu. */
export interface BotCommand {
  readonly command: string
  readonly description: string
}

/** Scope of a list of commands. */
export interface CommandListScope {
  readonly type: string
  readonly chatId: number | undefined
  readonly userId: number | undefined
}

/** Texts of the profile that exist per language. */
export type ProfileText = 'name' | 'description' | 'shortDescription'

/** The bot's profile beside its messages. */
export interface Profile {
  commands(scope: CommandListScope, language: string): readonly BotCommand[]
  /** Undefined deletes the list. */
  setCommands(
    scope: CommandListScope,
    language: string,
    commands: readonly BotCommand[] | undefined,
  ): void
  /** Empty when it is not set for this language. */
  text(what: ProfileText, language: string): string
  setText(what: ProfileText, language: string, text: string): void
  menuButton(chatId: number | undefined): unknown
  setMenuButton(chatId: number | undefined, button: unknown): void
  /** The menu of this person in this chat. */
  commandsFor(chat: Chat, personId: number): readonly BotCommand[]
  /** A text for this person's app: in their language, else the default. */
  textFor(what: ProfileText, languageCode: string): string
}

/** The scope for everybody. */
export const DEFAULT_SCOPE: CommandListScope = {
  type: 'default',
  chatId: undefined,
  userId: undefined,
}

/** Creates a profile with only a name. */
export function createBotProfile(bot: BotAccount, changes: ChangeHub): Profile {
  const lists = new Map<string, readonly BotCommand[]>()
  const texts = new Map<string, string>([['name:', bot.firstName]])
  const buttons = new Map<number, unknown>()
  let defaultButton: unknown = { type: 'commands' }
  const key = (scope: CommandListScope, language: string) =>
    [scope.type, scope.chatId ?? '', scope.userId ?? '', language].join(':')
  const changed = () => changes.emit({ kind: 'profile' })

  return {
    commands: (scope, language) => lists.get(key(scope, language)) ?? [],
    setCommands(scope, language, commands) {
      if (commands && commands.length > 0) lists.set(key(scope, language), commands)
      else lists.delete(key(scope, language))
      changed()
    },
    text: (what, language) => texts.get(`${what}:${language}`) ?? '',
    setText(what, language, text) {
      if (text === '') texts.delete(`${what}:${language}`)
      else texts.set(`${what}:${language}`, text)
      changed()
    },
    menuButton: (chatId) =>
      chatId === undefined ? defaultButton : (buttons.get(chatId) ?? defaultButton),
    setMenuButton(chatId, button) {
      if (chatId === undefined) defaultButton = button
      else buttons.set(chatId, button)
    },
    commandsFor(chat, personId) {
      const language = languageIn(chat, personId)
      for (const scope of scopesFor(chat, personId)) {
        const list = lists.get(key(scope, language)) ?? lists.get(key(scope, ''))
        if (list) return list
      }
      return []
    },
    textFor(what, languageCode) {
      const language = languageCode.slice(0, 2)
      return texts.get(`${what}:${language}`) ?? texts.get(`${what}:`) ?? ''
    },
  }
}

/**
 * Scopes in Telegram's order; within one the person's language has precedence over none, so a narrow list
 * without language hides a wide list in the right language.
 */
function scopesFor(chat: Chat, personId: number): readonly CommandListScope[] {
  const scope = (type: string, chatId?: number, userId?: number): CommandListScope => ({
    type,
    chatId,
    userId,
  })
  if (chat.type === 'private') {
    return [scope('chat', chat.id), scope('all_private_chats'), DEFAULT_SCOPE]
  }
  const isAdmin = isAdministrator(memberOf(chat, personId))
  return [
    scope('chat_member', chat.id, personId),
    ...(isAdmin ? [scope('chat_administrators', chat.id)] : []),
    scope('chat', chat.id),
    ...(isAdmin ? [scope('all_chat_administrators')] : []),
    scope('all_group_chats'),
    DEFAULT_SCOPE,
  ]
}

function languageIn(chat: Chat, personId: number): string {
  const person = chat.type === 'private' ? chat.person : memberOf(chat, personId)?.person
  return person?.languageCode.slice(0, 2) ?? ''
}
