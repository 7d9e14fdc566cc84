import { AppError } from '#src/kernel/errors.ts'
import { getWatch } from '#src/operations/rest/watches.ts'
import type { Watch } from '#src/watches/model.ts'
import { readAllWatches, readFunds } from '../views/wallet.ts'
import { isPrivateType } from '../views/watch-facts.ts'
import type { BotContext, ChatState, Membership } from './context.ts'

/**
 * Says that the answer would show private data in a group: the person gets a link with this payload into the private
 * chat instead.
 */
export class PrivateOnly extends Error {
  readonly payload: string

  constructor(payload: string) {
    super('only in the private chat')
    this.payload = payload
  }
}

/**
 * Whether a watch or its alerts are hidden from the reader, because they would show private data in a
 * group.
 */
export function isHiddenWatch(
  { reader }: Pick<ChatState, 'reader'>,
  { type }: { readonly type: string },
): boolean {
  return reader.isGroup && isPrivateType(type)
}

/**
 * Finds a watch by id among the chat's wallets.
 *
 * @throws AppError not_found; PrivateOnly for a watch that is hidden from a group
 */
export async function findWatch(
  ctx: BotContext,
  id: number,
): Promise<{ readonly watch: Watch; readonly link: Membership }> {
  for (const link of ctx.links) {
    const watch = await ownWatch(ctx, id, link)
    if (watch === undefined) continue
    if (isHiddenWatch(ctx, watch)) throw new PrivateOnly(`w${id}`)
    return { watch, link }
  }
  throw new AppError('not_found', 'not_found')
}

async function ownWatch(ctx: BotContext, id: number, link: Membership): Promise<Watch | undefined> {
  try {
    return await ctx.call(getWatch, { params: { id: String(id) } }, link)
  } catch (error) {
    if (error instanceof AppError && error.kind === 'not_found') return undefined
    throw error
  }
}

/** All watches of a wallet that the chat may see, by default of the chat's first wallet. */
export async function allWatches(ctx: ChatState, link?: Membership): Promise<readonly Watch[]> {
  const all = await readAllWatches((operation, input) => ctx.call(operation, input, link))
  return all.filter((watch) => !isHiddenWatch(ctx, watch))
}

/**
 * Labels of a wallet's watches that wait for a slot, in the order in which they get a slot: suspended
 * watches, and watches beyond the wallet's slots, which are about to be suspended.
 */
export async function waitingLabels(ctx: ChatState, link?: Membership): Promise<readonly string[]> {
  const { slots } = await readFunds((operation, input) => ctx.call(operation, input, link))
  if (slots.used + slots.waiting === 0) return []
  const watches = (await allWatches(ctx, link)).toSorted((a, b) => a.id - b.id)
  return watches
    .filter(({ status }, index) => status === 'suspended' || index >= slots.total)
    .map(({ label }) => label)
}
