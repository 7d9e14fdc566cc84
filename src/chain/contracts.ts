import { parseAbi } from 'viem'
import type { Address } from '#src/kernel/units.ts'

/**
 * Multicall3, at the same address on Flare and Songbird as nearly everywhere.
 *
 * @see mds1/multicall, `Multicall3.sol`
 */
export const MULTICALL3_ADDRESS: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'

/** The chain's own coin, FLR. */
export const NATIVE_DECIMALS = 18

/** Multicall3's own view of an account's coins; called through `aggregate3` like any other. */
export const NATIVE_BALANCE_ABI = parseAbi([
  'function getEthBalance(address account) view returns (uint256)',
])

/** What is read of a token. @see EIP-20 */
export const TOKEN_ABI = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
])
