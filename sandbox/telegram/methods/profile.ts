import {
  type Arguments,
  integerArgument,
  isObject,
  jsonArgument,
  textArgument,
  textField,
} from '../arguments.ts'
import type { Backend } from '../backend.ts'
import { accessibleChat } from '../chat-store.ts'
import type { BotCommand, CommandListScope, ProfileText } from '../profile.ts'
import { DEFAULT_SCOPE } from '../profile.ts'
import { badRequest } from '../refusal.ts'
import { botDetailsWire } from '../wire.ts'
import type { BotApiMethod } from './define.ts'

const COMMANDS_MAX = 100
const COMMAND_LENGTH_MAX = 32
const COMMAND_DESCRIPTION_MAX = 256

/** Methods about the bot itself: identity, commands, texts and menu button. */
export const PROFILE: readonly BotApiMethod[] = [
  { name: 'getMe', run: (backend) => botDetailsWire(backend.bot) },
  {
    name: 'setMyCommands',
    run(backend, args) {
      const commands = readCommands(args)
      const scope = readScope(backend, args)
      backend.profile.setCommands(scope, readLanguage(args), commands)
      return true
    },
  },
  {
    name: 'getMyCommands',
    run: (backend, args) => backend.profile.commands(readScope(backend, args), readLanguage(args)),
  },
  {
    name: 'deleteMyCommands',
    run(backend, args) {
      backend.profile.setCommands(readScope(backend, args), readLanguage(args), undefined)
      return true
    },
  },
  ...textMethods('Name', 'name', 'name', 64),
  ...textMethods('Description', 'description', 'description', 512),
  ...textMethods('ShortDescription', 'shortDescription', 'short_description', 120),
  {
    name: 'setChatMenuButton',
    run(backend, args) {
      const button = jsonArgument(args, 'menu_button', 'menu button') ?? { type: 'default' }
      const type = isObject(button) ? textField(button, 'type') : ''
      if (!['commands', 'default', 'web_app'].includes(type)) {
        throw badRequest("can't parse menu button: MenuButton has unsupported type")
      }
      backend.profile.setMenuButton(menuChat(backend, args), button)
      return true
    },
  },
  {
    name: 'getChatMenuButton',
    run: (backend, args) => backend.profile.menuButton(menuChat(backend, args)),
  },
]

/** `setMy…` and `getMy…` of one text per language. */
function textMethods(
  suffix: string,
  what: ProfileText,
  parameter: string,
  lengthMax: number,
): readonly BotApiMethod[] {
  return [
    {
      name: `setMy${suffix}`,
      run(backend, args) {
        const value = textArgument(args, parameter)
        if ([...value].length > lengthMax) {
          throw badRequest(`${parameter.replace('_', ' ')} is too long`)
        }
        backend.profile.setText(what, readLanguage(args), value)
        return true
      },
    },
    {
      name: `getMy${suffix}`,
      run: (backend, args) => ({ [parameter]: backend.profile.text(what, readLanguage(args)) }),
    },
  ]
}

function readLanguage(args: Arguments): string {
  const language = textArgument(args, 'language_code')
  if (!/^(?:[a-z]{2})?$/.test(language)) throw badRequest('invalid language code specified')
  return language
}

function readCommands(args: Arguments): readonly BotCommand[] {
  const value = jsonArgument(args, 'commands', 'commands')
  if (!Array.isArray(value)) throw badRequest('expected an Array of BotCommand')
  if (value.length > COMMANDS_MAX) throw badRequest('BOT_COMMANDS_TOO_MUCH')
  return value.map((entry) => {
    if (!isObject(entry)) throw badRequest("can't parse BotCommand: expected an Object")
    const command = textField(entry, 'command').trim().replace(/^\//, '')
    const description = textField(entry, 'description').trim()
    if (command === '') throw badRequest('command must be non-empty')
    if (command.length > COMMAND_LENGTH_MAX) {
      throw badRequest(`command length must not exceed ${COMMAND_LENGTH_MAX}`)
    }
    if (!/^[a-z0-9_]+$/.test(command)) throw badRequest('BOT_COMMAND_INVALID')
    if (description === '') throw badRequest('command description must be non-empty')
    if ([...description].length > COMMAND_DESCRIPTION_MAX) {
      throw badRequest(`command description length must not exceed ${COMMAND_DESCRIPTION_MAX}`)
    }
    return { command, description }
  })
}

const PLAIN_SCOPES = ['default', 'all_private_chats', 'all_group_chats', 'all_chat_administrators']
const CHAT_SCOPES = ['chat', 'chat_administrators', 'chat_member']

function readScope(backend: Backend, args: Arguments): CommandListScope {
  const value = jsonArgument(args, 'scope', 'BotCommandScope')
  if (value === undefined) return DEFAULT_SCOPE
  if (!isObject(value)) {
    throw badRequest("can't parse BotCommandScope: BotCommandScope must be an Object")
  }
  const type = textField(value, 'type')
  if (PLAIN_SCOPES.includes(type)) return { type, chatId: undefined, userId: undefined }
  if (!CHAT_SCOPES.includes(type)) {
    throw badRequest("can't parse BotCommandScope: Unsupported type specified")
  }
  const chat = accessibleChat(backend.chats, textField(value, 'chat_id'), 'read')
  if (type !== 'chat' && chat.type === 'private') {
    throw badRequest("can't use specified scope in private chats")
  }
  const userId = type === 'chat_member' ? Number(textField(value, 'user_id')) : undefined
  if (userId !== undefined && !(userId > 0)) {
    throw badRequest("can't parse BotCommandScope: Invalid user_id specified")
  }
  return { type, chatId: chat.id, userId }
}

function menuChat(backend: Backend, args: Arguments): number | undefined {
  if (!args.texts.has('chat_id')) return undefined
  const id = integerArgument(args, 'chat_id')
  if (!backend.chats.findPerson(id)) throw badRequest('invalid chat_id specified')
  return id
}
