/** Signs on the connect page for a person in a chat. */
import { notifyConnectOutcomes } from '#bot/features/connect/notifications.ts'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { createChallenge } from '#src/auth/service.ts'
import { claimConnectCode, connectScopes } from '#src/recipients/connect.ts'
import { API_TIMEOUT_SECONDS, createApi } from '#src/telegram/api.ts'
import type { BotWorld, TestChat } from './bot.ts'
import { BOT_NAME, BOT_TOKEN } from './harness.ts'

/** Uses the code that the newest message shows, after which the chat is notified. The service's URL must be public. */
export async function connectWallet(
  { app, telegram }: BotWorld,
  chat: TestChat,
  name: keyof typeof PEOPLE,
): Promise<void> {
  const { account } = PEOPLE[name]
  const code = chat.last().keyboard[0]?.[0]?.url?.split('/connect/')[1] ?? ''
  const scopes = [...connectScopes(false)]
  const asked = { wallet: account.address, scopes, label: undefined }
  const { message } = await createChallenge(app, asked)
  const signature = await account.signMessage({ message })
  await claimConnectCode(app, { code, message, signature, timezone: 'UTC' })
  const api = createApi({ token: BOT_TOKEN, apiRoot: telegram.url }, API_TIMEOUT_SECONDS)
  await notifyConnectOutcomes({ app, api, username: BOT_NAME })
}
