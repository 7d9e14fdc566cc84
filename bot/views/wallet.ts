/** Data of a wallet for screens, read through the gate by handlers and by updaters of live messages. */
import { getWalletStatus } from '#src/operations/chat/status.ts'
import { listWatches } from '#src/operations/rest/watches.ts'
import type { Watch } from '#src/watches/model.ts'
import type { InvokeOperation } from '../core/context.ts'
import { type SlotUse, slotUse } from './slot-use.ts'

/** Maximum number of rows of a page. */
const PAGE_LIMIT = '250'

/** Credits and slots of the wallet. */
export async function readFunds(ask: InvokeOperation): Promise<Funds> {
  const { balanceCredits, slots } = await ask(getWalletStatus, {})
  return { balanceCredits, slots: slotUse(slots) }
}

/** All watches of the wallet. */
export async function readAllWatches(ask: InvokeOperation): Promise<readonly Watch[]> {
  const all: Watch[] = []
  let cursor: string | null | undefined
  while (cursor !== null) {
    const query = { limit: PAGE_LIMIT, ...(cursor !== undefined && { cursor }) }
    const page = await ask(listWatches, { query })
    all.push(...page.data)
    cursor = page.nextCursor
  }
  return all
}

/** Credits and slots of the wallet, for the first lines of its home screen. */
export interface Funds {
  readonly balanceCredits: number
  readonly slots: SlotUse
}
