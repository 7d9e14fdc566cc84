import type { AssetKey } from '#src/billing/price-list.ts'
import type { Topup } from '#src/billing/topups/model.ts'
import { type CreditRate, quotedUnitsFor } from '#src/billing/topups/rules.ts'
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
  /** Rate of a quote; undefined where none is possible. */
  readonly rate: CreditRate | undefined
  /** Price of 1,000 credits, in the smallest unit; 0 where no quote is possible. */
  readonly per1000Units: bigint
  /** Maximum amount of one top-up, in the smallest unit. */
  readonly capUnits: bigint | undefined
}

/** Amount of a quote for credits, in the smallest unit; 0 where no quote is possible. */
export function unitsOf({ rate }: OfferedAsset, credits: number): bigint {
  return (rate && quotedUnitsFor(credits, rate)) ?? 0n
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
