import { packed } from '#src/actions/codec.ts'
import { listFeeds, observeFeed } from '#src/operations/chat/previews.ts'
import type { BotContext } from '../../core/context.ts'
import { send } from '../../core/show.ts'
import { feedKey } from '../../core/typed-input.ts'
import { textHtml } from '../../views/markup.ts'
import { WARNING } from '../../views/refusals.ts'
import { act, menuButton, screen } from '../../views/view.ts'
import { feedResult } from '../inline/view.ts'
import { rightsOf } from '../look-up/handlers.ts'

/** Maximum length of a text in which symbols are looked for. */
const TEXT_MAX = 60

/**
 * Answers a text that names a feed, such as `FLR`, `btc/usd` or `price of sol`, with its price and the way to watch it.
 *
 * @param isWhole whether the whole text must be the symbol or the name of the feed
 * @returns false when the text names no feed
 */
export async function offerPrice(
  ctx: BotContext,
  text: string,
  { isWhole }: { readonly isWhole: boolean },
): Promise<boolean> {
  if (text.length > TEXT_MAX) return false
  const words = isWhole ? [text] : text.split(/\s+/)
  const { data } = await ctx.call(listFeeds)
  const feed = words.map((word) => feedOf(word, data)).find((found) => found !== undefined)
  if (feed === undefined) return false
  const limitKey = `telegram ${ctx.knownChat.id}`
  const { observation } = await ctx.call(observeFeed, { query: { feed }, limitKey })
  const { t } = ctx.reader
  const found = feedResult(ctx.reader, feed, observation, ctx.app.clock.now())
  const lines =
    found === undefined
      ? [textHtml(feed), `${WARNING} ${t.html('pages:home.answer.unavailable')}`]
      : [found.html]
  const rights = rightsOf(ctx)
  const watch = act(t('bot:button.watchPrice'), packed('feed.watch', { feed }), 'primary')
  const rows = [
    rights === 'read' ? [] : [watch],
    rights === 'unlinked'
      ? [act(t('bot:button.connect'), packed('connect', { spend: false }))]
      : [],
    [menuButton(t)],
  ]
  await send(ctx, screen(lines, rows))
  return true
}

/** The feed in dollars with this symbol, or the feed with this name. */
function feedOf(word: string, feeds: readonly string[]): string | undefined {
  const key = feedKey(word)
  return feeds.find((name) => feedKey(name) === key || feedKey(name) === `${key}usd`)
}
