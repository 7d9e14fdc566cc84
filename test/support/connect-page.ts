/** Signs on the connect page for a person in a chat. */
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { createChallenge } from '#src/auth/service.ts'
import { claimConnectCode, connectScopes } from '#src/recipients/connect.ts'
import type { BotWorld, TestChat } from './bot.ts'
import { notifyOutcomes } from './live.ts'

/** Uses the code that the newest message shows, after which the chat is notified. The service's URL must be public. */
export async function connectWallet(
  world: BotWorld,
  chat: TestChat,
  name: keyof typeof PEOPLE,
): Promise<void> {
  const { app } = world
  const { account } = PEOPLE[name]
  const code = chat.last().keyboard[0]?.[0]?.url?.split('/connect/')[1] ?? ''
  const scopes = [...connectScopes(false)]
  const asked = { wallet: account.address, scopes, label: undefined }
  const { message } = await createChallenge(app, asked)
  const signature = await account.signMessage({ message })
  await claimConnectCode(app, { code, message, signature, timezone: 'UTC' })
  await notifyOutcomes(world)
}
