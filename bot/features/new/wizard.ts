/** The screens of the wizard with their data. */

import { SLOT_PRICE_CREDITS, SLOTS_MAX } from '#src/billing/price-list.ts'
import { AppError } from '#src/kernel/errors.ts'
import { getWalletStatus, isTrialAvailable } from '#src/operations/chat/status.ts'
import type { BotContext, ChatState, Membership } from '../../core/context.ts'
import { show } from '../../core/show.ts'
import { waitingLabels } from '../../core/watches.ts'
import type { TriedWatch } from '../../views/backtest-line.ts'
import { isOn } from '../../views/destination.ts'
import type { SlotUse } from '../../views/slot-use.ts'
import { type Funds, readFunds } from '../../views/wallet.ts'
import { readTrialOffer } from '../connect/trial.ts'
import { peopleOf } from '../watches/load-people.ts'
import { notifiedBy, recipientName } from '../watches/people-view.ts'
import { changeDraft, type Draft, type DraftValues } from './draft.ts'
import { noSlot } from './no-slot-view.ts'
import { ruleStep, signalsStep } from './rule-view.ts'
import * as steps from './steps-view.ts'
import { assetsOf, candidatesOf, findWatchOfTarget, listedNames } from './targets.ts'

/** Slots of a wallet, by default of the chat's first wallet. */
export async function readSlotUse(ctx: ChatState, link?: Membership): Promise<SlotUse> {
  return (await fundsOf(ctx, link)).slots
}

function fundsOf(ctx: ChatState, link: Membership | undefined): Promise<Funds> {
  return readFunds((operation, input) => ctx.call(operation, input, link))
}

/** Shows the ways to get a free slot. @param resume a draft that waits for a slot */
export async function showNoSlot(ctx: BotContext, resume: Draft | undefined): Promise<void> {
  const link = resume === undefined ? ctx.links[0] : linkOfDraft(ctx, resume)
  const { balanceCredits, slots } = await fundsOf(ctx, link)
  const { trialEndsAt } = await ctx.call(getWalletStatus, {}, link)
  const mayStart = trialEndsAt === null && (await ctx.call(isTrialAvailable, {}, link))
  const waiting = slots.waiting === 0 ? [] : await waitingLabels(ctx, link)
  const view = noSlot(ctx.reader, {
    slots,
    waiting,
    slotsMax: SLOTS_MAX,
    slotPriceCredits: SLOT_PRICE_CREDITS,
    balanceCredits,
    canSpend: link?.caller.scopes.includes('spend') === true,
    trial: mayStart ? readTrialOffer(ctx.app) : undefined,
    resume,
  })
  await show(ctx, view, 'wizard')
}

/** The link with which a draft was started; the wallet may have been unlinked meanwhile. */
export function linkOfDraft(ctx: ChatState, { wallet }: Draft): Membership {
  const link = ctx.links.find((membership) => membership.wallet === wallet)
  if (link === undefined) throw new AppError('not_found', 'not_found')
  return link
}

/**
 * The screen of a draft's step.
 * @param week result of the backtest for the last step
 */
export async function stepView(ctx: ChatState, draft: Draft, week?: TriedWatch) {
  const { values } = draft
  const now = ctx.app.clock.now()
  const { reader } = ctx
  const link = linkOfDraft(ctx, draft)
  switch (values.step) {
    case 'target': {
      const isList = values.asking === 'list'
      const names = await listedNames(ctx, draft)
      const offered = isList ? pageOf(names, values) : await candidatesOf(ctx, draft, names)
      const kept = await changeDraft(ctx, draft, { offered: [...offered] })
      const assets = assetsOf(ctx, draft)
      return steps.targetStep(reader, kept, { assets, listed: names.length, isList })
    }
    case 'rule':
      return ruleStep(reader, draft, { now, watched: await findWatchOfTarget(ctx, draft, link) })
    case 'choose':
      return signalsStep(reader, draft)
    case 'people':
    case 'check':
    case 'done': {
      const people = await peopleOf(ctx, link)
      const notified = notifiedBy(values.recipientIds, people)
      const notifies = notified.filter(isOn).map((choice) => recipientName(reader, choice))
      if (values.step !== 'people') {
        const slots = await readSlotUse(ctx, link)
        return steps.summaryStep(reader, draft, { now, notifies, slots, week })
      }
      const offered = people.recipients.map((recipient) => ({
        id: recipient.id,
        name: recipient.id === people.hereId ? ctx.t('bot:people.here') : recipient.name,
        isChosen: notified.some(({ id }) => id === recipient.id),
      }))
      return steps.peopleStep(reader, draft, { people: offered, notifies })
    }
    default:
      return values.step satisfies never
  }
}

function pageOf(names: Awaited<ReturnType<typeof listedNames>>, { type, page }: DraftValues) {
  const size = steps.pageSizeOf(type)
  const pages = Math.max(1, Math.ceil(names.length / size))
  const at = Math.min(page, pages) - 1
  return names.slice(at * size, (at + 1) * size)
}
