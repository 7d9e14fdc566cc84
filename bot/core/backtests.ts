/** Backtests for screens that do not wait for them: the job `show-backtests` adds their result later. */

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
 * Builds the screen of a message with the results. @param tryOne replays a watch @returns undefined when
 * the message shows another screen by now
 */
export type ReadBacktests = (
  state: ChatState,
  link: Membership,
  row: Pick<LiveRow, 'handle'>,
  tryOne: TryWatch,
) => Promise<View | undefined>

export type BacktestReaders = Readonly<Record<BacktestKind, ReadBacktests>>

/** Requests that the results are added to a message. */
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
export type TryWatch = (
  state: Pick<ChatState, 'call'>,
  body: object,
  link: Membership,
) => Promise<TriedWatch>

/** Runs the backtest, for a limited time. */
export const tryWatch: TryWatch = async ({ call }, body, link) => {
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
