import { z } from 'zod'
import { deleteWatchAndCloseAlerts } from '#src/alerts/deletions.ts'
import { Backtest, toBacktest } from '#src/alerts/messages/backtest.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { AppError } from '#src/kernel/errors.ts'
import { IdParam, pageQueryFields, pageRows, pageSchema } from '#src/kernel/pagination.ts'
import { readNotified } from '#src/recipients/notified.ts'
import * as recipients from '#src/recipients/service.ts'
import { getSettings } from '#src/recipients/settings.ts'
import * as watches from '#src/watches/manage/service.ts'
import { NewWatch, type UnaddressedWatch, Watch, WatchChanges } from '#src/watches/model.ts'
import { type AnyOperation, type App, defineOperation } from '../define.ts'
import { tagOfVersion, versionsOf } from '../gate/etag.ts'
import { summarizeWatchChange } from '../summaries/change-summaries.ts'
import { summarizeWatchDeletion } from '../summaries/summaries.ts'

const WatchList = pageSchema(Watch).meta({ id: 'WatchList' })

export const listWatches = defineOperation({
  id: 'listWatches',
  method: 'GET',
  path: '/watches',
  scope: 'read',
  rate: 'read',
  status: 200,
  query: z.strictObject(pageQueryFields),
  rows: pageRows,
  output: WatchList,
  handle: async ({ app, caller, query }) => {
    const page = await watches.listWatches(app, caller, query)
    return { ...page, data: page.data.map(await readNotified(app, caller)) }
  },
})

export const createWatch = defineOperation({
  id: 'createWatch',
  method: 'POST',
  path: '/watches',
  scope: 'write',
  rate: 'write',
  idempotent: true,
  status: 201,
  errors: ['no_free_slot', 'watch_limit_reached', 'billing_disabled', 'terms_not_accepted'],
  body: NewWatch,
  output: Watch,
  location: ({ id }) => `/watches/${id}`,
  prepare: async ({ app, caller, body }) => {
    await requireOwnRecipients(app, caller, body)
    return watches.checkNewWatch(app, body)
  },
  handle: async ({ app, caller, body }, checked) => {
    await requireOwnRecipients(app, caller, body)
    return await complete(app, caller, await watches.createWatch(app, caller, body, checked))
  },
})

const DAYS_MAX = 7
/** Number of incidents and of alerts of a backtest that an agent reads; it has the counts of all. */
const AGENTS_ALERTS_MAX = 10

export const backtestWatch = defineOperation({
  id: 'backtestWatch',
  method: 'POST',
  path: '/watches/backtest',
  tag: 'backtest',
  scope: 'read',
  rate: 'backtest',
  isExtension: true,
  status: 200,
  errors: ['billing_disabled', 'too_many_backtests'],
  query: z.strictObject({
    days: z.coerce
      .number()
      .int()
      .min(1)
      .max(DAYS_MAX)
      .default(DAYS_MAX)
      .meta({ description: 'operations:field.backtestDays' }),
  }),
  body: NewWatch,
  output: Backtest,
  forAgents: ({ alerts, incidents, ...others }) => ({
    ...others,
    incidents: incidents.slice(0, AGENTS_ALERTS_MAX),
    alerts: alerts.slice(0, AGENTS_ALERTS_MAX),
  }),
  prepare: async ({ app, caller, body }) => {
    await requireOwnRecipients(app, caller, body)
    return watches.checkNewWatch(app, body)
  },
  handle: async ({ app, caller, query: { days }, body, locale }, { canonicalTarget }) => {
    const { timezone } = await getSettings(app, caller)
    const outcome = await app.backtests.run(caller, { watch: body, canonicalTarget, days })
    return toBacktest(outcome, days, { locale, timezone })
  },
})

export const getWatch = defineOperation({
  id: 'getWatch',
  method: 'GET',
  path: '/watches/{id}',
  scope: 'read',
  rate: 'read',
  status: 200,
  params: IdParam,
  output: Watch,
  etag: watchTag,
  handle: async ({ app, caller, params }) =>
    await complete(app, caller, await watches.getWatch(app, caller, params.id)),
})

export const updateWatch = defineOperation({
  id: 'updateWatch',
  method: 'PATCH',
  path: '/watches/{id}',
  scope: 'write',
  rate: 'write',
  status: 200,
  errors: ['no_free_slot', 'watch_limit_reached', 'billing_disabled'],
  params: IdParam,
  body: WatchChanges,
  output: Watch,
  etag: watchTag,
  summarize: summarizeWatchChange,
  prepare: async ({ app, caller, params, body, ifMatch }) => {
    await requireOwnRecipients(app, caller, body)
    const update = { id: params.id, changes: body, ifVersions: versionsOf(ifMatch) }
    return { update, checked: await watches.checkSettings(app, caller, update) }
  },
  handle: async ({ app, caller, body }, { update, checked }) => {
    await requireOwnRecipients(app, caller, body)
    const changed = await watches.updateWatch(app, caller, update, checked)
    return await complete(app, caller, changed)
  },
})

export const deleteWatch = defineOperation({
  id: 'deleteWatch',
  method: 'DELETE',
  path: '/watches/{id}',
  scope: 'write',
  rate: 'write',
  status: 204,
  params: IdParam,
  summarize: summarizeWatchDeletion,
  handle: ({ app, caller, params }) => deleteWatchAndCloseAlerts(app, caller, params.id),
})

/** Tag of the row's version, of the watch's health, of the time of its last evaluation, and of its recipients. */
function watchTag({ version, health, lastEvaluatedAt, notifies }: Watch): string {
  const evaluated = lastEvaluatedAt?.getTime().toString(36) ?? ''
  return tagOfVersion(version, health, evaluated, notifies.join('-'))
}

/** A watch with the recipients that its alerts reach. */
async function complete(app: App, caller: Caller, watch: UnaddressedWatch): Promise<Watch> {
  const addNotified = await readNotified(app, caller)
  return addNotified(watch)
}

/**
 * Refuses `recipientIds` and `escalateTo` that are not the caller's.
 * @throws AppError invalid `validation_failed`
 */
async function requireOwnRecipients(
  app: App,
  caller: Caller,
  body: Pick<WatchChanges, 'recipientIds' | 'escalateTo'>,
): Promise<void> {
  const recipientIds = [...(body.recipientIds ?? []), ...(body.escalateTo ?? [])]
  if (recipientIds.length === 0) return
  const unknownIds = await recipients.listUnknownRecipients(app, caller, [...new Set(recipientIds)])
  if (unknownIds.length === 0) return
  const errors = (['recipientIds', 'escalateTo'] as const).flatMap((field) =>
    (body[field] ?? []).flatMap((id, index) =>
      unknownIds.includes(id) ? [{ pointer: `/${field}/${index}`, code: 'recipient' }] : [],
    ),
  )
  throw new AppError('invalid', 'validation_failed', { errors })
}

/** The operations of this module with a route, in the order of the specification. */
export const watchOperations: readonly AnyOperation[] = [
  listWatches,
  createWatch,
  backtestWatch,
  getWatch,
  updateWatch,
  deleteWatch,
]
