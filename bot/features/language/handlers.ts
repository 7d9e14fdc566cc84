import { Composer } from 'grammy'
import { isLocale, type Locale } from '#src/kernel/locale.ts'
import { updateChat } from '#src/operations/chat/chat.ts'
import { setFollowerLanguage } from '#src/operations/chat/follow.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature, type Feature, onPress } from '../../core/feature.ts'
import { identifyAgain } from '../../core/middleware/identify.ts'
import { setChatCommands } from '../../core/registration.ts'
import { send, show } from '../../core/show.ts'
import { changeChat } from '../../core/store.ts'
import type { View } from '../../views/view.ts'
import { languageChoice } from './view.ts'

/**
 * The language of a chat.
 * @param features called for their commands when a language is chosen
 */
export function createLanguageFeature(features: () => readonly Feature[]): Feature {
  const composer = new Composer<BotContext>()

  composer.command('language', async (ctx) => {
    const wanted = ctx.match.trim().toLowerCase()
    if (ctx.isAdministrator && isLocale(wanted)) await setLanguage(ctx, wanted, features())
    const notice = ctx.isAnonymous ? { notice: ctx.t.html('bot:group.anonymous') } : {}
    await send(ctx, languageScreen(ctx, { buttons: ctx.isAdministrator, ...notice }))
  })

  onPress(composer, 'settings.lang', { members: 'administrators', unlinked: true }, (ctx) =>
    show(ctx, languageScreen(ctx, { buttons: true })),
  )

  onPress(
    composer,
    'settings.langSet',
    { members: 'administrators', unlinked: true },
    async (ctx, { locale }) => {
      await setLanguage(ctx, locale, features())
      await show(ctx, languageScreen(ctx, { buttons: true }))
    },
  )

  return defineFeature({
    commands: [{ name: 'language', menus: ['private', 'administrators'] }],
    composer,
  })
}

function languageScreen(
  ctx: BotContext,
  options: { readonly buttons: boolean; readonly notice?: string },
): View {
  const hasSettings = !ctx.reader.isGroup && ctx.links.length > 0
  return languageChoice(ctx.reader, { ...options, hasSettings })
}

/** Sets the language of the chat's screens, alerts and commands. */
async function setLanguage(
  ctx: BotContext,
  locale: Locale,
  features: readonly Feature[],
): Promise<void> {
  const { app, knownChat } = ctx
  await changeChat(app.db, knownChat.id, { locale }, app.clock.now())
  if (ctx.links.length > 0) {
    await ctx.call(updateChat, { body: { chatId: knownChat.id, locale } })
  } else if (!ctx.reader.isGroup) {
    await ctx.call(setFollowerLanguage, { body: { chatId: knownChat.id, locale } })
  }
  await identifyAgain(ctx, { locale })
  await setChatCommands(ctx, features)
}
