import { AppError } from '#src/kernel/errors.ts'
import { getWatch, listWatches } from '#src/operations/watches.ts'
import type { Watch } from '#src/watches/model.ts'
import type { BotContext, Membership } from './context.ts'
import { show } from './show.ts'
import { firstContact, groupHello, groupHome, home } from './views/home.ts'
import type { View } from './views/view.ts'
import { watchCard } from './views/watch-card.ts'
import { watchList } from './views/watch-list.ts'

/** Most rows the gate gives at once. */
const PAGE_LIMIT = '250'

/** Whether screens have buttons for this person: in private always, in groups for who may press them. */
function hasButtons({ reader, links }: BotContext): boolean {
  return !reader.isGroup || links.some(({ manages }) => manages)
}

/** The screen everything starts from. @param notice a line above it: HTML */
export async function homeScreen(ctx: BotContext, notice?: string): Promise<View> {
  const { reader, links, known } = ctx
  const [link] = links
  if (link === undefined) {
    return reader.isGroup ? groupHello(reader, known.title) : firstContact(reader, notice)
  }
  const watches = await allWatches(ctx)
  const options = { now: ctx.app.clock.now(), ...(notice !== undefined && { notice }) }
  if (!reader.isGroup) return home(reader, link.wallet, watches, options)
  const group = { title: known.title, wallets: links.map(({ wallet }) => wallet) }
  return groupHome(reader, group, watches, { ...options, buttons: hasButtons(ctx) })
}

/** Shows a page of the wallet's watches. */
export async function showList(
  ctx: BotContext,
  options: { readonly page: number; readonly notice?: string },
): Promise<void> {
  const watches = await allWatches(ctx)
  const now = ctx.app.clock.now()
  await show(ctx, watchList(ctx.reader, watches, { ...options, now, buttons: hasButtons(ctx) }))
}

/** Shows a watch of one of the chat's wallets. @throws AppError not_found */
export async function showCard(ctx: BotContext, id: number): Promise<void> {
  const { watch, link } = await findWatch(ctx, id)
  await show(ctx, cardOf(ctx, watch, link))
}

/** The card of a watch, with what the person may do about it. */
export function cardOf(ctx: BotContext, watch: Watch, link: Membership, notice?: string): View {
  const mayLook = link.manages ? 'read' : 'none'
  return watchCard(ctx.reader, watch, {
    now: ctx.app.clock.now(),
    rights: link.caller.scopes.includes('write') ? 'write' : mayLook,
    ...(notice !== undefined && { notice }),
  })
}

/**
 * The watch with this number, whichever of the chat's wallets it belongs to.
 *
 * @throws AppError not_found
 */
export async function findWatch(
  ctx: BotContext,
  id: number,
): Promise<{ readonly watch: Watch; readonly link: Membership }> {
  for (const link of ctx.links) {
    const watch = await ownWatch(ctx, id, link)
    if (watch !== undefined) return { watch, link }
  }
  throw new AppError('not_found', 'not_found')
}

async function ownWatch(ctx: BotContext, id: number, link: Membership): Promise<Watch | undefined> {
  try {
    return await ctx.call(getWatch, { params: { id: String(id) } }, link)
  } catch (error) {
    if (error instanceof AppError && error.kind === 'not_found') return undefined
    throw error
  }
}

async function allWatches(ctx: BotContext): Promise<readonly Watch[]> {
  const all: Watch[] = []
  let cursor: string | null | undefined
  while (cursor !== null) {
    const query = { limit: PAGE_LIMIT, ...(cursor !== undefined && { cursor }) }
    const page = await ctx.call(listWatches, { query })
    all.push(...page.data)
    cursor = page.nextCursor
  }
  return all
}
