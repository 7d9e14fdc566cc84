/**
 * Story of all examples: on 20 November 2026 somebody signs in with a wallet, buys credits and slots,
 * watches that wallet, and gets an alert in the evening that most of its balance is gone. All data are
 * fictitious: secrets are placeholders, and payments and URLs lead nowhere.
 */
import type { PaymentTokenKey, QuotedAssetKey } from '#src/billing/price-list.ts'
import type { UsdPrice } from '#src/billing/topups/rules.ts'
import type { Address } from '#src/kernel/units.ts'

/** An instant of that day, from hours, minutes and seconds. */
export function at(time: string): string {
  return `2026-11-20T${time}.000Z`
}

/** The wallet that signs in and is watched. */
export const WALLET: Address = '0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C'
/** A data provider. */
export const PROVIDER: Address = '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE'
export const SCOPES = ['read', 'write', 'spend'] as const
export const CHAIN_ID = 14
export const SERVICE_TOKEN = 'WDG'
export const TERMS_VERSION = '2026-11'

/** Placeholders, so that no example has the form of a real secret. */
export const TOKEN = 'fwd_…'
export const TOKEN_PREFIX = 'fwd_3Kd9'
export const TOKEN_ID = 3
export const WEBHOOK_SECRET = 'whsec_…'
/** A link code of 16 zero bytes. */
export const LINK_CODE = Buffer.alloc(16).toString('base64url')

/** The purchase of the morning: credits for FLR, then slots for credits. */
export const HANDLE = '0x7d1f0c3e5a9b24866e0d1c2b3a4f5968778695a4b3c2d1e0f9a8b7c6d5e4f302'
export const TX_HASH = '0x4c1e8f6a2d905b37e4f1a6c8d3b29075f8e6142a7b9c0d3e5f61728394a5b6c7'
export const TOPUP_CREDITS = 20_000
export const SUBSCRIPTION = { id: 11, quantity: 2, periods: 6 } as const
/** Slots afterwards, including the trial's, with the watch in one of them. */
export const CAPACITY = { purchased: 2, trial: 1, used: 1, available: 2, max: 20 } as const

/** Destinations of payments: addresses without a known key. */
export const PAY_TO = '0x00000000000000000000000000000000000F1A03'
export const ROUTER: Address = '0x00000000000000000000000000000000000F1A04'
export const TOKENS = {
  service: '0x00000000000000000000000000000000000f1A05',
  WFLR: '0x00000000000000000000000000000000000F1a06',
  FXRP: '0x00000000000000000000000000000000000F1A07',
} as const satisfies Record<PaymentTokenKey, Address>
export const XRP_ADDRESS = 'rrrrrrrrrrrrrrrrrrrrBZbvji'
/** Prices of that day in US dollars. */
export const PRICES = {
  service: { value: 5n, decimals: 2 },
  WFLR: { value: 16n, decimals: 3 },
  FXRP: { value: 25n, decimals: 1 },
  FLR: { value: 16n, decimals: 3 },
  XRP: { value: 25n, decimals: 1 },
} as const satisfies Record<QuotedAssetKey, UsdPrice>

export const MAILBOX = 'ops@example.org'
export const RECIPIENT = { id: 7, name: 'Pager hook' } as const
/** The maintenance of that night. */
export const MAINTENANCE = {
  id: 'node-upgrade',
  name: 'Node upgrade',
  from: '2026-11-20T22:00:00.000Z',
  until: '2026-11-20T23:00:00.000Z',
} as const
export const WATCH = { id: 42, label: 'Treasury' } as const

/** Block time of the withdrawal. */
export const FIRED_AT = at('21:04:31')
export const EVENT = 'wallet-balance.moved'
export const ALERT_ID = 4711
export const INCIDENT_ID = 31
export const DELIVERY_ID = '0d9c6a1e-5b7f-4c3a-9e21-7f4b6a1c5d8e'
export const DELIVERED_AT = at('21:04:33')
/** Time when lists are read. */
export const READ_AT = at('21:10:00')

const TEST_ID = '5e8d1c4a-2f9b-4a7e-8c63-1d0f2e3b4a59'
/** Result of a test: immediate for a webhook, queued for others. */
export const TESTED = {
  request: {},
  response: {
    deliveryId: TEST_ID,
    status: 'delivered',
    statusCode: 200,
    latencyMs: 84,
    lastError: null,
  },
  queued: { deliveryId: TEST_ID, status: 'queued' },
} as const
