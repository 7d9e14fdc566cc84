/** How everything of a wallet stands, for whoever shows it: a handler, or what changes it later. */
import type { Address } from '#src/kernel/units.ts'
import { getAccount } from '#src/operations/account.ts'
import { listDestinations } from '#src/operations/chat-lists.ts'
import { getTip } from '#src/operations/chat-status.ts'
import { listWatches } from '#src/operations/watches.ts'
import type { Watch } from '#src/watches/model.ts'
import type { Ask } from './topups.ts'
import type { Overview } from './views/status.ts'

/** The kind of the live message that shows it. */
export const OVERVIEW_KIND = 'status'

/** Reads it as a chat may see it: in a group nothing of the wallet's own. */
export async function readOverview(
  ask: Ask,
  of: { readonly wallet: Address; readonly recipientId: number; readonly isGroup: boolean },
): Promise<Overview> {
  const { wallet, recipientId: hereId, isGroup } = of
  const [watches, tip, account, destinations] = await Promise.all([
    allWatches(ask),
    ask(getTip, {}),
    isGroup ? undefined : ask(getAccount, { query: { limit: '1' } }),
    isGroup ? [] : ask(listDestinations, {}),
  ])
  const funds = account && {
    balanceCredits: account.balanceCredits,
    slotsUsed: account.slots.used,
    slotsTotal: account.slots.purchased + account.slots.trial,
  }
  return { wallet, watches, tip, funds, destinations, hereId }
}

async function allWatches(ask: Ask): Promise<readonly Watch[]> {
  const all: Watch[] = []
  let cursor: string | null | undefined
  while (cursor !== null) {
    const query = { limit: '250', ...(cursor !== undefined && { cursor }) }
    const page = await ask(listWatches, { query })
    all.push(...page.data)
    cursor = page.nextCursor
  }
  return all
}
