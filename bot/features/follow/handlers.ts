import { Composer } from 'grammy'
import { Address } from '#src/kernel/units.ts'
import { follow, getFollowed, unfollow } from '#src/operations/chat/follow.ts'
import { lookUpAddress } from '#src/operations/pages/look-ups.ts'
import { readWatchStart } from '#src/telegram/links.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature, onPress } from '../../core/feature.ts'
import { ask, send, show } from '../../core/show.ts'
import { type FollowEvent, followEnded, followScreen, followStopped } from './view.ts'

const composer = new Composer<BotContext>()

const PROVIDER = 'provider-fsp'

/** Rights to the buttons: allowed without a wallet; groups get a link into the private chat. */
const FOLLOW = { unlinked: true, privately: 'menu' } as const

/** Greets a stranger who comes from a provider's page with the provider and the ways to hear of it. */
composer.command('start', async (ctx, next) => {
  const provider = providerOf(ctx.match.trim())
  const isStranger = ctx.links.length === 0 && !ctx.reader.isGroup
  if (provider === undefined || !isStranger) return next()
  if (!(await showProvider(ctx, provider))) return next()
})

onPress(composer, 'follow.on', FOLLOW, async (ctx, { address }) => {
  const { id: chatId, locale } = ctx.knownChat
  const body = { chatId, locale, provider: address }
  const { instead } = await ctx.call(follow, { body, limitKey: `telegram ${chatId}` })
  await showProvider(ctx, address, { kind: 'followed', instead: instead?.name })
})

onPress(composer, 'follow.off', FOLLOW, async (ctx, { address }) => {
  const { followed } = await ctx.call(unfollow, { body: { chatId: ctx.knownChat.id } })
  await showProvider(ctx, followed?.provider ?? address, { kind: 'ended' })
})

/**
 * Ends what a private chat follows, and says so.
 * @returns whether the chat got alerts of that only
 */
export async function endFollowing(ctx: BotContext): Promise<boolean> {
  if (ctx.reader.isGroup) return false
  const { followed } = await ctx.call(unfollow, { body: { chatId: ctx.knownChat.id } })
  if (followed === undefined) return false
  const isAll = ctx.links.length === 0
  if (isAll) await send(ctx, followStopped(ctx.reader, followed))
  else await ask(ctx, followEnded(ctx.reader, followed.name))
  return isAll
}

/** The provider of a link that watches it or shows it. */
function providerOf(start: string): Address | undefined {
  const watch = readWatchStart(start)
  if (watch !== undefined) return watch.type === PROVIDER ? watch.address : undefined
  const digits = /^p([0-9a-f]{40})$/i.exec(start)?.[1]
  return digits === undefined ? undefined : Address.safeParse(`0x${digits.toLowerCase()}`).data
}

/**
 * Shows a provider with the way to follow it.
 * @returns false if the address is not that of a provider
 */
async function showProvider(
  ctx: BotContext,
  address: Address,
  event?: FollowEvent,
): Promise<boolean> {
  const { id: chatId } = ctx.knownChat
  const limitKey = `telegram ${chatId}`
  const [answer, { followed }] = await Promise.all([
    ctx.call(lookUpAddress, { query: { address }, limitKey }),
    ctx.call(getFollowed, { body: { chatId } }),
  ])
  if (answer.kind === 'account') return false
  const view = answer.kind === 'provider' ? answer.view : undefined
  const provider = view?.provider ?? address
  const isFollowed = followed?.provider === provider
  const shown = {
    provider,
    name: answer.kind === 'provider' ? answer.name : isFollowed ? followed.name : undefined,
    view,
    isFollowed,
    isLinked: ctx.links.length > 0,
    ...(event !== undefined && { event }),
  }
  await show(ctx, followScreen(ctx.reader, shown))
  return true
}

export const followFeature = defineFeature({ commands: [], composer })
