import { Address } from '#src/kernel/units.ts'
import { listAlertLines } from '#src/operations/chat-alerts.ts'
import type { Watch } from '#src/watches/model.ts'
import { hasButtons } from '../../core/chat.ts'
import type { BotContext, Membership } from '../../core/context.ts'
import { show } from '../../core/show.ts'
import { allWatches, findWatch } from '../../core/watches.ts'
import { isOn } from '../../views/destination.ts'
import type { View } from '../../views/view.ts'
import { readFunds } from '../../views/wallet.ts'
import { propertyOf } from '../../views/watch-facts.ts'
import { providerName } from '../provider/search.ts'
import { type LastAlert, watchCard } from './card-view.ts'
import { watchList } from './list-view.ts'
import { peopleOf } from './load-people.ts'
import { notifiedBy, recipientName } from './people-view.ts'

/** Shows a page of the wallet's watches. */
export async function showList(
  ctx: BotContext,
  options: { readonly page: number; readonly notice?: string },
): Promise<void> {
  const watches = await allWatches(ctx)
  const now = ctx.app.clock.now()
  const isPrivate = !ctx.reader.isGroup
  const canCreate = isPrivate && ctx.links[0]?.caller.scopes.includes('write') === true
  const slots = isPrivate ? (await readFunds(ctx.call)).slots : undefined
  const shown = { ...options, slots, now, canCreate, hasButtons: hasButtons(ctx) }
  await show(ctx, watchList(ctx.reader, watches, shown))
}

/**
 * Shows a watch of one of the chat's wallets.
 * @throws AppError not_found
 */
export async function showCard(ctx: BotContext, id: number, notice?: string): Promise<void> {
  const { watch, link } = await findWatch(ctx, id)
  await show(ctx, await cardOf(ctx, watch, link, notice))
}

/**
 * The card of a watch, with the buttons the person may use.
 * @param notice HTML
 */
export async function cardOf(
  ctx: BotContext,
  watch: Watch,
  link: Membership,
  notice?: string,
): Promise<View> {
  const mayLook = link.manages ? 'read' : 'none'
  const provider = Address.safeParse(propertyOf(watch.target, 'provider'))
  const [notifies, lastAlert, name] = await Promise.all([
    notifiedNames(ctx, watch, link),
    newestAlert(ctx, watch, link),
    provider.success ? providerName(ctx, provider.data) : undefined,
  ])
  const data = { watch, notifies, lastAlert, providerName: name }
  return watchCard(ctx.reader, data, {
    now: ctx.app.clock.now(),
    rights: link.caller.scopes.includes('write') ? 'write' : mayLook,
    ...(notice !== undefined && { notice }),
  })
}

/** Names of a watch's recipients; undefined where they are private. */
async function notifiedNames(
  ctx: BotContext,
  watch: Watch,
  link: Membership,
): Promise<readonly string[] | undefined> {
  if (ctx.reader.isGroup || !link.caller.scopes.includes('write')) return undefined
  const notified = notifiedBy(watch.recipientIds, await peopleOf(ctx, link))
  return notified.filter(isOn).map((choice) => recipientName(ctx.reader, choice))
}

/** The open alert of a firing watch, else its newest one. */
async function newestAlert(
  ctx: BotContext,
  watch: Watch,
  link: Membership,
): Promise<LastAlert | undefined> {
  const isFiring = watch.signalStates.some(({ state }) => state === 'firing')
  const reader = { locale: ctx.t.locale, timezone: ctx.reader.timezone }
  const newest = async (over: { readonly state?: 'firing' }) => {
    const wanted = { watchId: watch.id, isGroup: ctx.reader.isGroup, ...over }
    const { data } = await ctx.call(listAlertLines, { body: { wanted, limit: 1, reader } }, link)
    return data[0]
  }
  const open = isFiring ? await newest({ state: 'firing' }) : undefined
  const alert = open ?? (await newest({}))
  if (alert === undefined) return undefined
  const { id, startedAt, title } = alert
  return { id, startedAt, title, isOpen: open !== undefined }
}
