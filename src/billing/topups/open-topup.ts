import { z } from 'zod'
import type { Caller } from '#src/kernel/caller.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { Hash } from '#src/kernel/units.ts'
import type { Topup } from './model.ts'
import type { TopupDeps } from './service.ts'
import { listOpenQuotes } from './store.ts'
import { getTopup } from './topup-record.ts'

/** Number of newest quotes that are checked. */
const QUOTES_MAX = 5

/** The caller's newest quote that can still be paid and has no payment yet, or null. */
export async function findOpenTopup(
  deps: TopupDeps,
  caller: Caller,
  { locale }: { readonly locale: Locale },
): Promise<Topup | null> {
  const now = deps.clock.now()
  const rows = await listOpenQuotes(deps.db, { wallet: caller.wallet, now, limit: QUOTES_MAX })
  for (const row of rows) {
    const topup = await getTopup(deps, caller, { handle: z.decode(Hash, row.handle), locale })
    if (topup.status === 'draft') return topup
  }
  return null
}
