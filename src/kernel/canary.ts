import type { Address } from './units.ts'

/** Wallet of the synthetic alert, which has no key and so no person behind it. */
export const CANARY_WALLET: Address = '0x0000000000000000000000000000000000000000'

/** Webhook address that no request is sent to. Everything before the request is as for any other. */
export const DISCARD_URL = 'https://discard.invalid/'
