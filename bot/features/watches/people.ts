import { Composer } from 'grammy'
import { AppError } from '#src/kernel/errors.ts'
import type { Watch } from '#src/watches/model.ts'
import type { BotContext, Membership } from '../../core/context.ts'
import { defineFeature, onPress } from '../../core/feature.ts'
import { show } from '../../core/show.ts'
import { escalationChoice, escalationScreen, LATER_MINUTES } from './escalation-view.ts'
import { peopleOf } from './load-people.ts'
import { changeWatch, withManaged } from './managed-watch.ts'
import { notifiedBy, RECIPIENTS_PER_PAGE, watchRecipients } from './people-view.ts'

/** Recipients of a watch are not shown in groups; the link leads to the watch in the private chat. */
const PRIVATE_ONLY = { privately: ({ id }: { readonly id: number }) => `w${id}` } as const

const composer = new Composer<BotContext>()

onPress(composer, 'watch.who', PRIVATE_ONLY, (ctx, { id, page }) =>
  withManaged(ctx, id, (watch, link) => showPeople(ctx, watch, link, { page })),
)

onPress(composer, 'watch.whoFlip', PRIVATE_ONLY, (ctx, { id, recipient }) =>
  withManaged(ctx, id, async (watch, link) => {
    const people = await peopleOf(ctx, link)
    const { recipients } = people
    const exists = (recipientId: number) => recipients.some((other) => other.id === recipientId)
    if (!exists(recipient)) {
      await ctx.answer(ctx.t('bot:error.gone'), { box: true })
      await showPeople(ctx, watch, link, { page: 1 })
      return
    }
    // The recipients that are notified now, also by default: the screen shows them with a tick.
    const before = notifiedBy(watch.recipientIds, people).flatMap(
      ({ id: recipientId }) => recipientId ?? [],
    )
    const isTicked = before.includes(recipient)
    const after = isTicked
      ? before.filter((recipientId) => recipientId !== recipient)
      : [...before, recipient]
    const wanted = after.filter(exists)
    const isLast = isTicked && wanted.length === 0
    const notice = isLast ? { notice: `⚠️ ${ctx.t.html('bot:people.last')}` } : {}
    const changes = { recipientIds: wanted.length === 0 ? null : wanted }
    const at = recipients.findIndex((choice) => choice.id === recipient)
    await changeWatch(ctx, { watch, link }, changes, (changed) =>
      showPeople(ctx, changed, link, {
        page: Math.floor(Math.max(at, 0) / RECIPIENTS_PER_PAGE) + 1,
        ...notice,
      }),
    )
  }),
)

onPress(composer, 'watch.whoAll', PRIVATE_ONLY, (ctx, { id }) =>
  withManaged(ctx, id, (watch, link) =>
    changeWatch(ctx, { watch, link }, { recipientIds: null }, (changed) =>
      showPeople(ctx, changed, link, { page: 1 }),
    ),
  ),
)

onPress(composer, 'watch.esc', PRIVATE_ONLY, (ctx, { id }) =>
  withManaged(ctx, id, (watch, link) => showEscalation(ctx, watch, link)),
)

onPress(composer, 'watch.escWho', PRIVATE_ONLY, (ctx, { id }) =>
  withManaged(ctx, id, (watch, link) => showEscalation(ctx, watch, link, escalationChoice)),
)

onPress(composer, 'watch.escAfter', PRIVATE_ONLY, (ctx, { id, minutes }) =>
  withManaged(ctx, id, (watch, link) => {
    const escalateAfterMinutes = minutes === 0 ? null : minutes
    return changeWatch(ctx, { watch, link }, { escalateAfterMinutes }, (changed) =>
      showEscalation(ctx, changed, link),
    )
  }),
)

onPress(composer, 'watch.escFlip', PRIVATE_ONLY, (ctx, { id, recipient }) =>
  withManaged(ctx, id, async (watch, link) => {
    const { recipients } = await peopleOf(ctx, link)
    const exists = (recipientId: number) => recipients.some((other) => other.id === recipientId)
    if (!exists(recipient)) {
      await ctx.answer(ctx.t('bot:error.gone'), { box: true })
      await showEscalation(ctx, watch, link, escalationChoice)
      return
    }
    const before = watch.escalateTo.filter(exists)
    const isTicked = before.includes(recipient)
    const after = isTicked
      ? before.filter((recipientId) => recipientId !== recipient)
      : [...before, recipient]
    const changes = { escalateTo: after.filter(exists) }
    await changeWatch(ctx, { watch, link }, changes, (changed) =>
      showEscalation(ctx, changed, link, escalationChoice),
    )
  }),
)

onPress(composer, 'watch.escLater', PRIVATE_ONLY, (ctx, { id, recipient }) =>
  withManaged(ctx, id, async (watch, link) => {
    const people = await peopleOf(ctx, link)
    const notified = notifiedBy(watch.recipientIds, people).flatMap((choice) => choice.id ?? [])
    const recipientIds = notified.filter((recipientId) => recipientId !== recipient)
    // Without another one the watch would tell its default recipients, of which this is one.
    if (!notified.includes(recipient) || recipientIds.length === 0) {
      await ctx.answer(ctx.t('bot:error.gone'), { box: true })
      await showEscalation(ctx, watch, link)
      return
    }
    const changes = {
      recipientIds,
      escalateTo: [recipient],
      escalateAfterMinutes: watch.escalateAfterMinutes ?? LATER_MINUTES,
    }
    await changeWatch(ctx, { watch, link }, changes, (changed) =>
      showEscalation(ctx, changed, link),
    )
  }),
)

async function showEscalation(
  ctx: BotContext,
  watch: Watch,
  link: Membership,
  draw = escalationScreen,
): Promise<void> {
  requireWrite(link)
  await show(ctx, draw(ctx.reader, watch, await peopleOf(ctx, link)))
}

async function showPeople(
  ctx: BotContext,
  watch: Watch,
  link: Membership,
  options: { readonly page: number; readonly notice?: string },
): Promise<void> {
  requireWrite(link)
  await show(ctx, watchRecipients(ctx.reader, watch, await peopleOf(ctx, link), options))
}

/** Refuses chats that only receive, which see no other recipient. */
function requireWrite({ caller }: Membership): void {
  if (caller.scopes.includes('write')) return
  throw new AppError('forbidden', 'insufficient_scope', { values: { scope: 'write' } })
}

export const watchPeopleFeature = defineFeature({ commands: [], composer })
