/** The overview of a wallet, read by handlers and by the updater of pinned messages. */
import { listDestinations } from '#src/operations/chat/destinations.ts'
import { getTip } from '#src/operations/chat/status.ts'
import type { ChatLink } from '#src/recipients/chats.ts'
import type { InvokeOperation } from '../../core/context.ts'
import { canSeeDestination } from '../../views/destination.ts'
import { readAllWatches, readFunds } from '../../views/wallet.ts'
import { isPrivateType } from '../../views/watch-facts.ts'
import type { Overview } from './view.ts'

/** Kind of the live message that shows the overview. */
export const OVERVIEW_KIND = 'status'

/**
 * Reads the overview for a chat; for a group without private data, and for a chat that only receives with no
 * destination but itself.
 */
export async function readOverview(
  ask: InvokeOperation,
  of: Pick<ChatLink, 'wallet' | 'recipientId' | 'scopes' | 'mutedUntil'> & {
    readonly isGroup: boolean
  },
): Promise<Overview> {
  const { wallet, recipientId: hereId, scopes, mutedUntil, isGroup } = of
  const [everyWatch, tip, funds, all] = await Promise.all([
    readAllWatches(ask),
    ask(getTip, {}),
    isGroup ? undefined : readFunds(ask),
    isGroup ? [] : ask(listDestinations, {}),
  ])
  const watches = everyWatch.filter(({ type }) => !isGroup || !isPrivateType(type))
  const destinations = all.filter(({ id }) => canSeeDestination({ scopes, hereId }, id))
  return { wallet, watches, tip, funds, destinations, hereId, mutedUntil }
}
