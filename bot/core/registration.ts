/**
 * The bot's profile: `/` menus, description and short description per language. The profile is read first
 * and written only if it differs, because Telegram limits these calls more strictly than messages. This
 * happens in the background, so that the start never fails.
 */
import type { Api } from 'grammy'
import type { BotCommand, BotCommandScope, LanguageCode } from 'grammy/types'
import { translate } from '#src/i18n/translate.ts'
import { LOCALES, type Locale, localeOfTag } from '#src/kernel/locale.ts'
import { apiSignal } from '#src/telegram/api.ts'
import { describe, isRefused } from '#src/telegram/errors.ts'
import type { BotContext } from './context.ts'
import { commandText, type Feature, type Menu } from './feature.ts'
import type { TelegramContact } from './telegram-contact.ts'

/** Commands by scope. Telegram uses the narrowest scope, so all of them are set. */
const SCOPES: readonly (readonly [BotCommandScope, Menu])[] = [
  [{ type: 'default' }, 'private'],
  [{ type: 'all_private_chats' }, 'private'],
  [{ type: 'all_group_chats' }, 'group'],
  [{ type: 'all_chat_administrators' }, 'administrators'],
]

/** Every language, and the default for people with another language. */
const LANGUAGES: readonly (Locale | undefined)[] = [undefined, ...LOCALES]

/** Updates the profile, until the signal is aborted. A part that Telegram refuses does not hold up the others. */
export async function registerProfile(
  deps: { readonly billing: { readonly enabled: boolean } },
  api: Api,
  all: readonly Feature[],
  { contact, signal }: { readonly contact: TelegramContact; readonly signal: AbortSignal },
): Promise<void> {
  const features = deps.billing.enabled ? all : all.map(withoutBilled)
  let left: readonly (() => Promise<void>)[] = LANGUAGES.flatMap((language) => [
    ...SCOPES.map(([scope, menu]) => () => {
      const target = { scope, ...code(language) }
      return putCommands(api, target, menu, features, signal)
    }),
    () => putTexts(api, language, signal),
  ])
  await contact.untilAccepted('bot profile could not be written', signal, async () => {
    const parts = left
    const refused: (() => Promise<void>)[] = []
    let refusal: unknown
    for (const [index, put] of parts.entries()) {
      try {
        await put()
      } catch (error) {
        left = [...parts.slice(index), ...refused]
        if (!isRefused(error, 400)) throw error
        refused.push(put)
        refusal = error
      }
    }
    left = refused
    if (refusal !== undefined) throw refusal
  })
}

/** Removes the commands that buy something from a feature. */
function withoutBilled(feature: Feature): Feature {
  return { ...feature, commands: feature.commands.filter(({ isBilled }) => isBilled !== true) }
}

type Language = { readonly language_code?: LanguageCode }

function code(language: Locale | undefined): Language {
  return language === undefined ? {} : { language_code: language }
}

async function putCommands(
  api: Api,
  target: { readonly scope: BotCommandScope } & Language,
  menu: Menu,
  features: readonly Feature[],
  signal: AbortSignal,
): Promise<void> {
  const wanted = menuCommands(features, menu, localeOfTag(target.language_code) ?? 'en')
  const current = await api.getMyCommands(target, apiSignal(signal))
  if (!isSame(current, wanted)) await api.setMyCommands(wanted, target, apiSignal(signal))
}

async function putTexts(
  api: Api,
  language: Locale | undefined,
  signal: AbortSignal,
): Promise<void> {
  const locale = language ?? 'en'
  const target = code(language)
  const long = translate(locale, 'bot:profile.description')
  const { description } = await api.getMyDescription(target, apiSignal(signal))
  if (description !== long) await api.setMyDescription(long, target, apiSignal(signal))
  const short = translate(locale, 'bot:profile.short')
  const current = await api.getMyShortDescription(target, apiSignal(signal))
  if (current.short_description !== short) {
    await api.setMyShortDescription(short, target, apiSignal(signal))
  }
}

/** Commands of one menu in one language, in the order of the features. */
function menuCommands(features: readonly Feature[], menu: Menu, locale: Locale): BotCommand[] {
  return features
    .flatMap(({ commands }) => commands)
    .filter(({ menus }) => menus.includes(menu))
    .map((command) => ({
      command: command.name,
      description: translate(locale, commandText(command, menu)),
    }))
}

function isSame(a: readonly BotCommand[], b: readonly BotCommand[]): boolean {
  const text = (commands: readonly BotCommand[]) =>
    commands.map(({ command, description }) => `${command} ${description}`).join('\n')
  return text(a) === text(b)
}

/**
 * Sets the commands in the menu of one chat, in the chat's language. In a private chat whose language is that of the
 * person's app it deletes them instead, because the commands of all chats apply. A failure is only logged.
 */
export async function setChatCommands(ctx: BotContext, all: readonly Feature[]): Promise<void> {
  const { api, knownChat, reader } = ctx
  const features = ctx.app.billing.enabled ? all : all.map(withoutBilled)
  const chat = { type: 'chat', chat_id: knownChat.id } as const
  const administrators = { type: 'chat_administrators', chat_id: knownChat.id } as const
  const put = (scope: BotCommandScope, menu: Menu) =>
    api.setMyCommands(menuCommands(features, menu, knownChat.locale), { scope })
  try {
    if (reader.isGroup) {
      await put(chat, 'group')
      await put(administrators, 'administrators')
    } else if (localeOfTag(ctx.from?.language_code) === knownChat.locale) {
      await api.deleteMyCommands({ scope: chat })
    } else {
      await put(chat, 'private')
    }
  } catch (error) {
    const fields = { updateId: ctx.update.update_id, error: describe(error) }
    ctx.app.log.warn(fields, 'menu of a chat could not be set')
  }
}
