import { AlertPage, AlertQuery } from '#src/alerts/model.ts'
import * as alerts from '#src/alerts/service.ts'
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
