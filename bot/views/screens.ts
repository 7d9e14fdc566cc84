import type { SubscriptionList } from '#src/billing/subscriptions/model.ts'
import { priceSlots } from '#src/billing/subscriptions/rules.ts'
import { AppError } from '#src/kernel/errors.ts'
import { Address } from '#src/kernel/units.ts'
import { listAlertLines } from '#src/operations/chat-alerts.ts'
import { listSubscriptions } from '#src/operations/subscriptions.ts'
import { getWatch } from '#src/operations/watches.ts'
import type { Rows } from '#src/telegram/buttons.ts'
import type { Watch } from '#src/watches/model.ts'
import type { BotContext, ChatState, Membership } from '../core/context.ts'
import { send, show } from '../core/show.ts'
import { trialOffer } from '../features/connect/trial.ts'
import { providerName } from '../features/provider/search.ts'
import { type LastAlert, watchCard } from '../features/watches/card-view.ts'
import { watchList } from '../features/watches/list-view.ts'
import { managerNames } from '../features/watches/managers.ts'
import { notifiedBy, personName } from '../features/watches/people-view.ts'
import { peopleOf } from '../features/watches/recipient-choice.ts'
import { isOn } from './destination.ts'
import { firstContact, groupHello, groupHome, groupReturned, home } from './home.ts'
import { privateMatter } from './notices.ts'
import { deepLink, type View } from './view.ts'
import { PAGE_LIMIT, readFunds, readWatches } from './wallet.ts'
import { isOwnMatter, propertyOf } from './watch-facts.ts'

/** Whether screens have buttons for this person: in private always, in groups for managers. */
export function hasButtons({ reader, links }: BotContext): boolean {
  return !reader.isGroup || links.some(({ manages }) => manages)
}

/** Line about missing buttons for an anonymous administrator: HTML. */
export function anonymousNotice({ isAnonymous, links, t }: BotContext): string | undefined {
  return isAnonymous && links.length > 0 ? t.html('bot:group.anonymous') : undefined
}

/** Links whose alerts are interrupted because the chat blocked or removed the bot. */
export function blockedLinks({ links }: BotContext): readonly Membership[] {
  return links.filter(({ status }) => status === 'blocked')
}

/**
 * The home screen.
 *
 * @param notice line above it: HTML
 * @param rows buttons of the notice
 */
export async function homeScreen(ctx: BotContext, notice?: string, rows: Rows = []): Promise<View> {
  const { reader, links, knownChat } = ctx
  const [link] = links
  if (link === undefined) {
    return reader.isGroup ? groupHello(reader, knownChat.title) : firstContact(reader, notice)
  }
  const blocked = blockedLinks(ctx)
  const [first] = blocked
  if (reader.isGroup && first !== undefined) {
    const off = { wallets: blocked.map(({ wallet }) => wallet), recipientId: first.recipientId }
    return groupReturned(reader, { ...off, ...(notice !== undefined && { notice }) })
  }
  const watches = await allWatches(ctx)
  const options = { now: ctx.app.clock.now(), ...(notice !== undefined && { notice }) }
  if (!reader.isGroup) {
    const funds = await readFunds(ctx.call)
    const subscriptions = await ctx.call(listSubscriptions, { query: { limit: PAGE_LIMIT } })
    const canWrite = link.caller.scopes.includes('write')
    const mayStart = ctx.app.billing.enabled && subscriptions.trial.available && canWrite
    const wallet = {
      address: link.wallet,
      funds,
      canWrite,
      isOneOfSeveral: links.length > 1,
      mutedUntil: link.mutedUntil,
      renewal: nextRenewal(subscriptions),
      trial: mayStart && funds.slots.total === 0 ? trialOffer(ctx.app) : undefined,
    }
    return home(reader, wallet, watches, { ...options, rows })
  }
  const wallets = links.map(({ wallet }) => wallet)
  const topic = { current: link.threadId, here: topicOf(ctx) }
  const group = {
    title: knownChat.title,
    wallets,
    topic: ctx.chat?.is_forum === true ? topic : undefined,
    managers: await managerNames(ctx),
  }
  return groupHome(reader, group, watches, { ...options, rows, buttons: hasButtons(ctx) })
}

/** The topic of the update; undefined in General, and where there are no topics. */
export function topicOf({ msg }: BotContext): number | undefined {
  return msg?.is_topic_message === true ? msg.message_thread_id : undefined
}

/** The earliest renewal with its price. */
function nextRenewal({ data }: SubscriptionList) {
  const renewals = data.flatMap(({ nextRenewalAt, quantity, periods }) =>
    nextRenewalAt === null
      ? []
      : [{ at: nextRenewalAt, credits: priceSlots(quantity, periods).totalCredits }],
  )
  return renewals.toSorted((a, b) => a.at.getTime() - b.at.getTime())[0]
}

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
  const shown = { ...options, slots, now, canCreate, buttons: hasButtons(ctx) }
  await show(ctx, watchList(ctx.reader, watches, shown))
}

/**
 * Shows a watch of one of the chat's wallets.
 * @throws AppError not_found
 */
export async function showCard(ctx: BotContext, id: number, notice?: string): Promise<void> {
  const { watch, link } = await findWatch(ctx, id)
  if (isHidden(ctx, watch)) return leadAway(ctx, `w${id}`)
  await show(ctx, await cardOf(ctx, watch, link, notice))
}

/**
 * Whether a watch, or an alert of one, is hidden from the reader because it shows private data in a group.
 */
export function isHidden({ reader }: BotContext, { type }: { readonly type: string }): boolean {
  return reader.isGroup && isOwnMatter(type)
}

/**
 * Answers with a link from a group to the private chat.
 * @param payload of the deep link
 */
export async function leadAway(ctx: BotContext, payload: string): Promise<void> {
  const url = deepLink(ctx.reader, payload)
  if (ctx.callbackQuery !== undefined) return ctx.answer(undefined, { url })
  await send(ctx, privateMatter(ctx.reader, url))
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
  if (ctx.reader.isGroup) return undefined
  const notified = notifiedBy(watch.recipientIds, await peopleOf(ctx, link))
  return notified.filter(isOn).map((person) => personName(ctx.reader, person))
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
    const wanted = { watchId: watch.id, ...over }
    const { data } = await ctx.call(listAlertLines, { body: { wanted, limit: 1, reader } }, link)
    return data[0]
  }
  const open = isFiring ? await newest({ state: 'firing' }) : undefined
  const alert = open ?? (await newest({}))
  if (alert === undefined) return undefined
  const { id, firedAt, title } = alert
  return { id, firedAt, title, isOpen: open !== undefined }
}

/**
 * Finds a watch by id among the chat's wallets.
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

/** All watches of a wallet: of the chat's first one by default. */
export function allWatches(ctx: ChatState, link?: Membership): Promise<readonly Watch[]> {
  return readWatches((operation, input) => ctx.call(operation, input, link))
}
