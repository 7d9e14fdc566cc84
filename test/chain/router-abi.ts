import { parseAbi } from 'viem'

/**
 * The functions and events that payers and the owner of the router rely on; they must not change.
 */
export const AGREED_ROUTER_ABI = parseAbi([
  'constructor(address owner_, address treasury_)',
  'function acceptOwnership()',
  'function allowed(address token) view returns (bool)',
  'function owner() view returns (address)',
  'function pay(bytes32 handle, address token, uint256 amount)',
  'function payNative(bytes32 handle) payable',
  'function paused() view returns (bool)',
  'function pendingOwner() view returns (address)',
  'function setAllowed(address token, bool on)',
  'function setPaused(bool on)',
  'function transferOwnership(address newOwner)',
  'function treasury() view returns (address)',
  'function version() view returns (uint256)',
  'event Paid(bytes32 indexed handle, address indexed payer, address indexed token, uint256 amount)',
])
