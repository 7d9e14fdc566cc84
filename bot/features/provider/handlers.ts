import { Composer } from 'grammy'
import { z } from 'zod'
import { shortAddress } from '#src/i18n/format.ts'
import { Address } from '#src/kernel/units.ts'
import type { App } from '#src/operations/define.ts'
import { drawProvider } from '#src/pictures/provider-picture.ts'
import type { Watch } from '#src/watches/model.ts'
import type { NamedProvider } from '#src/watches/provider-names.ts'
import { hasButtons } from '../../core/chat.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature, onPress } from '../../core/feature.ts'
import { defineQuestion, type Refusal } from '../../core/session.ts'
import { show } from '../../core/show.ts'
import { allWatches } from '../../core/watches.ts'
import { propertyOf } from '../../views/watch-facts.ts'
import { sendHome } from '../start/home.ts'
import {
  findTypedProvider,
  NAME_MIN,
  providersNamed,
  readProvider,
  unknownProvider,
} from './search.ts'
import { showPicture } from './show-picture.ts'
import {
  providerButtons,
  providerCaption,
  providerQuestion,
  providerWithoutPicture,
  SHOWN_ROUNDS,
} from './view.ts'

const composer = new Composer<BotContext>()

/** Maximum number of offered providers of each kind. */
const OWN_MAX = 6
const RECENT_MAX = 5

composer.command('start', async (ctx, next) => {
  const digits = /^p([0-9a-f]{40})$/i.exec(ctx.match.trim())?.[1]
  const address = Address.safeParse(`0x${digits?.toLowerCase()}`)
  if (!address.success || ctx.links.length === 0) return next()
  await showOrAsk(ctx, address.data)
})

onPress(composer, 'status.pick', (ctx) => askForProvider(ctx))

/** Asks for a provider, and then shows it. */
export async function askForProvider(ctx: BotContext): Promise<void> {
  await pick.open(ctx, {})
}

onPress(composer, 'status.provider', (ctx, { address }) => showOrAsk(ctx, address))

/** Asks for a provider, by address or name. */
const pick = defineQuestion({
  kind: 'status.pick',
  task: 'status',
  about: z.object({}),
  ask: async (ctx) => providerQuestion(ctx.reader, await nearAtHand(ctx)),
  answer: (ctx, _about, text) => showNamed(ctx, text),
  cancel: (ctx) => sendHome(ctx),
})

/**
 * Shows the provider that a text names by its address or a part of its name.
 * @returns the refusal if the text names none or several
 */
async function showNamed(ctx: BotContext, text: string): Promise<Refusal | undefined> {
  const meant = await findTypedProvider(ctx, text)
  if (!meant.ok) {
    const rows = meant.several.length === 0 ? {} : { rows: providerButtons(meant.several) }
    return { ...meant.refusal, ...rows }
  }
  const isShown = await showProvider(ctx, meant.provider)
  return isShown ? undefined : unknownProvider(ctx, text)
}

/** Shows a provider, or asks again if it is unknown. */
async function showOrAsk(ctx: BotContext, address: Address): Promise<void> {
  if (await showProvider(ctx, address)) return
  await pick.open(ctx, {}, unknownProvider(ctx, shortAddress(address)))
}

/**
 * Shows the provider with a typed public name, or the providers that match.
 *
 * @returns false when no name matches
 */
export async function offerNamed(ctx: BotContext, text: string): Promise<boolean> {
  const name = text.trim()
  if (name.length < NAME_MIN || (await providersNamed(ctx, name)).length === 0) return false
  const refusal = await showNamed(ctx, name)
  if (refusal !== undefined) await pick.open(ctx, {}, refusal)
  return true
}

/**
 * Shows a provider.
 * @returns false when the provider is unknown and the wallet does not watch it
 */
async function showProvider(ctx: BotContext, address: Address): Promise<boolean> {
  const { view, name, isKnown } = await readProvider(ctx, address, SHOWN_ROUNDS)
  const watch = (await ownWatches(ctx)).find(({ provider }) => provider === view.provider)
  if (!isKnown && watch === undefined) return false
  const shown = {
    view,
    name: (ctx.reader.isGroup ? undefined : watch?.name) ?? name,
    watchId: watch?.isOnRounds ? watch.id : undefined,
  }
  remember(ctx, { provider: view.provider, name: shown.name ?? shortAddress(view.provider) })
  const how = {
    now: ctx.app.clock.now(),
    buttons: hasButtons(ctx),
    canShare: ctx.me.supports_inline_queries,
  }
  const { locale } = ctx.reader.t
  const svg = drawProvider(view, {
    rounds: SHOWN_ROUNDS,
    palette: 'dark',
    name: shown.name,
    locale,
  })
  const caption = providerCaption(ctx.reader, shown, how)
  const isShown = await showPicture(ctx, svg, caption, 'status')
  if (!isShown) await show(ctx, providerWithoutPicture(ctx.reader, shown, how), 'status')
  return true
}

interface OwnProvider extends NamedProvider {
  readonly id: number
  /** Whether a watch of the wallet observes every round of the provider. */
  readonly isOnRounds: boolean
}

/**
 * Providers that the chat's wallet watches, by the labels of its watches; providers whose rounds are
 * watched first.
 */
async function ownWatches(ctx: BotContext): Promise<readonly OwnProvider[]> {
  const own = (await allWatches(ctx)).flatMap((watch: Watch): OwnProvider[] => {
    const address = Address.safeParse(propertyOf(watch.target, 'provider'))
    if (!address.success) return []
    const isOnRounds = watch.type === 'provider-fsp'
    return [{ provider: address.data, name: watch.label, id: watch.id, isOnRounds }]
  })
  return own.toSorted((a, b) => Number(b.isOnRounds) - Number(a.isOnRounds))
}

/** Maximum number of chats whose recent providers are remembered; the oldest chat is dropped. */
const CHATS_REMEMBERED_MAX = 1000

/** Recently shown providers, newest first, by chat; not kept across restarts. */
const recent = new WeakMap<App, Map<number, readonly NamedProvider[]>>()

function remember({ app, knownChat }: BotContext, namedProvider: NamedProvider): void {
  const chats = recent.get(app) ?? new Map<number, readonly NamedProvider[]>()
  recent.set(app, chats)
  const others = (chats.get(knownChat.id) ?? []).filter(
    ({ provider }) => provider !== namedProvider.provider,
  )
  chats.delete(knownChat.id)
  chats.set(knownChat.id, [namedProvider, ...others].slice(0, RECENT_MAX))
  const [oldest] = chats.keys()
  if (chats.size > CHATS_REMEMBERED_MAX && oldest !== undefined) chats.delete(oldest)
}

/** The providers that the wallet watches, and recently shown providers, each once. */
async function nearAtHand(ctx: BotContext): Promise<readonly NamedProvider[]> {
  const own = ctx.reader.isGroup ? [] : await ownWatches(ctx)
  const seen = recent.get(ctx.app)?.get(ctx.knownChat.id) ?? []
  const all = [...distinct(own).slice(0, OWN_MAX), ...seen]
  return distinct(all)
}

function distinct(all: readonly NamedProvider[]): readonly NamedProvider[] {
  return all.filter(
    ({ provider }, index) =>
      all.findIndex((candidate) => candidate.provider === provider) === index,
  )
}

export const providerFeature = defineFeature({ commands: [], composer, questions: [pick] })
