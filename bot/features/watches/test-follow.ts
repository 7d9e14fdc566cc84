/** Follows the test messages of a watch in the message that lists them, until each has arrived or failed. */

import type { LogEntry } from '#src/delivery/log.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { listDeliveries, listDestinations } from '#src/operations/chat-destinations.ts'
import type { App } from '#src/operations/define.ts'
import { getWatch } from '#src/operations/watches.ts'
import type { Destination } from '#src/recipients/directory.ts'
import type { ChatState, Membership } from '../../core/context.ts'
import { putLive } from '../../core/live-store.ts'
import type { View } from '../../views/view.ts'
import { notifiedBy, type Person } from './people-view.ts'
import { peopleOf } from './recipient-choice.ts'
import { type TestOutcome, testResults } from './test-view.ts'

/** Kind of the live message. */
export const TEST_KIND = 'test'

/** Least time between two looks. */
const LOOK_MS = 1000
const FOLLOWED_MS = 10 * MINUTE_MS
/** Newest messages of a recipient among which its test is. */
const NEWEST = 20
const ON_ITS_WAY: ReadonlySet<string> = new Set(['pending', 'retrying', 'held'])

/**
 * Starts to follow tests.
 * @param of `since`: time before the first of them
 */
export async function followTests(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  message: { readonly chatId: number; readonly messageId: number },
  of: { readonly watchId: number; readonly wallet: string; readonly since: Date },
): Promise<void> {
  const now = clock.now()
  await putLive(db, {
    ...message,
    kind: TEST_KIND,
    wallet: of.wallet,
    handle: String(of.watchId),
    stage: null,
    shown: null,
    changeCount: 0,
    dueAt: new Date(now.getTime() + LOOK_MS),
    leasedUntil: null,
    expiresAt: new Date(now.getTime() + FOLLOWED_MS),
    createdAt: of.since,
  })
}

/**
 * The tests of a watch since a time, as they are now.
 *
 * @returns `nextAt`: when to look again; undefined once all have arrived or failed
 * @throws AppError not_found when the watch is gone
 */
export async function readTests(
  state: ChatState,
  link: Membership,
  { watchId, since }: { readonly watchId: number; readonly since: Date },
): Promise<{ readonly view: View; readonly nextAt: Date | undefined }> {
  const watch = await state.call(getWatch, { params: { id: String(watchId) } }, link)
  const destinations = await state.call(listDestinations, {}, link)
  const people = notifiedBy(watch.recipientIds, await peopleOf(state, link))
  const results = await Promise.all(
    people.map(async (person) => {
      const recipientId = idOf(person, destinations)
      const body = { recipientId, limit: NEWEST }
      const newest =
        recipientId === undefined ? [] : (await state.call(listDeliveries, { body }, link)).data
      const entry = newest.find(({ test, createdAt }) => test && createdAt >= since)
      return { person, outcome: outcomeOf(entry) }
    }),
  )
  const isOver = results.every(({ outcome }) => outcome.kind !== 'queued')
  const now = state.app.clock.now().getTime()
  const waitMs = Math.max(LOOK_MS, (now - since.getTime()) / 4)
  const nextAt = isOver ? undefined : new Date(now + waitMs)
  return { view: testResults(state.reader, watch, results), nextAt }
}

/** Id of a destination; the wallet's own one of a channel has none that a watch can name. */
function idOf({ id, channel }: Person, destinations: readonly Destination[]): number | undefined {
  return id ?? destinations.find((one) => one.own && one.channel === channel)?.id
}

function outcomeOf(entry: LogEntry | undefined): TestOutcome {
  if (entry === undefined) return { kind: 'off' }
  const { status, createdAt, deliveredAt, lastStatusCode: statusCode } = entry
  if (ON_ITS_WAY.has(status)) return { kind: 'queued' }
  if (status !== 'delivered' || deliveredAt === null) return { kind: 'undelivered', statusCode }
  const latencyMs = Math.max(0, deliveredAt.getTime() - createdAt.getTime())
  if (statusCode !== null) return { kind: 'delivered', statusCode, latencyMs }
  return { kind: 'arrived', latencyMs }
}
