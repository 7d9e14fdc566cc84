/** Adds results of backtests to the messages that wait for them. The job `show-backtests` runs this. */
import { claimAllDueRows } from '#src/db/queue.ts'
import { describe, floodWaitMs } from '#src/telegram/errors.ts'
import { type BacktestScreens, type RunBacktest, runBacktest } from './backtests.ts'
import {
  changeLiveMessage,
  isMessageGone,
  isStillLive,
  type LiveMessageDeps,
} from './live-messages.ts'
import {
  BACKTEST_MESSAGES,
  type BacktestKind,
  deleteExpired,
  deleteLive,
  type LiveRow,
  settleLive,
} from './live-store.ts'
import { privateState } from './middleware/identify.ts'
import { findChat } from './store.ts'

/** Lease of one message: longer than all its backtests take together. */
const LEASE_MS = 90_000
/** Pause after a failed attempt to show results. */
const RETRY_MS = 10_000
/** Pause after a failed attempt to show that the results were not ready in time. */
const LATE_RETRY_MS = 60_000
/** Number of messages that one process handles at once, so that long backtests of one do not stop all others. */
const AT_ONCE = 2

interface BacktestMessageDeps extends LiveMessageDeps {
  readonly screens: BacktestScreens
}

/**
 * Adds the results to every message that waits for backtests, or a note that the results were not ready in
 * time.
 *
 * @param signal when aborted, no further message is started; the next run handles the remaining messages
 */
export async function showBacktestResults(
  deps: BacktestMessageDeps,
  signal?: AbortSignal,
): Promise<void> {
  const { app } = deps
  await deleteExpired(app.db, app.clock.now())
  const work = async () => {
    const options = { leaseMs: LEASE_MS, limit: 1, signal }
    for await (const row of claimAllDueRows(app, BACKTEST_MESSAGES, options))
      await addResults(deps, row)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

/** Adds the results to one message. After a failure the message is tried again later, unless it is gone. */
async function addResults(deps: BacktestMessageDeps, row: LiveRow): Promise<void> {
  const { app } = deps
  try {
    await showResults(deps, row)
  } catch (error) {
    if (!isMessageGone(error)) {
      const { chatId, stage, shown } = row
      app.log.warn({ chatId, error: describe(error) }, 'backtest could not be shown')
      const pauseMs = isLate(deps, row) ? LATE_RETRY_MS : RETRY_MS
      const dueAt = new Date(app.clock.now().getTime() + (floodWaitMs(error) ?? pauseMs))
      return await settleLive(app.db, row, { stage, shown, dueAt, leasedUntil: dueAt })
    }
  }
  // If the message shows another screen by now, it may wait for the backtests of that screen.
  if (await isStillLive(app, row)) await deleteLive(app.db, row)
}

async function showResults(deps: BacktestMessageDeps, row: LiveRow): Promise<void> {
  const { app, username, screens } = deps
  const chat = await findChat(app.db, row.chatId)
  if (chat === undefined) return
  const state = await privateState(app, chat, username)
  const link = state.links.find(({ wallet }) => wallet === row.wallet)
  if (link === undefined) return
  const runOne = isLate(deps, row) ? notReady : runBacktest
  const view = await screens[row.kind as BacktestKind](state, link, row, runOne)
  if (view !== undefined) await changeLiveMessage(deps, row, view, state.t.locale)
}

/** In place of a backtest when the results are not ready in time. */
const notReady: RunBacktest = async () => 'failed'

function isLate({ app }: BacktestMessageDeps, { expiresAt }: LiveRow): boolean {
  return expiresAt !== null && expiresAt <= app.clock.now()
}
