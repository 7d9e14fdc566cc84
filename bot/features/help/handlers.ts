import { Composer } from 'grammy'
import { isReceiveOnly } from '../../core/chat.ts'
import type { BotContext } from '../../core/context.ts'
import { commandText, defineFeature, type Feature, type Menu, onPress } from '../../core/feature.ts'
import { send, show } from '../../core/show.ts'
import { groupHelp, HELP_PAGES, helpMenu, helpPage, nothingOpen } from './view.ts'

/**
 * Help, with the commands of every feature.
 * @param features called when help is shown
 */
export function createHelpFeature(features: () => readonly Feature[]): Feature {
  const composer = new Composer<BotContext>()
  const commandsOf = (ctx: BotContext) => {
    const menu = menuOf(ctx)
    return features()
      .flatMap(({ commands }) => commands)
      .filter(({ menus, isBilled }) => {
        return menus.includes(menu) && (isBilled !== true || ctx.app.billing.enabled)
      })
      .map((command) => ({ name: command.name, text: commandText(command, menu) }))
  }

  const helpOf = (ctx: BotContext) => {
    const { reader, app } = ctx
    const rights = { isReceiveOnly: isReceiveOnly(ctx), support: app.supportUrl }
    return reader.isGroup
      ? groupHelp(reader, { ...rights, commands: commandsOf(ctx) })
      : helpMenu(reader, { ...rights, pages: app.publicUrl })
  }

  composer.command('help', async (ctx) => {
    await send(ctx, helpOf(ctx))
  })

  onPress(composer, 'help', { unlinked: true }, async (ctx, { topic }) => {
    const { reader, links, app } = ctx
    const page = HELP_PAGES.find((page) => page === topic)
    const isHidden = page === 'credits' && !app.billing.enabled
    // The pages speak of credits, and lead on to what a group does not show.
    if (page === undefined || isHidden || reader.isGroup) {
      await show(ctx, helpOf(ctx))
      return
    }
    const [link] = links
    const view = helpPage(reader, page, {
      commands: commandsOf(ctx),
      pages: app.publicUrl,
      support: app.supportUrl,
      isLinked: link !== undefined,
      canWrite: link?.caller.scopes.includes('write') === true,
    })
    await show(ctx, view)
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
