import Fastify from 'fastify'
import { hooksPage } from '../chat-hooks/page.ts'
import { homePage } from '../home/page.ts'
import { inboxPage } from '../inbox/page.ts'
import { serveLayout, topBar } from '../layout.ts'
import { receiverPage } from '../receiver/page.ts'
import { scenariosPage } from '../scenarios/page.ts'
import { chatPages } from '../telegram-chat-page.ts'
import type { WorldParts } from './parts.ts'

/** The sandbox's pages. */
export interface Web {
  close(): Promise<void>
}

const BAR_HEAD =
  '<link rel="stylesheet" href="/layout.css"><script type="module" src="/layout.js"></script>'

/** Serves every page of a world, each below the same bar, on loopback. */
export async function startWeb(world: WorldParts, port: number): Promise<Web> {
  const app = Fastify({ logger: false, forceCloseConnections: true })
  serveLayout(app, async () => ({
    now: world.clock.now(),
    block: await world.devnet.client.getBlockNumber(),
  }))
  await app.register(homePage, { world })
  await app.register(chatPages(world.telegram, { topBar: topBar('chat'), head: BAR_HEAD }))
  await app.register(inboxPage, { inbox: world.inbox })
  await app.register(receiverPage, { receiver: world.receiver })
  await app.register(hooksPage, { hooks: world.hooks })
  await app.register(scenariosPage, { world })
  await app.listen({ host: '127.0.0.1', port })
  return { close: () => app.close() }
}
