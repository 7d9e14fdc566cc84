import { Preview, PreviewRequest, previewMessage as preview } from '#src/alerts/messages/preview.ts'
import { getSettings } from '#src/recipients/settings.ts'
import { getWatch } from '#src/watches/manage/service.ts'
import { type AnyOperation, defineOperation } from '../define.ts'

export const previewMessage = defineOperation({
  id: 'previewMessage',
  method: 'POST',
  path: '/message-preview',
  scope: 'read',
  rate: 'preview',
  status: 200,
  body: PreviewRequest,
  namesRow: true,
  output: Preview,
  handle: async ({ app, caller, body }) => {
    const { locale, timezone } = await getSettings(app, caller)
    const watch = body.watchId === undefined ? undefined : await getWatch(app, caller, body.watchId)
    return preview(body, {
      reader: { locale: body.locale ?? locale, timezone },
      wallet: caller.wallet,
      watch,
      publicUrl: app.publicUrl,
      now: app.clock.now(),
    })
  },
})

/** The operations of this module with a route, in the order of the specification. */
export const messageOperations: readonly AnyOperation[] = [previewMessage]
