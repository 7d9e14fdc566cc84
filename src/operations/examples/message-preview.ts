import { previewMessage } from '#src/alerts/messages/preview.ts'
import { JsonObject } from '#src/kernel/units.ts'
import type * as operations from '../rest/message-preview.ts'
import type { ExamplesOf } from './define.ts'
import { EVENT, FIRED_AT, WALLET, WATCH } from './story.ts'

/** A preview of the alert as a chat message, with the texts that are sent. */
export function messageExamples(publicUrl: string): ExamplesOf<typeof operations> {
  const request = { event: EVENT, channel: 'telegram', watchId: WATCH.id } as const
  const preview = previewMessage(request, {
    reader: { locale: 'en', timezone: 'UTC' },
    wallet: WALLET,
    watch: WATCH,
    publicUrl,
    now: new Date(FIRED_AT),
  })
  return { previewMessage: { request, response: JsonObject.parse(preview) } }
}
