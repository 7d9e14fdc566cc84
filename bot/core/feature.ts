/**
 * How to add a feature:
 *
 * 1. `bot/features/<name>/`: a `Composer` with handlers, and one `defineFeature`. Commands use `onCommand`,
 *    presses `onPress` (verbs and their arguments are in `src/actions/verbs.ts`), typed answers
 *    `defineQuestion` of `session.ts`, listed in the feature's `questions`.
 * 2. One line in `bot/features/index.ts`. Features are tried in that order; the last one gets the rest.
 * 3. `<screen>-view.ts` beside it: pure functions `(reader, data, options) => View`; texts in `bot.json`.
 *    A view calls `screen(lines, rows)`, which moves long labels to wider rows. The last row begins with
 *    `back(…)` or `menuButton(…)`. Views of several features are in `bot/views/`.
 * 4. Data comes from `ctx.call(operation, input, link)`, the same gate as for REST. A thrown `AppError`
 *    becomes a sentence above the pressed message, with `Retry`.
 * 5. `show(ctx, view, task)` edits the pressed message, or the message of the answered question; `send` sends
 *    a new message. Every press gets a response; `ctx.answer(text)` gives it a text, once.
 * 6. The rights of `onPress` (`PressRights`) say who may press: what is private, what needs no link, what
 *    every member of a group may do. Other verbs need a link, and in a group an administrator who linked
 *    the wallet that owns the object (`findWatch`). `middleware/guard.ts` checks them.
 */
import type { Composer, Middleware } from 'grammy'
import { type ArgumentsOf, isPressOf, type Verb } from '#src/actions/codec.ts'
import { checkedKey } from '#src/i18n/translate.ts'
import type { App } from '#src/operations/define.ts'
import { unlinkedHome } from '../views/hello.ts'
import { onlyInPrivateChat } from '../views/refusals.ts'
import { deepLink } from '../views/view.ts'
import { leaveGreeting, unlinkedChat } from './chat.ts'
import type { BotContext } from './context.ts'
import type { LiveKind, LiveKinds } from './live-messages.ts'
import type { Question } from './session.ts'
import { send } from './show.ts'
import { type PressRights, registerVerb } from './verb-rights.ts'

/** Menu of commands that contains a command: for people, members of groups, or administrators of groups. */
export type Menu = 'private' | 'group' | 'administrators'

/** A command with a line in the menus, described by the text of `commandText`. */
export interface MenuCommand {
  readonly name: string
  readonly menus: readonly Menu[]
  /** Whether the command buys something; then it is hidden on a free service. */
  readonly isBilled?: boolean
  /** Whether groups have a description of their own, because the command shows less there. */
  readonly isShortInGroups?: boolean
}

/** Key of the description of a command in a menu. */
export function commandText({ name, isShortInGroups }: MenuCommand, menu: Menu) {
  const isShort = menu !== 'private' && isShortInGroups === true
  return checkedKey(isShort ? `bot:command.${name}.group` : `bot:command.${name}`)
}

/** A part of the bot: its handlers, and its commands in the menus. */
export interface Feature {
  readonly commands: readonly MenuCommand[]
  readonly composer: Composer<BotContext>
  /** Questions that the feature asks. */
  readonly questions?: readonly Question[]
  /** Kinds of the feature's messages that change later. Their names are unique among all features. */
  readonly live?: LiveKinds
}

/** What the bot consists of. `bot/core` imports no feature: `bot/parts.ts` gives it these. */
export interface BotParts {
  /** Features, in the order in which they handle an update. */
  readonly features: readonly Feature[]
  /** Answers inline queries; they come from no chat, and need no identity. */
  readonly inlineQueries: (app: App) => Middleware<BotContext>
  /** Handles updates of channels, where no person acts. */
  readonly channelUpdates: (app: App) => Middleware<BotContext>
}

/** Kinds of live messages of all features, by name. */
export function liveKinds(features: readonly Feature[]): ReadonlyMap<string, LiveKind> {
  return new Map(features.flatMap(({ live = {} }) => Object.entries(live)))
}

/** Defines a feature for the registry. */
export function defineFeature(feature: Feature): Feature {
  return feature
}

/**
 * Handles a command in linked chats; others see how to start.
 *
 * @param options `privately`: not in groups, which get a link with this payload into the private chat
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
      await send(ctx, onlyInPrivateChat(ctx.reader, deepLink(ctx.reader, privately)))
    } else if (ctx.links.length === 0 && !unlinked) {
      await leaveGreeting(ctx)
      await send(ctx, unlinkedHome(ctx.reader, unlinkedChat(ctx)))
    } else {
      await handle(ctx, ctx.match.trim())
    }
  })
}

type PressHandler<V extends Verb> = (ctx: BotContext, args: ArgumentsOf<V>) => Promise<unknown>

/** Handles presses of one verb, with decoded arguments, by people who have the right to press. */
export function onPress<V extends Verb>(
  composer: Composer<BotContext>,
  verb: V,
  ...rightsAndHandler: readonly [PressHandler<V>] | readonly [PressRights<V>, PressHandler<V>]
): void {
  const [rights, handle] =
    rightsAndHandler.length === 1 ? [{}, rightsAndHandler[0]] : rightsAndHandler
  registerVerb(verb, rights)
  composer.use(async (ctx, next) => {
    const { press } = ctx
    if (!isPressOf(press, verb)) return next()
    await handle(ctx, press.args)
  })
}
