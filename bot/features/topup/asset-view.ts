import type { AssetKey } from '#src/billing/price-list.ts'
import type { Topup } from '#src/billing/topups/model.ts'
import type { Translate } from '#src/i18n/translate.ts'
import { wholeAddress } from '../../views/view.ts'

/** A way to pay, as people are offered it. */
export interface OfferedAsset {
  readonly key: AssetKey
  readonly symbol: string
  readonly decimals: number
  /** Credits on top, in basis points. */
  readonly bonusBps: number
  /** paused: not taken now. unpriced: no quote can be had now. off: this service does not take it. */
  readonly state: 'open' | 'paused' | 'unpriced' | 'off'
  /** What 1,000 credits cost, in the smallest unit; 0 where no quote can be had. */
  readonly per1000Units: bigint
  /** Most of one top-up, in the smallest unit. */
  readonly capUnits: bigint | undefined
}

/** What so many credits cost, in the smallest unit, rounded up. */
export function unitsOf({ per1000Units }: OfferedAsset, credits: number): bigint {
  return (per1000Units * BigInt(credits) + 999n) / 1000n
}

/** Most credits of one top-up; undefined where there is no cap. */
export function creditsMax({ capUnits, per1000Units }: OfferedAsset): number | undefined {
  if (capUnits === undefined || per1000Units === 0n) return undefined
  return Number((capUnits * 1000n) / per1000Units)
}

/** What owners of contract wallets must know before they pay. */
export function contractWalletLine(t: Translate, call: Topup['contractWallet']): string {
  if (call === null) return t.html('operations:instructions.noContractWallet')
  return t.html('operations:instructions.contractWallet', { address: wholeAddress(call.to) })
}
