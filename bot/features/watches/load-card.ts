import { Address } from '#src/kernel/units.ts'
import { listAlertLines } from '#src/operations/chat/alerts.ts'
import type { Watch } from '#src/watches/model.ts'
import type { ChatState, Membership } from '../../core/context.ts'
import { isOn } from '../../views/destination.ts'
import { propertyOf } from '../../views/watch-facts.ts'
import { providerName } from '../provider/search.ts'
import type { CardData, CardOptions, LastAlert } from './card-view.ts'
import { peopleOf } from './load-people.ts'
import { notifiedBy, recipientName } from './people-view.ts'

/** Reads what the card of a watch shows to a person of the chat. */
export async function loadCard(ctx: ChatState, watch: Watch, link: Membership): Promise<CardData> {
  const provider = Address.safeParse(propertyOf(watch.target, 'provider'))
  const [notifies, lastAlert, name] = await Promise.all([
    notifiedNames(ctx, watch, link),
    newestAlert(ctx, watch, link),
    provider.success ? providerName(ctx, provider.data) : undefined,
  ])
  return { watch, notifies, lastAlert, providerName: name }
}

/** Which buttons of the card a person of the chat may use. */
export function cardRights({ caller, manages }: Membership): CardOptions['rights'] {
  if (caller.scopes.includes('write')) return 'write'
  return manages ? 'read' : 'none'
}

/** Names of a watch's recipients; undefined where they are private. */
async function notifiedNames(
  ctx: ChatState,
  watch: Watch,
  link: Membership,
): Promise<readonly string[] | undefined> {
  if (ctx.reader.isGroup || !link.caller.scopes.includes('write')) return undefined
  const notified = notifiedBy(watch.recipientIds, await peopleOf(ctx, link))
  return notified.filter(isOn).map((choice) => recipientName(ctx.reader, choice))
}

/** The open alert of a firing watch, else its newest one. */
async function newestAlert(
  ctx: ChatState,
  watch: Watch,
  link: Membership,
): Promise<LastAlert | undefined> {
  const reader = { locale: ctx.t.locale, timezone: ctx.reader.timezone }
  const newest = async (over: { readonly state?: 'firing' }) => {
    const wanted = { watchId: watch.id, isGroup: ctx.reader.isGroup, ...over }
    const { data } = await ctx.call(listAlertLines, { body: { wanted, limit: 1, reader } }, link)
    return data[0]
  }
  const open = isFiring(watch) ? await newest({ state: 'firing' }) : undefined
  const alert = open ?? (await newest({}))
  if (alert === undefined) return undefined
  const { id, startedAt, title } = alert
  return { id, startedAt, title, isOpen: open !== undefined }
}

/** Whether a signal of the watch fires. */
export function isFiring({ signalStates }: Pick<Watch, 'signalStates'>): boolean {
  return signalStates.some(({ state }) => state === 'firing')
}
