import { afterAll, beforeAll, expect, test } from 'vitest'
import { normalizedText } from '#sandbox/tour/chat.ts'
import type { World } from '#sandbox/world.ts'
import { packed } from '#src/actions/codec.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { watchStart } from '#src/telegram/links.ts'
import { startSandboxWorld } from '../support/sandbox-world.ts'

/** From the link of a provider's page to the message that it fails, in the running service, without a wallet. */

let world: World

beforeAll(async () => {
  world = await startSandboxWorld(silentLogger)
  await world.simulation.playRounds(3)
}, 120_000)
afterAll(() => world.close())

const WAIT_MS = 20_000
const provider = () => world.simulation.provider('Alpha').accounts.identity.address

const ofBot = (chatId: number) =>
  world.telegram.messages(chatId).filter(({ from }) => from === world.telegram.bot.id)

/** Waits for a message of the bot whose text matches. */
const read = (chatId: number, text: RegExp) =>
  world.telegram.waitFor(
    () => ofBot(chatId).find((message) => text.test(normalizedText(message.text))),
    WAIT_MS,
  )

async function follow(languageCode: string): Promise<number> {
  const { id } = world.telegram.person({ firstName: 'Dora', languageCode })
  world.telegram.send(id, `/start ${watchStart('provider-fsp', provider())}`)
  const screen = await world.telegram.waitFor(() => ofBot(id)[0], WAIT_MS)
  world.telegram.press(id, screen.id, packed('follow.on', { address: provider() }))
  await world.telegram.waitFor(
    () => ofBot(id).find(({ keyboard }) => JSON.stringify(keyboard).includes('follow.off')),
    WAIT_MS,
  )
  return id
}

test('two followers hear of the beginning and the end of an outage, each once', async () => {
  const english = await follow('en')
  const german = await follow('de')
  await world.simulation.playRounds(2)
  await world.simulation.behave('Alpha', 'silent')
  await world.simulation.playRounds(4)
  await read(english, /^🔴 Alpha has sent no votes/)
  await read(german, /^🔴 Alpha/)
  await world.simulation.recover('Alpha')
  await world.simulation.playRounds(6)
  await read(english, /^🟢 Alpha is healthy again/)
  await read(german, /^🟢 Alpha/)
  // The screen, the alert, which now says how long it lasted, and its end.
  for (const id of [english, german]) {
    await world.telegram.waitFor(() => ofBot(id).length >= 3, WAIT_MS)
    expect(ofBot(id)).toHaveLength(3)
  }
})
