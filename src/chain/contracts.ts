import { parseAbi } from 'viem'
import type { Address } from '#src/kernel/units.ts'

/**
 * Multicall3, at the same address on Flare, Songbird and most chains.
 *
 * @see mds1/multicall, `Multicall3.sol`
 */
export const MULTICALL3_ADDRESS: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'

/** Decimals of the chain's own coin, FLR. */
export const NATIVE_DECIMALS = 18

/** Multicall3's view of an account's coins; called through `aggregate3` like any other function. */
export const NATIVE_BALANCE_ABI = parseAbi([
  'function getEthBalance(address account) view returns (uint256)',
])

/**
 * The used functions of a token.
 * @see EIP-20
 */
export const TOKEN_ABI = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
])

/**
 * Flare's registry of its contracts, at the same address on all its networks.
 *
 * @see flare-foundation/flare-smart-contracts-v2, `IFlareContractRegistry`
 */
export const CONTRACT_REGISTRY_ADDRESS: Address = '0xaD67FE66660Fb8dFE9d6b1b4240d8650e30F6019'

/** The used function of the registry, which returns all entries. */
export const CONTRACT_REGISTRY_ABI = parseAbi([
  'function getAllContracts() view returns (string[] names, address[] addresses)',
])

/**
 * The used functions of the price feeds. Reading can cost a fee; an `eth_call` only has to state the fee as
 * its value.
 *
 * @see flare-foundation/flare-smart-contracts-v2, `FtsoV2Interface`
 */
export const FTSO_V2_ABI = parseAbi([
  'function getFeedById(bytes21 feedId) payable returns (uint256 value, int8 decimals, uint64 timestamp)',
  'function getFeedsById(bytes21[] feedIds) payable returns (uint256[] values, int8[] decimals, uint64 timestamp)',
  'function calculateFeeByIds(bytes21[] feedIds) view returns (uint256 fee)',
  'function getSupportedFeedIds() view returns (bytes21[] feedIds)',
  'struct FeedIdChange { bytes21 oldFeedId; bytes21 newFeedId; }',
  'function getFeedIdChanges() view returns (FeedIdChange[] changes)',
])

/**
 * The used functions and events of a token whose transfers can be authorized by a signature. Plain accounts sign with v, r
 * and s, contract wallets with any bytes.
 *
 * @see EIP-3009; Circle, `FiatTokenV2_2`, for the signature as bytes
 */
export const AUTHORIZATION_ABI = parseAbi([
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
])

/**
 * The used functions and the event of our payment router, and its errors.
 * @see `src/chain/router/PrepaidRouter.sol`
 */
export const ROUTER_ABI = parseAbi([
  'event Paid(bytes32 indexed handle, address indexed payer, address indexed token, uint256 amount)',
  'function pay(bytes32 handle, address token, uint256 amount)',
  'function payNative(bytes32 handle) payable',
  'function paused() view returns (bool)',
  'function treasury() view returns (address)',
  'function allowed(address token) view returns (bool)',
  'error IsPaused()',
  'error NotOwner()',
  'error NotPendingOwner()',
  'error NoContract(address account)',
  'error TokenNotAllowed(address token)',
  'error TransferFailed(address token)',
  'error WrongAmountReceived(uint256 expected, uint256 received)',
  'error ZeroAddress()',
  'error ZeroAmount()',
  'error ForwardingFailed()',
  'error Reentered()',
])

/** What the router's owner uses beside `ROUTER_ABI`, and the constructor. */
export const ROUTER_OWNER_ABI = parseAbi([
  'constructor(address owner, address treasury)',
  'function version() view returns (uint256)',
  'function owner() view returns (address)',
  'function setAllowed(address token, bool on)',
  'function setPaused(bool on)',
])

/**
 * Errors with which tokens refuse a transfer.
 * @see EIP-6093
 */
export const TOKEN_ERRORS_ABI = parseAbi([
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  'error ERC20InvalidSender(address sender)',
  'error ERC20InvalidReceiver(address receiver)',
])
