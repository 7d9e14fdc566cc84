import { findPort } from '#sandbox/world/ports.ts'
import { sendTest } from '#src/alerts/messages/test-send.ts'
import { createRecipient } from '#src/recipients/service.ts'
import { OWNER, openSite, type Site } from './site.ts'

/** A site that can be reached at its public URL, so that it can send webhooks to itself. */
export async function openReachableSite(over: Readonly<Record<string, string>> = {}) {
  const port = await findPort()
  const base = `http://127.0.0.1:${port}`
  const site = await openSite({ PUBLIC_URL: base, ...over })
  await site.listen(port)
  return { site, base }
}

/** Adds a webhook with this address and sends a test to it. */
export async function sendTestTo({ app }: Site, url: string) {
  const recipient = await createRecipient(app, OWNER, {
    ...({ name: 'Mine', channel: 'webhook', url, default: false } as const),
  })
  return { recipient, result: await sendTest(app, OWNER, recipient.id) }
}
