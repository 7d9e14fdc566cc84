/** Continues a purchase after a chat got the right to spend on the connect page. */
import type { Api } from 'grammy'
import type { Caller } from '#src/kernel/caller.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { Hash } from '#src/kernel/units.ts'
import type { App } from '#src/operations/define.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { post } from '#src/telegram/send.ts'
import { contentOf } from '../../core/show.ts'
import { changeChat } from '../../core/store.ts'
import type { Reader } from '../../views/view.ts'
import { followTopup } from '../topup/live-schedule.ts'
import { readTopup } from '../topup/shown-topup.ts'
import { topupScreen } from '../topup/view.ts'

/** Sends the quote to the chat as the current message of its top-ups, and follows the payment. */
export async function postPurchase(
  { app, api }: { readonly app: App; readonly api: Api },
  to: {
    readonly chatId: number
    readonly caller: Caller
    readonly reader: Reader
    readonly locale: Locale
    readonly handle: Hash
  },
): Promise<void> {
  const { chatId, caller, reader, locale, handle } = to
  const shown = await readTopup(
    app,
    async (operation, input) => (await invoke(app, operation, caller, { ...input, locale })).output,
    { handle, chatId },
  )
  const now = app.clock.now()
  const view = topupScreen(reader, shown, now)
  const { messageId } = await post(api, { chatId, content: () => contentOf(view, locale) })
  await changeChat(app.db, chatId, { currentMessages: { topup: messageId } }, now)
  await followTopup(app, { chatId, messageId }, shown, view)
}
