import { createApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { testEnvironment } from '../support/environment.ts'
import { NO_PACE } from '../support/pace.ts'

/**
 * The service's own server and bot behind Telegram's webhook, without the limits of Telegram: 50 screens a second
 * are beyond them. Run as a process of its own: `press-subject.ts <database url> <url of the Bot API>`.
 */
const [, , databaseUrl = '', apiRoot = ''] = process.argv
const config = loadConfig(
  testEnvironment({
    TELEGRAM_BOT_TOKEN: `1:${'a'.repeat(35)}`,
    TELEGRAM_API_ROOT: apiRoot,
    TELEGRAM_WEBHOOK_SECRET: 'bench',
  }),
)
const { server, bot } = createApp(config, { databaseUrl, log: silentLogger, pace: NO_PACE })
bot?.mount(server)
await bot?.introduce()
await bot?.start()
const address = await server.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${address}\n`)
