import type { AssetKey } from '#src/billing/price-list.ts'
import type { Topup } from '#src/billing/topups/model.ts'
import type { Translate } from '#src/i18n/translate.ts'
import { wholeAddress } from '../../views/view.ts'

/** A payment asset that is offered to people. */
export interface OfferedAsset {
  readonly key: AssetKey
  readonly symbol: string
  readonly decimals: number
  /** Bonus credits, in basis points. */
  readonly bonusBps: number
  /** `paused`: temporarily not accepted. `unpriced`: no quote is possible now. `off`: not configured. */
  readonly state: 'open' | 'paused' | 'unpriced' | 'off'
  /** Price of 1,000 credits, in the smallest unit; 0 where no quote is possible. */
  readonly per1000Units: bigint
  /** Maximum amount of one top-up, in the smallest unit. */
  readonly capUnits: bigint | undefined
}

/** Price of credits, in the smallest unit, rounded up. */
export function unitsOf({ per1000Units }: OfferedAsset, credits: number): bigint {
  return (per1000Units * BigInt(credits) + 999n) / 1000n
}

/** Maximum number of credits of one top-up; undefined if the asset has no cap. */
export function creditsMax({ capUnits, per1000Units }: OfferedAsset): number | undefined {
  if (capUnits === undefined || per1000Units === 0n) return undefined
  return Number((capUnits * 1000n) / per1000Units)
}

/** Hint for owners of contract wallets. */
export function contractWalletLine(t: Translate, call: Topup['contractWallet']): string {
  if (call === null) return t.html('operations:instructions.noContractWallet')
  return t.html('operations:instructions.contractWallet', { address: wholeAddress(call.to) })
}
