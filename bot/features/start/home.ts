import type { Subscription } from '#src/billing/subscriptions/model.ts'
import { priceSlots } from '#src/billing/subscriptions/rules.ts'
import { getWalletStatus, isTrialAvailable } from '#src/operations/chat/status.ts'
import {
  blockedLinks,
  forumTopicOf,
  hasButtons,
  leaveGreeting,
  silencedLinks,
  unlinkedChat,
} from '../../core/chat.ts'
import type { BotContext } from '../../core/context.ts'
import { send } from '../../core/show.ts'
import { allWatches } from '../../core/watches.ts'
import { unlinkedHome } from '../../views/hello.ts'
import { slotUse } from '../../views/slot-use.ts'
import type { View } from '../../views/view.ts'
import { readTrialOffer } from '../connect/trial.ts'
import { managerNames } from '../watches/managers.ts'
import { groupHome, groupReturned, home } from './home-view.ts'

/**
 * The home screen.
 *
 * @param notice line above it: HTML
 */
export async function homeScreen(ctx: BotContext, notice?: string): Promise<View> {
  const { reader, links, knownChat } = ctx
  const [link] = links
  if (link === undefined) return unlinkedHome(reader, unlinkedChat(ctx), notice)
  const blocked = blockedLinks(ctx)
  const [first] = blocked
  if (reader.isGroup && first !== undefined) {
    const off = {
      wallets: blocked.map(({ wallet }) => wallet),
      recipientId: first.recipientId,
      isSilenced: silencedLinks(ctx).length === blocked.length,
    }
    return groupReturned(reader, { ...off, ...(notice !== undefined && { notice }) })
  }
  const watches = await allWatches(ctx)
  const options = { now: ctx.app.clock.now(), ...(notice !== undefined && { notice }) }
  if (!reader.isGroup) {
    const walletStatus = await ctx.call(getWalletStatus)
    const funds = {
      balanceCredits: walletStatus.balanceCredits,
      slots: slotUse(walletStatus.slots),
    }
    const canWrite = link.caller.scopes.includes('write')
    const mayStart =
      canWrite &&
      funds.slots.total === 0 &&
      walletStatus.trialEndsAt === null &&
      (await ctx.call(isTrialAvailable))
    const wallet = {
      address: link.wallet,
      funds,
      canWrite,
      mutedUntil: link.mutedUntil,
      renewal: nextRenewal(walletStatus.subscriptions),
      trial: mayStart ? readTrialOffer(ctx.app) : undefined,
    }
    return home(reader, wallet, watches, options)
  }
  const wallets = links.map(({ wallet }) => wallet)
  const topic = { current: link.threadId, here: forumTopicOf(ctx) }
  const group = {
    title: knownChat.title,
    wallets,
    topic: ctx.chat?.is_forum === true ? topic : undefined,
    managers: await managerNames(ctx),
    minSeverity: link.minSeverity,
  }
  return groupHome(reader, group, watches, { ...options, buttons: hasButtons(ctx) })
}

/** Sends the home screen as a new message. In a group that is not linked it replaces the earlier greeting. */
export async function sendHome(ctx: BotContext, notice?: string): Promise<void> {
  await leaveGreeting(ctx)
  await send(ctx, await homeScreen(ctx, notice))
}

/** The earliest renewal with its price. */
function nextRenewal(subscriptions: readonly Subscription[]) {
  const renewals = subscriptions.flatMap(({ nextRenewalAt, quantity, periods }) =>
    nextRenewalAt === null
      ? []
      : [{ at: nextRenewalAt, credits: priceSlots(quantity, periods).totalCredits }],
  )
  return renewals.toSorted((a, b) => a.at.getTime() - b.at.getTime())[0]
}
