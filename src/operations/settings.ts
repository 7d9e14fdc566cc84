import { AppError } from '#src/kernel/errors.ts'
import {
  getSettings as get,
  NewSettings,
  replaceSettings as replace,
  Settings,
} from '#src/recipients/settings.ts'
import { defineOperation } from './define.ts'
import { tagOfVersion, versionOf } from './etag.ts'

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
  handle: async ({ app, caller, body, ifMatch }) => {
    refuseUnserved(body)
    return replace(app, caller, { settings: body, ifVersion: versionOf(ifMatch) })
  },
})

/**
 * Quiet hours and digests are kept for the channels that will hold messages back. None does yet, so
 * switching them on is refused instead of promised.
 *
 * @throws AppError invalid `validation_failed`
 */
function refuseUnserved({ quietHours, digest }: NewSettings): void {
  const errors = [
    ...(quietHours.enabled ? ['/quietHours/enabled'] : []),
    ...(digest === 'off' ? [] : ['/digest']),
  ].map((pointer) => ({ pointer, code: 'setting_not_available' }))
  if (errors.length > 0) throw new AppError('invalid', 'validation_failed', { errors })
}
