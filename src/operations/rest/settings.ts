import { replaceSettingsAndReschedule } from '#src/alerts/reminders/settings-changes.ts'
import { getSettings as get, NewSettings, Settings } from '#src/recipients/settings.ts'
import { type AnyOperation, defineOperation } from '../define.ts'
import { tagOfVersion, versionsOf } from '../gate/etag.ts'
import { summarizeSettings } from '../summaries/change-summaries.ts'

export const getSettings = defineOperation({
  id: 'getSettings',
  method: 'GET',
  path: '/settings',
  scope: 'read',
  rate: 'read',
  status: 200,
  output: Settings,
  etag: ({ version }) => tagOfVersion(version),
  handle: ({ app, caller }) => get(app, caller),
})

export const replaceSettings = defineOperation({
  id: 'replaceSettings',
  method: 'PUT',
  path: '/settings',
  scope: 'write',
  rate: 'write',
  status: 200,
  body: NewSettings,
  output: Settings,
  etag: ({ version }) => tagOfVersion(version),
  summarize: summarizeSettings,
  handle: async ({ app, caller, body, ifMatch }) =>
    replaceSettingsAndReschedule(app, caller, { settings: body, ifVersions: versionsOf(ifMatch) }),
})

/** The operations of this module with a route, in the order of the specification. */
export const settingsOperations: readonly AnyOperation[] = [getSettings, replaceSettings]
