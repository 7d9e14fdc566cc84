/**
 * The line in the last step of the wizard about what the drafted watch would have sent in the last week.
 */
import { type BacktestScreen, backtestKind, followBacktests } from '../../core/backtests.ts'
import type { BotContext } from '../../core/context.ts'
import type { LiveKinds } from '../../core/live-messages.ts'
import { type Draft, readDraft } from './draft.ts'
import { newWatchBody } from './moves.ts'
import { stepView } from './wizard.ts'

const KIND = 'backtest-draft'

/**
 * Requests that the line is added to the message with the person's draft, if the message shows the last
 * step.
 */
export async function followDraft(
  ctx: BotContext,
  { rev }: Pick<Draft, 'rev'>,
  messageId: number,
): Promise<void> {
  const draft = await readDraft(ctx)
  if (draft?.rev !== rev || !isChecked(draft)) return
  const message = { chatId: ctx.knownChat.id, messageId }
  const of = { kind: KIND, wallet: draft.wallet, handle: draft.id }
  await followBacktests(ctx.app, message, of)
}

/** Builds the last step with the line. */
const readDraftBacktest: BacktestScreen = async (state, link, { handle }, runOne) => {
  const draft = await readDraft(state)
  if (draft === undefined || draft.id !== handle || !isChecked(draft)) return undefined
  return stepView(state, draft, await runOne(state, newWatchBody(state.t, draft), link))
}

/** The last step that waits for its line. */
export const DRAFT_BACKTEST: LiveKinds = { [KIND]: backtestKind(readDraftBacktest) }

function isChecked({ values: { step, asking, watchId } }: Draft): boolean {
  return step === 'check' && asking === null && watchId === null
}
