import type { Address } from './units.ts'

/** Wallet of the synthetic alert. Nobody has a key of this wallet. */
export const CANARY_WALLET: Address = '0x0000000000000000000000000000000000000000'

/**
 * Webhook address to which no request is sent. Everything before the request works as for any other
 * address.
 */
export const CANARY_WEBHOOK_URL = 'https://discard.invalid/'
