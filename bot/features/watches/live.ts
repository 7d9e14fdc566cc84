/** Cards of firing watches, which follow their watches until nothing fires any more. */
import { DAY_MS } from '#src/kernel/durations.ts'
import { getWatch } from '#src/operations/rest/watches.ts'
import type { BotContext, ChatState, Membership } from '../../core/context.ts'
import { followSubject, type LiveKinds, OVER, whileLinked } from '../../core/live-messages.ts'
import { isHiddenWatch } from '../../core/watches.ts'
import { type CardData, type CardOptions, watchCard } from './card-view.ts'
import { cardRights, isFiring, loadCard } from './load-card.ts'

const WATCH_KIND = 'watch'
const WATCH_POLL_MS = 15_000
/** Time for which a card follows its watch. */
const FOLLOWED_MS = 3 * DAY_MS

/** Updates the card of a firing watch from now on. */
export async function followWatch(
  { app, knownChat }: BotContext,
  messageId: number,
  { data, link }: { readonly data: CardData; readonly link: Membership },
): Promise<void> {
  if (!isFiring(data.watch)) return
  const now = app.clock.now()
  const message = { chatId: knownChat.id, messageId }
  await followSubject(app, message, {
    kind: WATCH_KIND,
    wallet: link.wallet,
    handle: String(data.watch.id),
    stage: cardRights(link),
    shown: keyOf(data),
    checkAfterMs: WATCH_POLL_MS,
    expiresAt: new Date(now.getTime() + FOLLOWED_MS),
  })
}

/** Key of a card, which changes when the message needs an update. Times alone are none. */
function keyOf({ watch, notifies, lastAlert }: CardData): string {
  const { label, status, health, mutedUntil, version, signalStates } = watch
  const states = signalStates.map(({ id, state, severity }) => [id, state, severity])
  const alert = [lastAlert?.id, lastAlert?.isOpen]
  return JSON.stringify([label, status, health, mutedUntil, version, states, alert, notifies])
}

const showWatchCard = whileLinked(async ({ app }, row, { reader, known, link, ask }) => {
  const now = app.clock.now()
  const rights = rightsOf(row.stage)
  const member = memberWith(rights, link)
  const watch = await ask(getWatch, { params: { id: row.handle ?? '' } })
  if (isHiddenWatch({ reader }, watch)) return OVER
  const call: ChatState['call'] = (operation, input = {}) => ask(operation, input)
  const state = { app, knownChat: known, links: [member], t: reader.t, reader, call }
  const data = await loadCard(state, watch, member)
  const view = watchCard(reader, data, { now, rights })
  const nextAt = isFiring(watch) ? new Date(now.getTime() + WATCH_POLL_MS) : undefined
  return { kind: 'redraw', view, key: keyOf(data), nextAt }
})

function rightsOf(stage: string | null): CardOptions['rights'] {
  return stage === 'write' || stage === 'read' ? stage : 'none'
}

/** The link of a chat as a person with these rights has it, without the rights that the link has lost meanwhile. */
function memberWith(
  rights: CardOptions['rights'],
  link: Omit<Membership, 'caller' | 'manages'>,
): Membership {
  const scopes = rights === 'write' ? link.scopes : (['read'] as const)
  const caller = { wallet: link.wallet, scopes, via: 'telegram' } as const
  return { ...link, manages: rights !== 'none', caller }
}

/** The cards. */
export const WATCH_CARDS: LiveKinds = { [WATCH_KIND]: { check: showWatchCard } }
