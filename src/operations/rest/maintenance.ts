import { z } from 'zod'
import {
  endMaintenanceAndReschedule,
  planMaintenance,
} from '#src/alerts/reminders/settings-changes.ts'
import { MaintenanceRequest, MaintenanceWindow } from '#src/recipients/maintenance.ts'
import { type AnyOperation, defineOperation } from '../define.ts'
import { summarizeMaintenance, summarizeMaintenanceEnd } from '../summaries/change-summaries.ts'

/** Adds a window to the settings of the wallet, in one call from a script that deploys something. */
export const createMaintenance = defineOperation({
  id: 'createMaintenance',
  isExtension: true,
  tag: 'settings',
  method: 'POST',
  path: '/maintenance',
  scope: 'write',
  rate: 'write',
  idempotent: true,
  status: 201,
  errors: ['maintenance_limit_reached'],
  body: MaintenanceRequest,
  output: MaintenanceWindow,
  summarize: summarizeMaintenance,
  handle: ({ app, caller, body }) => planMaintenance(app, caller, body),
})

export const deleteMaintenance = defineOperation({
  id: 'deleteMaintenance',
  isExtension: true,
  tag: 'settings',
  method: 'DELETE',
  path: '/maintenance/{id}',
  scope: 'write',
  rate: 'write',
  status: 204,
  params: z.strictObject({ id: MaintenanceWindow.shape.id }),
  summarize: summarizeMaintenanceEnd,
  handle: ({ app, caller, params }) => endMaintenanceAndReschedule(app, caller, params.id),
})

export const maintenanceOperations: readonly AnyOperation[] = [createMaintenance, deleteMaintenance]
