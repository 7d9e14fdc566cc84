/** Operation of the page that opens a test receiver, for a reader who has no link yet. */
import { createReceiver } from '#src/delivery/receiver/receiver.ts'
import { defineChatOperation } from '../define.ts'

/** Returns the code of a new test receiver. */
export const openReceiver = defineChatOperation({
  id: 'openReceiver',
  scope: 'none',
  rate: 'public',
  handle: async ({ app }) => createReceiver(app),
})
