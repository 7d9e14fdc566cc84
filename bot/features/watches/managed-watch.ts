/** Acts on a watch with the rights of its wallet: who may, and what a concurrent change shows. */
import { AppError } from '#src/kernel/errors.ts'
import { updateWatch } from '#src/operations/rest/watches.ts'
import type { Watch } from '#src/watches/model.ts'
import type { BotContext, Membership } from '../../core/context.ts'
import { findWatch } from '../../core/watches.ts'
import { showCard } from './screens.ts'

/**
 * Runs an action on a watch as its wallet; in a group a person who did not link that wallet is refused.
 *
 * @throws AppError not_found
 */
export async function withManaged(
  ctx: BotContext,
  id: number,
  act: (watch: Watch, link: Membership) => Promise<unknown>,
): Promise<void> {
  const { watch, link } = await findWatch(ctx, id)
  if (!link.manages) return ctx.answer(ctx.t('bot:group.linkersOnly'), { box: true })
  await act(watch, link)
}

/** Changes of a watch as the body of the operation, which validates them. */
export type WatchChangesBody = Readonly<Record<string, unknown>>

/**
 * Changes a watch as last read, and shows the result. After a concurrent change the card is read again and
 * shown with a note.
 */
export async function changeWatch(
  ctx: BotContext,
  found: { readonly watch: Watch; readonly link: Membership },
  changes: WatchChangesBody,
  show: (watch: Watch) => Promise<unknown>,
): Promise<void> {
  const { watch, link } = found
  const input = {
    params: { id: String(watch.id) },
    body: changes,
    ifMatch: updateWatch.etag?.(watch),
  }
  const changed = await unlessStale(() => ctx.call(updateWatch, input, link))
  if (changed !== undefined) {
    await show(changed)
    return
  }
  await showCard(ctx, watch.id, `⚠️ ${ctx.t.html('bot:error.changed')}`)
}

async function unlessStale<T>(run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof AppError && error.kind === 'stale') return undefined
    throw error
  }
}
