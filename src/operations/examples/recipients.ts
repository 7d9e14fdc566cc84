import type * as operations from '../rest/recipients.ts'
import type { ExamplesOf } from './define.ts'
import { at, DELIVERED_AT, LINK_CODE, RECIPIENT, TESTED, WEBHOOK_SECRET } from './story.ts'

const URL = 'https://pager.example.org/hooks/9f2c'
const BOT_LINK = 'https://t.me/example_watchdog_bot'

const created = {
  id: RECIPIENT.id,
  name: RECIPIENT.name,
  channel: 'webhook',
  target: 'pager.example.org/…9f2c',
  locale: 'en',
  timezone: 'UTC',
  status: 'active',
  statusReason: null,
  minSeverity: 'info',
  default: true,
  createdAt: at('08:40:00'),
  verifiedAt: null,
  lastSuccessAt: null,
  lastFailureAt: null,
}
/** After the alert was delivered. */
const used = { ...created, lastSuccessAt: DELIVERED_AT }

/** A webhook whose secret is shown once, and a link for a chat that was not opened yet. */
export const recipientExamples: ExamplesOf<typeof operations> = {
  listRecipients: { response: { data: [used], nextCursor: null } },
  createRecipient: {
    request: { name: RECIPIENT.name, channel: 'webhook', url: URL, default: true },
    response: { ...created, secret: WEBHOOK_SECRET },
  },
  updateRecipient: {
    request: { minSeverity: 'warning' },
    response: { ...used, minSeverity: 'warning' },
  },
  testRecipient: TESTED,
  createTelegramLink: {
    request: { name: 'Ops chat', scopes: ['read', 'write'] },
    response: {
      url: `${BOT_LINK}?start=${LINK_CODE}`,
      groupUrl: `${BOT_LINK}?startgroup=${LINK_CODE}`,
      expiresAt: at('08:57:00'),
    },
  },
}
