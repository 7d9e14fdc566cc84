/** Backtests whose results are added to a message later, by the job `show-backtests`. */
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { endsWithin } from '#src/kernel/ends-within.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { App } from '#src/operations/define.ts'
import { backtestWatch } from '#src/operations/watches.ts'
import type { TriedWatch } from '../views/backtest-line.ts'
import type { View } from '../views/view.ts'
import type { ChatState, Membership } from './context.ts'
import { type BacktestKind, type LiveRow, notifyBacktests, putLive } from './live-store.ts'

/** Maximum time of one backtest. */
const BACKTEST_MS = 15_000
/** Time after which a screen says that the results are not ready. */
const FOLLOWED_MS = 2 * MINUTE_MS

/**
 * Runs the backtests of a message and builds its screen with the results.
 *
 * @param runOne runs one backtest
 * @returns undefined if the message shows another screen by now
 */
export type BacktestScreen = (
  state: ChatState,
  link: Membership,
  row: Pick<LiveRow, 'handle'>,
  runOne: RunBacktest,
) => Promise<View | undefined>

export type BacktestScreens = Readonly<Record<BacktestKind, BacktestScreen>>

/** Stores that a message waits for the results of backtests, and wakes the job that adds them. */
export async function followBacktests(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  message: { readonly chatId: number; readonly messageId: number },
  of: { readonly kind: BacktestKind; readonly wallet: string; readonly handle: string },
): Promise<void> {
  const now = clock.now()
  await putLive(db, {
    ...message,
    ...of,
    stage: null,
    shown: null,
    changeCount: 0,
    dueAt: now,
    leasedUntil: null,
    expiresAt: new Date(now.getTime() + FOLLOWED_MS),
    createdAt: now,
  })
  await notifyBacktests(db)
}

/**
 * Replays a watch over the last week.
 * @param body of a new watch
 */
export type RunBacktest = (
  state: Pick<ChatState, 'call'>,
  body: object,
  link: Membership,
) => Promise<TriedWatch>

/** Runs the backtest. Returns `failed` if it is refused or takes longer than 15 seconds. */
export const runBacktest: RunBacktest = async ({ call }, body, link) => {
  let tried: TriedWatch = 'failed'
  const work = call(backtestWatch, { body, query: {} }, link).then((backtest) => {
    tried = backtest
  })
  try {
    await endsWithin(work, BACKTEST_MS)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
  }
  return tried
}
