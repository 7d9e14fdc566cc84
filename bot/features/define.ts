import type { Composer } from 'grammy'
import type { ArgumentsOf, Verb } from '../callback-data.ts'
import { argumentsOf } from '../callback-data.ts'
import type { BotContext } from '../context.ts'

/** Whose `/` menu a command stands in: people, members of groups, administrators of groups. */
export type Menu = 'private' | 'group' | 'administrators'

/** A command with a line in the menus, described by the text `bot:command.<name>`. */
interface MenuCommand {
  readonly name: string
  readonly menus: readonly Menu[]
}

/** One thing the bot can do: its handlers, and the commands people are told of. */
export interface Feature {
  readonly commands: readonly MenuCommand[]
  readonly composer: Composer<BotContext>
}

/** Gives the entry back, for the registry. */
export function defineFeature(feature: Feature): Feature {
  return feature
}

/** Handles the presses of one verb, its arguments decoded. */
export function onPress<V extends Verb>(
  composer: Composer<BotContext>,
  verb: V,
  handle: (ctx: BotContext, args: ArgumentsOf<V>) => Promise<void>,
): void {
  composer.use(async (ctx, next) => {
    const { press } = ctx
    if (press?.verb !== verb) return next()
    await handle(ctx, argumentsOf<V>({ verb, args: press.args }))
  })
}
