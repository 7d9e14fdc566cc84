/** When the messages of a top-up are updated, and in which chats they are. */
import type { Db } from '#src/db/connection.ts'
import { DAY_MS, HOUR_MS } from '#src/kernel/durations.ts'
import type { App } from '#src/operations/define.ts'
import { followSubject, hashOfView } from '../../core/live-messages.ts'
import { listChatsFollowing, type MessageName } from '../../core/live-store.ts'
import type { View } from '../../views/view.ts'
import { nextStepAt } from './countdown.ts'
import type { ShownTopup } from './shown-topup.ts'
import { TOPUP_KIND, topupStage } from './shown-topup.ts'

/** Delay of the first update, for changes during the creation of the message. */
const FIRST_POLL_MS = 2000

/** Maximum interval of updates of an unpaid quote, and minimum interval after the end of a top-up. */
const OPEN_POLL_MS = 30_000

/** Interval of updates while a payment is on its way. */
const CLOSE_POLL_MS = 5000

/** Time for which a late payment still updates the message. */
const KEPT_MS = 7 * DAY_MS

/** Private chats with a message that started following a top-up in the hour before `at`. */
export function listChatsShowingTopup(
  db: Db,
  handle: string,
  at: Date,
): Promise<readonly number[]> {
  const since = new Date(at.getTime() - HOUR_MS)
  return listChatsFollowing(db, { handle, kind: TOPUP_KIND, since })
}

/** Starts updating a message with a top-up's state. @param view the current content */
export async function followTopup(
  app: Pick<App, 'db' | 'clock'>,
  message: MessageName,
  shown: ShownTopup,
  view: View,
): Promise<void> {
  const { handle, wallet, expiresAt } = shown.topup
  await followSubject(app, message, {
    kind: TOPUP_KIND,
    wallet,
    handle,
    stage: topupStage(shown),
    shown: hashOfView(view),
    checkAfterMs: FIRST_POLL_MS,
    expiresAt: new Date(Math.max(expiresAt.getTime(), app.clock.now().getTime()) + KEPT_MS),
  })
}

/**
 * Time of the next update of a top-up without a notification: at each step of the display, soon while a
 * payment is on its way, and at growing intervals after its end.
 */
export function nextTopupUpdateAt({ topup }: ShownTopup, now: Date): Date {
  const after = (ms: number) => new Date(now.getTime() + ms)
  switch (topup.status) {
    case 'draft':
      return new Date(Math.min(nextStepAt(topup, now).getTime(), after(OPEN_POLL_MS).getTime()))
    case 'submitted':
    case 'confirming':
      return after(CLOSE_POLL_MS)
    default: {
      const ageMs = now.getTime() - topup.expiresAt.getTime()
      return after(Math.max(OPEN_POLL_MS, ageMs / 4))
    }
  }
}
