/**
 * How a feature is added:
 *
 * 1. `bot/features/<name>.ts`: a `Composer`, what it answers to, and one `defineFeature`. Commands by
 *    `onCommand`, presses by `onPress` (verbs with their arguments stand in `src/actions/verbs.ts`), typed
 *    answers by `defineQuestion` of `bot/session.ts`, listed in the feature's `questions`.
 * 2. One line in `bot/features/index.ts`. Features are tried in that order; the last takes what is left.
 * 3. `bot/views/<screen>.ts`: pure functions `(reader, data, options) => View`; texts in `bot.json`.
 *    A view calls `screen(lines, rows)`, which moves labels that are too long to wider rows. The last
 *    row begins with `back(…)` or `menuButton(…)`.
 * 4. Data comes from `ctx.call(operation, input, link)`, the same gate that REST passes. An `AppError` is
 *    shown by itself: thrown, it becomes a sentence above the pressed message with `Retry`.
 * 5. `show(ctx, view, task)` edits the pressed message, or the one a typed answer belongs to; `send`
 *    begins a new one. Presses are answered by themselves; `ctx.answer(text)` says more, once.
 * 6. Who may press is decided in `bot/middleware/guard.ts` by verb: verbs of private matters, verbs for
 *    chats without a link, verbs for everybody in a group. What is left needs a link, and in a group an
 *    administrator who linked the wallet; the wallet is the one that owns the object (`findWatch`).
 */
import type { Composer } from 'grammy'
import type { ArgumentsOf, Verb } from '#src/actions/codec.ts'
import { argumentsOf } from '#src/actions/codec.ts'
import { privateMatter } from '../views/notices.ts'
import { homeScreen } from '../views/screens.ts'
import { deepLink } from '../views/view.ts'
import type { BotContext } from './context.ts'
import { handleVerb } from './handled.ts'
import type { Question } from './session.ts'
import { send } from './show.ts'

/** Whose `/` menu a command stands in: people, members of groups, administrators of groups. */
export type Menu = 'private' | 'group' | 'administrators'

/** A command with a line in the menus, described by the text `bot:command.<name>`. */
interface MenuCommand {
  readonly name: string
  readonly menus: readonly Menu[]
  /** It buys something: not in the menus of a service that charges nothing. */
  readonly isBilled?: boolean
}

/** One thing the bot can do: its handlers, and the commands people are told of. */
export interface Feature {
  readonly commands: readonly MenuCommand[]
  readonly composer: Composer<BotContext>
  /** What it asks people to type. */
  readonly questions?: readonly Question[]
}

/** Gives the entry back, for the registry. */
export function defineFeature(feature: Feature): Feature {
  return feature
}

/**
 * Handles a command for chats that are linked; others see how to begin.
 *
 * @param options `privately`: never in a group, which gets a link with this payload into the private chat
 * instead. `unlinked`: also in chats that are not linked
 */
export function onCommand(
  composer: Composer<BotContext>,
  name: string,
  handle: (ctx: BotContext, text: string) => Promise<void>,
  options: { readonly privately?: string; readonly unlinked?: boolean } = {},
): void {
  const { privately, unlinked = false } = options
  composer.command(name, async (ctx) => {
    if (ctx.reader.isGroup && privately !== undefined) {
      await send(ctx, privateMatter(ctx.reader, deepLink(ctx.reader, privately)))
    } else if (ctx.links.length === 0 && !unlinked) {
      await send(ctx, await homeScreen(ctx))
    } else {
      await handle(ctx, ctx.match.trim())
    }
  })
}

/** Handles the presses of one verb, its arguments decoded. */
export function onPress<V extends Verb>(
  composer: Composer<BotContext>,
  verb: V,
  handle: (ctx: BotContext, args: ArgumentsOf<V>) => Promise<unknown>,
): void {
  handleVerb(verb)
  composer.use(async (ctx, next) => {
    const { press } = ctx
    if (press?.verb !== verb) return next()
    await handle(ctx, argumentsOf<V>({ verb, args: press.args }))
  })
}
