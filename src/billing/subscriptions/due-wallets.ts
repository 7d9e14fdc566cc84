import { isolateEach } from '#src/db/isolate.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { Address } from '#src/kernel/units.ts'
import type { DuePosition } from './store.ts'

/** Wallets read by one query. */
const WALLETS_PER_READ = 100

/**
 * Calls `work` for every wallet of a list of due rows, in order. A wallet whose work throws is put into
 * quarantine, and is retried by the next pass. For a wallet that is due at several times, `work` is called
 * for each time.
 *
 * @param list returns the next rows after a position, in order; empty at the end
 * @throws a failure that does not concern a single wallet, such as a lost connection
 */
export async function forEachDueWallet(
  options: {
    readonly quarantine: Quarantine
    /** Kind of the failed row for the quarantine, such as `renewal`. */
    readonly kind: string
    readonly signal: AbortSignal
    readonly list: (page: {
      readonly after: DuePosition | undefined
      readonly limit: number
    }) => Promise<readonly DuePosition[]>
  },
  work: (wallet: Address) => Promise<void>,
): Promise<void> {
  const { quarantine, kind, signal, list } = options
  let after: DuePosition | undefined
  do {
    const positions = await list({ after, limit: WALLETS_PER_READ })
    const wallets = new Set(positions.map(({ wallet }) => wallet))
    await isolateEach(
      [...wallets],
      { quarantine, kind, idOf: (wallet) => wallet },
      async (wallet) => {
        if (!signal.aborted) await work(wallet)
      },
    )
    after = positions.at(-1)
  } while (after !== undefined && !signal.aborted)
}
