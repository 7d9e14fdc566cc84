/** A service with only its own database: starts it, prints its URL, and keeps running. */
import { startEmbedded } from '#src/db/embedded/embedded.ts'
import type { Logger } from '#src/kernel/logger.ts'

const [dataDir = '', sharedDir = ''] = process.argv.slice(2)
const lines: string[] = []
const keep: Logger['info'] = (_, message) => lines.push(message)
const logger = { error: keep, warn: keep, info: keep, debug: () => undefined }

const embedded = await startEmbedded({ dataDir, sharedDir, logger, durable: false })
process.send?.({ url: embedded.url, lines })
process.once('message', async () => {
  await embedded.stop()
  process.disconnect()
})
