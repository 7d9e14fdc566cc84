/**
 * The step of the wizard that continues in the message of a top-up, after the slots for which it paid were
 * bought.
 */

import { undefinedIfUnavailable } from '#src/watches/unavailable.ts'
import type { ChatState } from '../../core/context.ts'
import { findOpenQuestion, sessionKeyOf, storeQuestion } from '../../core/session.ts'
import type { View } from '../../views/view.ts'
import { isDraftRecent, readDraft, WIZARD_QUESTION } from '../new/draft.ts'
import { linkOfDraft, readSlotUse, stepView } from '../new/wizard.ts'
import type { ShownTopup } from './shown-topup.ts'

/** A credited top-up with the pending step of a draft below it. */
export interface ResumedStep {
  readonly view: View
  readonly rev: number
}

/**
 * The pending step of the person's draft, if the top-up bought a slot for it and no other question is open.
 *
 * @param credited the screen of the top-up @returns undefined also while the step cannot be shown because
 * the chain does not answer
 */
export async function resumedStep(
  state: ChatState,
  { topup, rest, resume }: ShownTopup,
  credited: View,
): Promise<ResumedStep | undefined> {
  const isBought = topup.then?.status === 'done' && rest === undefined
  const sessionKey = sessionKeyOf(state)
  if (!isBought || resume === undefined || sessionKey === undefined) return undefined
  if (!(await isDraftRecent(state, topup.wallet))) return undefined
  const question = await findOpenQuestion(state)
  if (question !== undefined && question.kind !== WIZARD_QUESTION) return undefined
  const draft = await readDraft(state)
  if (draft === undefined || draft.values.watchId !== null) return undefined
  return await undefinedIfUnavailable(async () => {
    // A watch that was suspended may have taken the slot.
    if ((await readSlotUse(state, linkOfDraft(state, draft))).free === 0) return undefined
    const { html, rows } = await stepView(state, draft)
    return { view: { html: `${credited.html}\n\n${html}`, rows }, rev: draft.rev }
  })
}

/**
 * Waits for the typed answer to the step that a message shows now.
 *
 * @returns false when, while the message was changed, the person continued the draft in another message, or
 * opened another question
 */
export async function awaitStep(
  state: ChatState,
  messageId: number,
  { rev }: ResumedStep,
): Promise<boolean> {
  const sessionKey = sessionKeyOf(state)
  if (sessionKey === undefined) return false
  const [asked, draft] = await Promise.all([findOpenQuestion(state), readDraft(state)])
  if (draft?.rev !== rev || (asked !== undefined && asked.kind !== WIZARD_QUESTION)) return false
  const question = { kind: WIZARD_QUESTION, about: { rev }, messageId, refusals: 0 }
  await storeQuestion(state, sessionKey, question)
  return true
}
