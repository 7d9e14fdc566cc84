import * as acting from '#src/alerts/acknowledge/acknowledge.ts'
import { getEvidence } from '#src/alerts/evidence/evidence.ts'
import { AlertEvidence } from '#src/alerts/evidence/model.ts'
import * as alerts from '#src/alerts/history/history.ts'
import {
  AcknowledgeInput,
  Acknowledgement,
  AlertDeletionResult,
  AlertExportQuery,
  AlertPage,
  AlertQuery,
  AlertSelection,
  AlertSelectionQuery,
} from '#src/alerts/model.ts'
import { listTokens } from '#src/auth/service.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { IdParam, pageRows } from '#src/kernel/pagination.ts'
import { type AnyOperation, type App, defineOperation } from '../define.ts'
import { readDeletionBound, summarizeAlertsDeletion } from '../summaries/alerts-summary.ts'
import { summarizeAcknowledgement } from '../summaries/change-summaries.ts'
import { summarizeAlertDeletion } from '../summaries/summaries.ts'

export const listAlerts = defineOperation({
  id: 'listAlerts',
  method: 'GET',
  path: '/alerts',
  scope: 'read',
  rate: 'read',
  status: 200,
  readsReplica: true,
  query: AlertQuery,
  output: AlertPage,
  rows: pageRows,
  handle: ({ app, caller, query }) => alerts.listAlerts(app, caller, query),
})

export const deleteAlerts = defineOperation({
  id: 'deleteAlerts',
  method: 'DELETE',
  path: '/alerts',
  scope: 'write',
  rate: 'write',
  status: 200,
  query: AlertSelectionQuery,
  body: AlertSelection,
  bodyOptional: true,
  output: AlertDeletionResult,
  // Not `summarizeAlertsDeletion` itself: TypeScript would take the types of the entry from its parameter, not from the schemas.
  summarize: (input) => summarizeAlertsDeletion(input),
  readBound: (input) => readDeletionBound(input),
  handle: ({ app, caller, query: { all, ...query }, body, bound }) =>
    alerts.deleteAlerts(app, caller, { ...query, ...(all && { all: true }), ...body }, bound),
})

/** Reads the evidence of an alert, which anybody can check on the chain. */
export const getAlertEvidence = defineOperation({
  id: 'getAlertEvidence',
  isExtension: true,
  tag: 'evidence',
  method: 'GET',
  path: '/alerts/{id}/evidence',
  scope: 'read',
  rate: 'preview',
  status: 200,
  params: IdParam,
  output: AlertEvidence,
  errors: ['dependency_unavailable'],
  handle: ({ app, caller, params: { id }, locale }) => getEvidence(app, caller, { id, locale }),
})

export const deleteAlert = defineOperation({
  id: 'deleteAlert',
  method: 'DELETE',
  path: '/alerts/{id}',
  scope: 'write',
  rate: 'write',
  status: 204,
  params: IdParam,
  summarize: summarizeAlertDeletion,
  handle: ({ app, caller, params }) => alerts.deleteAlert(app, caller, params.id),
})

export const exportAlerts = defineOperation({
  id: 'exportAlerts',
  method: 'GET',
  path: '/alerts/export',
  scope: 'read',
  rate: 'export',
  status: 200,
  query: AlertExportQuery,
  produces: 'text/csv',
  handle: async ({ app, caller, query }) => alerts.exportAlerts(app, caller, query),
})

/**
 * Acknowledges an alert and its incident in the name of the caller's token, or undoes the
 * acknowledgement.
 */
export const acknowledge = defineOperation({
  id: 'acknowledge',
  isExtension: true,
  method: 'POST',
  path: '/alerts/{id}/acknowledge',
  scope: 'write',
  rate: 'write',
  status: 200,
  params: IdParam,
  body: AcknowledgeInput,
  bodyOptional: true,
  output: Acknowledgement,
  summarize: (input) => summarizeAcknowledgement(input),
  handle: async ({ app, caller, params: { id }, body: { acknowledged = true, note } = {} }) => {
    const acted = acknowledged
      ? await acting.acknowledgeAlert(app, caller, { id, by: await tokenLabel(app, caller), note })
      : await acting.unacknowledgeAlert(app, caller, { id })
    const { at = null, by = null } = acted.acknowledged ?? {}
    return { id, acknowledgedAt: at, acknowledgedBy: by, note: acted.note?.text ?? null }
  },
})

async function tokenLabel(app: App, caller: Caller): Promise<string | null> {
  const { data } = await listTokens(app, caller)
  return data.find(({ id }) => id === caller.tokenId)?.label ?? null
}

/** The operations of this module with a route, in the order of the specification. */
export const alertOperations: readonly AnyOperation[] = [
  listAlerts,
  deleteAlerts,
  deleteAlert,
  exportAlerts,
  getAlertEvidence,
  acknowledge,
]
