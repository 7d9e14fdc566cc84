import type { Db } from '#src/db/connection.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { NOTIFY_INTERVAL_MS } from './model.ts'
import { notifyLedger } from './store.ts'

/**
 * Notifies the channel `ledger` of wallets with new ledger entries.
 *
 * The statement that writes the entries does not notify: PostgreSQL commits transactions with a NOTIFY one after
 * another, so each call would wait for the disk writes of all others. If the process stops in between, the
 * notification is lost, but not the entries; listeners also poll.
 */
export interface LedgerNotifier {
  notify(wallet: string): void
  /** Resolves when every notification is sent. */
  idle(): Promise<void>
}

/** Sends the first notification at once, and the following ones together every 200 ms. */
export function createLedgerNotifier({
  db,
  log,
}: {
  readonly db: Db
  readonly log: Logger
}): LedgerNotifier {
  const wallets = new Set<string>()
  let running: Promise<void> | undefined
  let hurry = Promise.withResolvers<void>()

  async function notifyAll(): Promise<void> {
    while (wallets.size > 0) {
      const notified = [...wallets]
      wallets.clear()
      try {
        await notifyLedger(db, notified)
      } catch (error) {
        log.warn(
          { wallets: notified.length, problem: loggableError(error) },
          'ledger listeners were not notified; they find the entries by polling',
        )
      }
      await Promise.race([pause(), hurry.promise])
    }
    running = undefined
  }

  return {
    notify(wallet) {
      wallets.add(wallet)
      running ??= notifyAll()
    },
    async idle() {
      hurry.resolve()
      await running
      hurry = Promise.withResolvers()
    },
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, NOTIFY_INTERVAL_MS).unref())
}
