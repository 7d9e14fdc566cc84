import type { Db } from '#src/db/connection.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { traceOf } from '#src/kernel/trace.ts'
import { NEWS_EVERY_MS } from './model.ts'
import { notifyLedger } from './store.ts'

/**
 * Says on the channel `ledger` whose ledgers have new entries.
 *
 * Not in the statement that writes them: PostgreSQL lets transactions that notify commit only one
 * after the other, and each call would wait for the disk behind all others. A stop in between loses
 * the news, not the entries; who listens looks at times without being told.
 */
export interface LedgerNotifier {
  notify(wallet: string): void
  /** Fulfilled when everything is told. */
  idle(): Promise<void>
}

/** The first news goes out at once, what follows together every 50 ms. */
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
        log.warn({ wallets: notified.length, problem: traceOf(error) }, 'ledger news not told')
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
  return new Promise((resolve) => setTimeout(resolve, NEWS_EVERY_MS).unref())
}
