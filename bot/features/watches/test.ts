import { Composer } from 'grammy'
import { listDestinations, testDestination } from '#src/operations/chat-destinations.ts'
import type { BotContext, Membership } from '../../core/context.ts'
import { defineFeature, onPress } from '../../core/feature.ts'
import { show } from '../../core/show.ts'
import { testOutcome } from '../recipients/recipients.ts'
import { peopleOf } from './load-people.ts'
import { withManaged } from './manage.ts'
import { notifiedBy } from './people-view.ts'
import { followTests, idOf, TEST_CHECKS, TEST_KIND } from './test-follow.ts'
import { type TestOutcome, testResults } from './test-view.ts'

const composer = new Composer<BotContext>()

onPress(composer, 'watch.test', (ctx, { id }) =>
  withManaged(ctx, id, async (watch, link) => {
    const since = ctx.app.clock.now()
    const notified = notifiedBy(watch.recipientIds, await peopleOf(ctx, link))
    const destinations = await ctx.call(listDestinations, {}, link)
    const results = await Promise.all(
      notified.map(async (person) => {
        const of = { id: idOf(person, destinations), watchId: id }
        return { person, outcome: await test(ctx, link, of) }
      }),
    )
    const messageId = await show(ctx, testResults(ctx.reader, watch, results))
    const kinds = results.map(({ outcome }) => outcome.kind)
    // The log of deliveries does not know of a test that was not allowed.
    const isFollowed = kinds.includes('queued') && !kinds.includes('tooMany')
    if (!isFollowed || ctx.reader.isGroup) return
    const message = { chatId: ctx.knownChat.id, messageId }
    await followTests(ctx.app, message, { kind: TEST_KIND, id, wallet: link.wallet, since })
  }),
)

/**
 * Sends one test in the form of an alert of the watch. Returns an outcome also for a destination that cannot be
 * tested now.
 */
async function test(
  ctx: BotContext,
  link: Membership,
  { id, watchId }: { readonly id: number | undefined; readonly watchId: number },
): Promise<TestOutcome> {
  if (id === undefined) return { kind: 'off' }
  return await testOutcome(ctx, () => ctx.call(testDestination, { body: { id, watchId } }, link))
}

export const watchTestFeature = defineFeature({ commands: [], composer, live: TEST_CHECKS })
