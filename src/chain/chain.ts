import type { Address, Hash } from '#src/kernel/units.ts'

/** One block, enough to name it and to notice that it was replaced. */
export interface BlockRef {
  readonly number: number
  readonly hash: Hash
  /** The block's own time, in whole seconds. */
  readonly at: Date
}

/** What a balance is counted in: the chain's own coin, or a token contract. */
export type Asset = 'FLR' | Address

/** How an asset's amounts are shown. */
export interface AssetInfo {
  readonly symbol: string
  readonly decimals: number
}

/** One question about a balance. */
export interface BalanceQuery {
  readonly address: Address
  readonly asset: Asset
}

/**
 * Facts read from the chain. Every method rejects with AppError upstream `dependency_unavailable` when
 * no endpoint answers in time, and with the signal's reason when the caller gives up; none of them ever
 * guesses.
 */
export interface Chain {
  /**
   * The newest block with `confirmations` blocks counted from the tip, itself included (1: the tip).
   * Can be older than one given before, when an endpoint that is behind answered.
   */
  confirmedBlock(confirmations: number, signal?: AbortSignal): Promise<BlockRef>
  /**
   * Balances in the smallest unit at the end of `block`, in the order asked; batched through Multicall3.
   * undefined where the chain gave no answer for one of them (not a token, call failed).
   */
  balances(
    queries: readonly BalanceQuery[],
    block: BlockRef,
    signal?: AbortSignal,
  ): Promise<readonly (bigint | undefined)[]>
  /** Symbol and decimals; undefined when the address is not a token. Remembered: they never change. */
  assetInfo(asset: Asset, signal?: AbortSignal): Promise<AssetInfo | undefined>
  /**
   * Whether `signature` over `message` (EIP-191) is `address`'s: locally for plain accounts, by
   * ERC-1271 or ERC-6492 through the RPC for contract wallets. false for what is no signature at all.
   */
  verifyMessage(
    input: { readonly address: Address; readonly message: string; readonly signature: string },
    signal?: AbortSignal,
  ): Promise<boolean>
}
