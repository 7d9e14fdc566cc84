import { Composer } from 'grammy'
import { listDestinations, testDestination } from '#src/operations/chat/destinations.ts'
import type { Watch } from '#src/watches/model.ts'
import type { BotContext, Membership } from '../../core/context.ts'
import { defineFeature, onPress } from '../../core/feature.ts'
import { show } from '../../core/show.ts'
import type { StatusWithReason } from '../../views/destination.ts'
import { testOutcome } from '../recipients/recipients.ts'
import { peopleOf } from './load-people.ts'
import { withManaged } from './managed-watch.ts'
import { notifiedBy, type RecipientChoice } from './people-view.ts'
import {
  destinationIdOf,
  followTests,
  TEST_KINDS,
  testedRecipients,
  WATCH_TESTS,
} from './test-follow.ts'
import {
  offOutcome,
  type TestOutcome,
  type TestReach,
  testChoice,
  testResults,
} from './test-view.ts'

const composer = new Composer<BotContext>()

onPress(composer, 'watch.test', (ctx, { id }) =>
  withManaged(ctx, id, async (watch, link) => {
    const notified = notifiedBy(watch.recipientIds, await peopleOf(ctx, link))
    await (notified.length > 1
      ? show(ctx, testChoice(ctx.reader, watch, notified))
      : testWatch(ctx, { watch, link }, 'all', notified))
  }),
)

onPress(composer, 'watch.testTo', (ctx, { id, to }) =>
  withManaged(ctx, id, async (watch, link) => {
    const notified = notifiedBy(watch.recipientIds, await peopleOf(ctx, link))
    const reached = testedRecipients(notified, to)
    // The watch may have stopped notifying this chat since the choice was shown.
    await (reached.length === 0 && notified.length > 0
      ? show(ctx, testChoice(ctx.reader, watch, notified))
      : testWatch(ctx, { watch, link }, to, reached))
  }),
)

/** Sends a test to these recipients and shows the outcomes; the message follows those that are on their way. */
async function testWatch(
  ctx: BotContext,
  { watch, link }: { readonly watch: Watch; readonly link: Membership },
  to: TestReach,
  reached: readonly RecipientChoice[],
): Promise<void> {
  const since = ctx.app.clock.now()
  const destinations = await ctx.call(listDestinations, {}, link)
  const results = await Promise.all(
    reached.map(async (choice) => {
      const of = { id: destinationIdOf(choice, destinations), state: choice, watchId: watch.id }
      return { choice, outcome: await test(ctx, link, of) }
    }),
  )
  const messageId = await show(ctx, testResults(ctx.reader, watch, { to, results }))
  const kinds = results.map(({ outcome }) => outcome.kind)
  // The log of deliveries does not know of a test that was not sent now.
  const isWhole = !kinds.includes('tooMany') && !kinds.includes('recent')
  const isFollowed = kinds.includes('queued') && isWhole
  if (!isFollowed || ctx.reader.isGroup) return
  const message = { chatId: ctx.knownChat.id, messageId }
  const of = { kind: TEST_KINDS[to], id: watch.id, wallet: link.wallet, since }
  await followTests(ctx.app, message, of)
}

/**
 * Sends one test in the form of an alert of the watch. Returns an outcome also for a destination that cannot be
 * tested now.
 */
async function test(
  ctx: BotContext,
  link: Membership,
  of: {
    readonly id: number | undefined
    readonly state: StatusWithReason
    readonly watchId: number
  },
): Promise<TestOutcome> {
  const { id, state, watchId } = of
  if (id === undefined) return offOutcome(state)
  const send = () => ctx.call(testDestination, { body: { id, watchId } }, link)
  return await testOutcome(ctx, state, send)
}

export const watchTestFeature = defineFeature({ commands: [], composer, live: WATCH_TESTS })
