import { packed } from '#src/actions/codec.ts'
import { AppError } from '#src/kernel/errors.ts'
import { listFeeds, resolveTarget } from '#src/operations/previews.ts'
import type { BotContext } from '../../core/context.ts'
import { send } from '../../core/show.ts'
import { feedKey } from '../../core/typed-input.ts'
import { act, menuButton, screen } from '../../views/view.ts'
import { feedResult } from '../inline/view.ts'

/** Maximum length of a text in which symbols are looked for. */
const TEXT_MAX = 60

/**
 * Answers a text that names a feed, such as `FLR`, `btc/usd` or `price of sol`, with its price.
 *
 * @param isWhole whether the whole text must be the symbol or the name of the feed
 * @returns false when the text names no feed, or the price is unknown right now
 */
export async function offerPrice(
  ctx: BotContext,
  text: string,
  { isWhole }: { readonly isWhole: boolean },
): Promise<boolean> {
  if (text.length > TEXT_MAX) return false
  const words = isWhole ? [text] : text.split(/\s+/)
  try {
    const { data } = await ctx.call(listFeeds)
    const feed = words.map((word) => feedOf(word, data)).find((found) => found !== undefined)
    if (feed === undefined) return false
    const body = { type: 'feed-move', target: { feed } }
    const { observation } = await ctx.call(resolveTarget, { body })
    const { t } = ctx.reader
    const found = feedResult(ctx.reader, feed, observation, ctx.app.clock.now())
    if (found === undefined) return false
    const watch = packed('new.type', { type: 'feed-move', address: undefined })
    const rows = [[act(t('bot:button.watchPrice'), watch)], [menuButton(t)]]
    await send(ctx, screen([found.html], rows))
    return true
  } catch (error) {
    // Prices cannot be read right now, so the text is answered like any other text.
    if (error instanceof AppError && error.kind === 'upstream') return false
    throw error
  }
}

/** The feed in dollars with this symbol, or the feed with this name. */
function feedOf(word: string, feeds: readonly string[]): string | undefined {
  const key = feedKey(word)
  return feeds.find((name) => feedKey(name) === key || feedKey(name) === `${key}usd`)
}
