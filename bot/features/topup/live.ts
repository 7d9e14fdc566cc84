/** The live messages of a top-up, until it is credited. */
import { Hash } from '#src/kernel/units.ts'
import type { App } from '#src/operations/define.ts'
import { describe } from '#src/telegram/errors.ts'
import type { InvokeOperation } from '../../core/context.ts'
import {
  changeLiveMessage,
  type LiveChat,
  type LiveKinds,
  type LiveMessageDeps,
  OVER,
  whileLinked,
} from '../../core/live-messages.ts'
import { deleteLive, isStillLive, type LiveRow } from '../../core/live-store.ts'
import { privateState } from '../../core/middleware/identify.ts'
import { changeChat } from '../../core/store.ts'
import type { View } from '../../views/view.ts'
import { nextTopupUpdateAt } from './live-schedule.ts'
import { awaitStep, resumedStep } from './resumed-step.ts'
import { readTopup, type ShownTopup, TOPUP_KIND, topupStage } from './shown-topup.ts'
import { retiredQuote, topupScreen } from './view.ts'

async function readShown(app: App, { chatId, handle, stage }: LiveRow, ask: InvokeOperation) {
  return await readTopup(app, ask, { handle: Hash.parse(handle), chatId, stage })
}

const showTopup = whileLinked(async (deps, row, seen) => {
  const now = deps.app.clock.now()
  const topup = await readShown(deps.app, row, seen.ask)
  const screen = topupScreen(seen.reader, topup, now)
  // Only the newest of a chat's messages about top-ups has buttons.
  const isCurrent = seen.known.currentMessages.topup === row.messageId
  const isNew = row.stage !== topupStage(topup)
  if (isCurrent && isNew && (await resumeWizard(deps, row, seen, topup, screen))) return OVER
  const isRetired = !isCurrent && topup.topup.status === 'draft'
  const view = isRetired
    ? retiredQuote(seen.reader, topup)
    : isCurrent
      ? screen
      : { ...screen, rows: [] }
  const nextAt = isRetired ? topup.topup.expiresAt : nextTopupUpdateAt(topup, now)
  return { kind: 'redraw', view, stage: topupStage(topup), nextAt }
})

/**
 * Shows the next step of an unfinished watch in the message of the top-up that bought its slot. Each step
 * is idempotent, so a crash between steps is harmless.
 *
 * @returns whether the message no longer follows the top-up: it shows the step, or a press has put another
 * screen into it
 */
async function resumeWizard(
  deps: LiveMessageDeps,
  row: LiveRow,
  { known, reader }: LiveChat,
  topup: ShownTopup,
  credited: View,
): Promise<boolean> {
  const { app, username } = deps
  const { chatId, messageId } = row
  if (topup.topup.status !== 'credited' || known.kind !== 'private') return false
  const state = await privateState(app, known, username)
  const step = await resumedStep(state, topup, credited)
  if (step === undefined) return false
  await changeLiveMessage(deps, row, step.view, reader.t.locale)
  // A button press has meanwhile put another screen into this message.
  if (!(await isStillLive(app.db, row))) return true
  const { wizard: wizardMessageId } = known.currentMessages
  // If the person has continued elsewhere meanwhile, the message goes on following the top-up.
  if (!(await awaitStep(state, messageId, step))) return false
  const currentMessages = { topup: null, wizard: messageId }
  await app.db.transaction(async (tx) => {
    await changeChat(tx, chatId, { currentMessages }, app.clock.now())
    await deleteLive(tx, row)
  })
  if (wizardMessageId !== null && wizardMessageId !== messageId) {
    await removeStaleButtons(deps, chatId, wizardMessageId)
  }
  return true
}

/** Removes the buttons of a message. A failure does no harm: a press of an old button shows the current step. */
async function removeStaleButtons(
  { app, api }: LiveMessageDeps,
  chatId: number,
  messageId: number,
): Promise<void> {
  try {
    await api.editMessageReplyMarkup(chatId, messageId, { reply_markup: { inline_keyboard: [] } })
  } catch (error) {
    app.log.debug({ chatId, error: describe(error) }, 'buttons could not be removed')
  }
}

/** The messages of a top-up. */
export const TOPUP_MESSAGES: LiveKinds = { [TOPUP_KIND]: { check: showTopup } }
