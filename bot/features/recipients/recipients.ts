/** Destinations behind buttons: their wallets and card data. */
import type { Missed } from '#src/alerts/summaries/missed.ts'
import type { RecentTest, TestResult } from '#src/delivery/model.ts'
import { AppError } from '#src/kernel/errors.ts'
import { getDestination, testDestination } from '#src/operations/chat/destinations.ts'
import type { Destination } from '#src/recipients/destination-list.ts'
import type { BotContext, ChatState, Membership } from '../../core/context.ts'
import { nextAllowedAt } from '../../core/error-sentences.ts'
import { firstLink } from '../../core/first-link.ts'
import { show } from '../../core/show.ts'
import { allWatches } from '../../core/watches.ts'
import {
  canSeeDestination,
  destinationName,
  type StatusWithReason,
} from '../../views/destination.ts'
import type { View } from '../../views/view.ts'
import { offOutcome, outcomeLine, type TestOutcome } from '../watches/test-view.ts'
import { recipientCard } from './card-view.ts'

/** A destination, with the membership of this chat in its wallet. */
export interface LinkedDestination {
  readonly destination: Destination
  readonly missed: Missed
  readonly failures: number
  readonly link: Membership
  /** The recipient that is the chat. */
  readonly hereId: number
}

/** Whether the person may see a destination in this chat. */
export function isShown({ caller, recipientId }: Membership, id: number): boolean {
  return canSeeDestination({ scopes: caller.scopes, hereId: recipientId }, id)
}

/**
 * Finds a destination by id among the chat's wallets.
 *
 * @throws AppError not_found
 */
export async function findRecipient(ctx: ChatState, id: number): Promise<LinkedDestination> {
  const allowed = ctx.links.filter((membership) => isShown(membership, id))
  return await firstLink(
    ctx,
    async (link) => {
      const destination = await ctx.call(getDestination, { body: { id } }, link)
      return { ...destination, link, hereId: link.recipientId }
    },
    allowed,
  )
}

/**
 * Shows the card of a destination.
 * @param notice HTML
 * @throws AppError not_found
 */
export async function showRecipient(ctx: BotContext, id: number, notice?: string): Promise<void> {
  await show(ctx, await recipientView(ctx, id, notice))
}

/**
 * The card of a destination.
 * @param notice HTML
 * @throws AppError not_found
 */
export async function recipientView(ctx: ChatState, id: number, notice?: string): Promise<View> {
  const recipient = await findRecipient(ctx, id)
  const { link, hereId } = recipient
  const watches = await allWatches(ctx, link)
  const namedBy = watches
    .filter(({ recipientIds }) => recipientIds?.includes(id))
    .map(({ label }) => label)
  const canWrite = link.caller.scopes.includes('write')
  const options = { now: ctx.app.clock.now(), hereId, canWrite, notice }
  return recipientCard(ctx.reader, { ...recipient, namedBy }, options)
}

/**
 * Sends one test. Returns an outcome also for a destination that cannot be tested now.
 *
 * @param evenIfOff also to a destination that is off, to check whether it works again
 */
export async function sendTest(
  ctx: BotContext,
  { destination, link }: Pick<LinkedDestination, 'destination' | 'link'>,
  { evenIfOff = false } = {},
): Promise<TestOutcome> {
  const { id } = destination
  const send = () => ctx.call(testDestination, { body: { id, evenIfOff } }, link)
  return await testOutcome(ctx, destination, send)
}

/**
 * Outcome of a test.
 *
 * @param state of the destination
 * @throws errors that do not concern the destination
 */
export async function testOutcome(
  ctx: BotContext,
  state: StatusWithReason,
  send: () => Promise<TestResult | RecentTest>,
): Promise<TestOutcome> {
  try {
    const result = await send()
    if (result.status === 'queued') return { kind: 'queued' }
    if (result.status === 'recent') return { kind: 'recent', nextAt: result.nextAt }
    const { statusCode, latencyMs, lastError: reason } = result
    return { kind: result.status, statusCode, latencyMs, reason }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const nextAt = nextAllowedAt(ctx, error)
    if (nextAt !== undefined) return { kind: 'tooMany', nextAt }
    if (error.code === 'recipient_not_active' || error.kind === 'upstream') {
      return offOutcome(state)
    }
    throw error
  }
}

/** Outcome of a test, as a line of HTML. */
export function testLine(
  { reader, t }: Pick<ChatState, 'reader' | 't'>,
  { destination, hereId }: Pick<LinkedDestination, 'destination' | 'hereId'>,
  outcome: TestOutcome,
): string {
  return outcomeLine(reader, destinationName(t, destination, hereId), outcome)
}
