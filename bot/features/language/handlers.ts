import { Composer } from 'grammy'
import type { Locale } from '#src/kernel/locale.ts'
import { updateChat } from '#src/operations/chat/chat.ts'
import { setFollowerLanguage } from '#src/operations/chat/follow.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature, type Feature, onPress } from '../../core/feature.ts'
import { identifyAgain } from '../../core/middleware/identify.ts'
import { setChatCommands } from '../../core/registration.ts'
import { show } from '../../core/show.ts'
import { changeChat } from '../../core/store.ts'
import { languageChoice } from './view.ts'

/**
 * The language of a chat.
 * @param features called for their commands when a language is chosen
 */
export function createLanguageFeature(features: () => readonly Feature[]): Feature {
  const composer = new Composer<BotContext>()

  onPress(composer, 'settings.lang', { members: 'administrators', unlinked: true }, (ctx) =>
    showLanguages(ctx),
  )

  onPress(
    composer,
    'settings.langSet',
    { members: 'administrators', unlinked: true },
    async (ctx, { locale }) => {
      await setLanguage(ctx, locale, features())
      await showLanguages(ctx)
    },
  )

  return defineFeature({ commands: [], composer })
}

/** Shows the choice of the chat's language. */
export async function showLanguages(ctx: BotContext): Promise<void> {
  const hasSettings = !ctx.reader.isGroup && ctx.links.length > 0
  await show(ctx, languageChoice(ctx.reader, { hasSettings }))
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
