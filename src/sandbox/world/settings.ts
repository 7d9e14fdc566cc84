import { randomBytes } from 'node:crypto'
import { type Config, loadConfig } from '#src/config.ts'

/** Where the parts of a world are. */
export interface Places {
  readonly servicePort: number
  readonly internalPort: number
  readonly rpcUrl: string
  readonly telegramUrl: string
  readonly smtpUrl: string
  readonly termsUrl: string
}

export const BOT_USERNAME = 'WatchdogSandboxBot'
/** Looks at the chain often, so that nobody waits for it. */
const EVALUATION_INTERVAL_MS = 250
const TERMS_VERSION = 'sandbox-1'

/** A token of the right form, new each time. */
export function makeBotToken(): string {
  return `7000000001:${randomBytes(27).toString('base64url')}`
}

/** The service's configuration, read as it would be from an environment. */
export function configFor(places: Places, botToken: string): Config {
  return loadConfig({
    PUBLIC_URL: `http://127.0.0.1:${places.servicePort}`,
    PORT: `${places.servicePort}`,
    INTERNAL_PORT: `${places.internalPort}`,
    SECRET_KEY: randomBytes(32).toString('base64'),
    FLARE_RPC_URLS: places.rpcUrl,
    EVALUATION_INTERVAL_MS: `${EVALUATION_INTERVAL_MS}`,
    TERMS_VERSION,
    TERMS_URL: places.termsUrl,
    TELEGRAM_BOT_TOKEN: botToken,
    TELEGRAM_API_ROOT: places.telegramUrl,
    SMTP_URL: places.smtpUrl,
    EMAIL_FROM: 'Watchdog <alerts@watchdog.example>',
    WEBHOOK_ALLOW_PRIVATE: 'true',
  })
}
