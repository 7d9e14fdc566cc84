/**
 * The test of one recipient, whose outcome is shown in the recipient's card or in the screen after it was
 * added.
 */
import { plainOf } from '#src/telegram/text.ts'
import type { BotContext, ChatState } from '../../core/context.ts'
import type { LiveKinds } from '../../core/live-messages.ts'
import { show } from '../../core/show.ts'
import type { View } from '../../views/view.ts'
import {
  followTests,
  nextTestCheckAt,
  type ReadTests,
  testCheck,
  testOutcomeSince,
} from '../watches/test-follow.ts'
import {
  findRecipient,
  type LinkedDestination,
  recipientView,
  sendTest,
  testLine,
} from './recipients.ts'
import { watchSelectionView } from './watch-selection.ts'

type Screen = (state: ChatState, id: number, line: string) => Promise<View>

/** Screens with the outcome of a test, a line of HTML, by the kind of their live message. */
const SCREENS = {
  'recipient-test': recipientView,
  'recipient-revived': (state, id, line) =>
    recipientView(state, id, `✓ ${state.t.html('bot:rec.onAgain')}\n${line}`),
  'recipient-added': (state, id, line) => watchSelectionView(state, id, { notice: line }),
} as const satisfies Record<string, Screen>

type Kind = keyof typeof SCREENS

/**
 * Sends a test and shows the outcome. In a private chat, a job then changes the message until a queued test has arrived
 * or failed.
 */
export async function showTest(
  ctx: BotContext,
  found: LinkedDestination,
  kind: Kind,
): Promise<void> {
  const { destination, link } = found
  const since = ctx.app.clock.now()
  const outcome = await sendTest(ctx, found)
  const line = testLine(ctx, found, outcome)
  const view = await SCREENS[kind](ctx, destination.id, line)
  const messageId = await show(ctx, { ...view, toast: plainOf(line) })
  if (outcome.kind !== 'queued' || ctx.reader.isGroup) return
  const message = { chatId: ctx.knownChat.id, messageId }
  await followTests(ctx.app, message, { kind, id: destination.id, wallet: link.wallet, since })
}

/** The messages about a recipient's test. */
export const RECIPIENT_TESTS: LiveKinds = Object.fromEntries(
  Object.entries(SCREENS).map(([kind, screen]: [string, Screen]) => [
    kind,
    { check: testCheck(readerOf(screen)) },
  ]),
)

function readerOf(screen: Screen): ReadTests {
  return async (state, link, { id, since }) => {
    const found = await findRecipient(state, id)
    const outcome = await testOutcomeSince(state, link, { ...found.destination, since })
    const view = await screen(state, id, testLine(state, found, outcome))
    return { view, nextAt: nextTestCheckAt([outcome], since, state.app.clock.now()) }
  }
}
