/** Follows test messages in the message that shows their outcome, until each has arrived or failed. */

import { REGISTRY as CHANNELS } from '#src/channels/index.ts'
import type { DeliveryLogEntry } from '#src/delivery/log/delivery-log.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { listDeliveries, listDestinations } from '#src/operations/chat/destinations.ts'
import type { App } from '#src/operations/define.ts'
import { getWatch } from '#src/operations/rest/watches.ts'
import type { Destination } from '#src/recipients/destination-list.ts'
import type { ChatState, Membership } from '../../core/context.ts'
import {
  followSubject,
  type LiveCheck,
  type LiveKinds,
  OVER,
  whileLinked,
} from '../../core/live-messages.ts'
import type { MessageName } from '../../core/live-store.ts'
import { privateState } from '../../core/middleware/identify.ts'
import type { StatusWithReason } from '../../views/destination.ts'
import type { View } from '../../views/view.ts'
import { peopleOf } from './load-people.ts'
import { notifiedBy, type RecipientChoice } from './people-view.ts'
import { offOutcome, type TestOutcome, type TestReach, testResults } from './test-view.ts'

/** Kinds of the live messages that list the tests of a watch. */
export const TEST_KINDS = { all: 'test', here: 'test-here' } as const satisfies Record<
  TestReach,
  string
>

/** Minimum interval between two checks. */
const POLL_MS = 1000
const FOLLOWED_MS = 10 * MINUTE_MS
/** Number of a recipient's newest deliveries in which its test is looked for. */
const NEWEST = 20
const ON_ITS_WAY: ReadonlySet<string> = new Set(['pending', 'retrying', 'held'])

/** The tests that a message shows. */
interface Followed {
  /** Id of the watch or recipient that is tested. */
  readonly id: number
  /** Time before the first test. */
  readonly since: Date
}

/**
 * Makes the screen of tests as they are now.
 *
 * @returns `nextAt`: time of the next check; undefined once all have arrived or failed
 * @throws AppError not_found when the watch or recipient is gone
 */
export type ReadTests = (
  state: ChatState,
  link: Membership,
  of: Followed,
) => Promise<{ readonly view: View; readonly nextAt: Date | undefined }>

/**
 * Starts to follow tests.
 * @param of `kind`: kind of the live message
 */
export async function followTests(
  app: Pick<App, 'db' | 'clock'>,
  message: MessageName,
  of: Followed & { readonly kind: string; readonly wallet: string },
): Promise<void> {
  const { kind, wallet, since } = of
  const expiresAt = new Date(app.clock.now().getTime() + FOLLOWED_MS)
  const subject = { kind, wallet, since, handle: String(of.id) }
  await followSubject(app, message, { ...subject, checkAfterMs: POLL_MS, expiresAt })
}

/** The recipients of a watch that a test is sent to. */
export function testedRecipients(
  notified: readonly RecipientChoice[],
  to: TestReach,
): readonly RecipientChoice[] {
  return to === 'all' ? notified : notified.filter(({ isHere }) => isHere)
}

/** Reads the tests of a watch. */
function testsTo(to: TestReach): ReadTests {
  return async (state, link, { id, since }) => {
    const watch = await state.call(getWatch, { params: { id: String(id) } }, link)
    const destinations = await state.call(listDestinations, {}, link)
    const notified = notifiedBy(watch.recipientIds, await peopleOf(state, link))
    const results = await Promise.all(
      testedRecipients(notified, to).map(async (choice) => {
        const id = destinationIdOf(choice, destinations)
        return { choice, outcome: await testOutcomeSince(state, link, { ...choice, id, since }) }
      }),
    )
    const outcomes = results.map(({ outcome }) => outcome)
    const nextAt = nextTestCheckAt(outcomes, since, state.app.clock.now())
    return { view: testResults(state.reader, watch, { to, results }), nextAt }
  }
}

/** Check of a message that shows which tests have arrived. */
export function testCheck(read: ReadTests): LiveCheck {
  return whileLinked(async ({ app, username }, row, { known, link }) => {
    const state = await privateState(app, known, username)
    const membership = state.links.find(({ wallet }) => wallet === link.wallet)
    if (membership === undefined) return OVER
    const of = { id: Number(row.handle), since: row.createdAt }
    return { kind: 'redraw', ...(await read(state, membership, of)) }
  })
}

/** The messages that list the tests of a watch. */
export const WATCH_TESTS: LiveKinds = {
  [TEST_KINDS.all]: { check: testCheck(testsTo('all')) },
  [TEST_KINDS.here]: { check: testCheck(testsTo('here')) },
}

/** Outcome of a recipient's newest test since a time; `off` without an id, or if there is no such test. */
export async function testOutcomeSince(
  state: ChatState,
  link: Membership,
  of: {
    readonly id: number | undefined
    readonly channel: Destination['channel']
    readonly since: Date
  } & StatusWithReason,
): Promise<TestOutcome> {
  const { id, channel, since } = of
  if (id === undefined) return offOutcome(of)
  const body = { recipientId: id, limit: NEWEST }
  const { data } = await state.call(listDeliveries, { body }, link)
  const entry = data.find(({ test, createdAt }) => test && createdAt >= since)
  return entry === undefined ? offOutcome(of) : outcomeOf(entry, channel)
}

/** Time of the next check of tests; undefined once all have arrived or failed. */
export function nextTestCheckAt(
  outcomes: readonly TestOutcome[],
  since: Date,
  now: Date,
): Date | undefined {
  if (outcomes.every(({ kind }) => kind !== 'queued')) return undefined
  const waitMs = Math.max(POLL_MS, (now.getTime() - since.getTime()) / 4)
  return new Date(now.getTime() + waitMs)
}

/** Id of a recipient's destination. For the wallet's own destination of a channel it is looked up. */
export function destinationIdOf(
  { id, channel }: RecipientChoice,
  destinations: readonly Destination[],
): number | undefined {
  return (
    id ?? destinations.find((destination) => destination.own && destination.channel === channel)?.id
  )
}

function outcomeOf(entry: DeliveryLogEntry, channel: Destination['channel']): TestOutcome {
  const { status, createdAt, deliveredAt, lastStatusCode: statusCode } = entry
  if (ON_ITS_WAY.has(status)) return { kind: 'queued' }
  if (status !== 'delivered' || deliveredAt === null) {
    return { kind: 'undelivered', statusCode, reason: entry.lastError }
  }
  const latencyMs = Math.max(0, deliveredAt.getTime() - createdAt.getTime())
  // A queued test waited before it was sent, so its latency is not the response time of the channel.
  if (!CHANNELS[channel].isProgrammatic) return { kind: 'arrived', latencyMs }
  return { kind: 'delivered', statusCode, latencyMs }
}
