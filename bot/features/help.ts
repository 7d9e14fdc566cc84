import { Composer } from 'grammy'
import type { BotContext } from '../context.ts'
import { send } from '../show.ts'
import { help, nothingOpen } from '../views/notices.ts'
import { defineFeature, type Feature, type Menu } from './define.ts'

/** Help, which names the commands of every feature. @param features asked when help is */
export function createHelpFeature(features: () => readonly Feature[]): Feature {
  const composer = new Composer<BotContext>()

  composer.command('help', async (ctx) => {
    const names = features()
      .flatMap(({ commands }) => commands)
      .filter(({ menus }) => menus.includes(menuOf(ctx)))
      .map(({ name }) => name)
    await send(ctx, help(ctx.reader, names, { buttons: !ctx.reader.isGroup }))
  })

  composer.chatType('private').command('cancel', (ctx) => send(ctx, nothingOpen(ctx.reader)))

  return defineFeature({
    commands: [{ name: 'help', menus: ['private', 'group', 'administrators'] }],
    composer,
  })
}

function menuOf({ reader, isAdministrator }: BotContext): Menu {
  if (!reader.isGroup) return 'private'
  return isAdministrator ? 'administrators' : 'group'
}
