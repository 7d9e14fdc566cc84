/** The overview of a wallet, read by handlers and by the updater of pinned messages. */
import { listDestinations } from '#src/operations/chat-destinations.ts'
import { getTip } from '#src/operations/chat-status.ts'
import type { ChatLink } from '#src/recipients/chats.ts'
import type { InvokeOperation } from '../../core/context.ts'
import { readFunds, readWatches } from '../../views/wallet.ts'
import type { Overview } from './view.ts'

/** Kind of the live message that shows the overview. */
export const OVERVIEW_KIND = 'status'

/** Reads the overview for a chat; for a group without private data. */
export async function readOverview(
  ask: InvokeOperation,
  of: Pick<ChatLink, 'wallet' | 'recipientId' | 'mutedUntil'> & { readonly isGroup: boolean },
): Promise<Overview> {
  const { wallet, recipientId: hereId, mutedUntil, isGroup } = of
  const [watches, tip, funds, destinations] = await Promise.all([
    readWatches(ask),
    ask(getTip, {}),
    isGroup ? undefined : readFunds(ask),
    isGroup ? [] : ask(listDestinations, {}),
  ])
  return { wallet, watches, tip, funds, destinations, hereId, mutedUntil }
}
