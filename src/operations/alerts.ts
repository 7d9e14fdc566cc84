import * as alerts from '#src/alerts/history.ts'
import {
  AlertExportQuery,
  AlertPage,
  AlertQuery,
  AlertSelection,
  AlertSelectionQuery,
  DeletedAlerts,
} from '#src/alerts/model.ts'
import { IdParam } from '#src/kernel/query.ts'
import { defineOperation } from './define.ts'

export const listAlerts = defineOperation({
  id: 'listAlerts',
  method: 'GET',
  path: '/alerts',
  scope: 'read',
  rate: 'read',
  status: 200,
  query: AlertQuery,
  output: AlertPage,
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
  output: DeletedAlerts,
  handle: ({ app, caller, query: { all, ...query }, body }) =>
    alerts.deleteAlerts(app, caller, { ...query, ...(all && { all: true }), ...body }),
})

export const deleteAlert = defineOperation({
  id: 'deleteAlert',
  method: 'DELETE',
  path: '/alerts/{id}',
  scope: 'write',
  rate: 'write',
  status: 204,
  params: IdParam,
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
