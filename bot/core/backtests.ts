/** Backtests whose results are added to a message later. */
import { DAY_MS, MINUTE_MS } from '#src/kernel/durations.ts'
import { endsWithin } from '#src/kernel/ends-within.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { App } from '#src/operations/define.ts'
import { backtestWatch } from '#src/operations/rest/watches.ts'
import type { TriedWatch } from '../views/backtest-line.ts'
import type { View } from '../views/view.ts'
import type { ChatState, Membership } from './context.ts'
import { followSubject, type LiveKind, OVER } from './live-messages.ts'
import { type LiveRow, type MessageName, notifyLive } from './live-store.ts'
import { privateState } from './middleware/identify.ts'

/** Maximum time of one backtest. */
const BACKTEST_MS = 15_000
/** Time after which a screen says that the results are not ready. */
const AWAITED_MS = 2 * MINUTE_MS
/** Time for which that is tried. */
const KEPT_MS = AWAITED_MS + DAY_MS

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

/** Stores that a message waits for the results of backtests, and wakes the job that adds them. */
export async function followBacktests(
  app: Pick<App, 'db' | 'clock'>,
  message: MessageName,
  of: { readonly kind: string; readonly wallet: string; readonly handle: string },
): Promise<void> {
  const expiresAt = new Date(app.clock.now().getTime() + KEPT_MS)
  await followSubject(app, message, { ...of, checkAfterMs: 0, expiresAt })
  await notifyLive(app.db)
}

/** The kind of the messages that wait for backtests: how the results, or a note that they are not ready in time, are added. */
export function backtestKind(read: BacktestScreen): LiveKind {
  return {
    isSlow: true,
    check: async ({ app, username }, row, { known }) => {
      const state = await privateState(app, known, username)
      const link = state.links.find(({ wallet }) => wallet === row.wallet)
      if (link === undefined) return OVER
      const isLate = app.clock.now().getTime() >= row.createdAt.getTime() + AWAITED_MS
      const view = await read(state, link, row, isLate ? notReady : runBacktest)
      return view === undefined ? OVER : { kind: 'redraw', view, nextAt: undefined }
    },
  }
}

/**
 * Replays a watch over the last week.
 * @param body of a new watch
 */
type RunBacktest = (
  state: Pick<ChatState, 'call'>,
  body: object,
  link: Membership,
) => Promise<TriedWatch>

/** Runs the backtest. Returns `failed` if it is refused or takes longer than 15 seconds. */
const runBacktest: RunBacktest = async ({ call }, body, link) => {
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

/** In place of a backtest when the results are not ready in time. */
const notReady: RunBacktest = async () => 'failed'
