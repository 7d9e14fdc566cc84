import { encodeFunctionData, getAddress, type Hex, parseAbi } from 'viem'
import contractWallet from '#sandbox/contracts/ContractWallet.json' with { type: 'json' }
import { bytecodeOf } from '#sandbox/devnet/deployment.ts'
import type { Devnet } from '#sandbox/devnet.ts'
import type { Address, Hash } from '#src/kernel/units.ts'

/** Functions of a contract wallet. */
export const CONTRACT_WALLET_ABI = parseAbi([
  'function execute(address to, bytes data) payable',
  'function setAnswer(address to, bytes data)',
  'function setRefuses(bool on)',
])

const PAY_NATIVE = parseAbi(['function payNative(bytes32 handle) payable'])

/** Calldata of the router's function that pays coins. */
export function payNativeData(handle: Hex): Hex {
  return encodeFunctionData({ abi: PAY_NATIVE, args: [handle] })
}

/** Deploys a contract on a chain that creates a block for each transaction. */
async function deployByteCode(
  { client }: Pick<Devnet, 'client'>,
  from: Address,
  data: Hex,
): Promise<Address> {
  const hash = await client.sendTransaction({ account: from, data, chain: null })
  const { contractAddress } = await client.waitForTransactionReceipt({ hash })
  if (contractAddress == null) throw new Error('nothing was deployed')
  return getAddress(contractAddress)
}

/** Deploys a contract wallet, similar to a Safe. */
export function deployContractWallet(
  devnet: Pick<Devnet, 'client'>,
  from: Address,
): Promise<Address> {
  return deployByteCode(devnet, from, bytecodeOf(contractWallet))
}

/**
 * Makes a call from a contract wallet; its owner pays the gas.
 * @returns the transaction's hash
 */
export async function execute(
  { client }: Pick<Devnet, 'client'>,
  call: { from: Address; wallet: Address; to: Address; value: bigint; data: Hex },
): Promise<Hash> {
  const { from, wallet, to, value } = call
  const args = [to, call.data] as const
  const data = encodeFunctionData({ abi: CONTRACT_WALLET_ABI, functionName: 'execute', args })
  const sent = { account: from, to: wallet, value, data, gas: 500_000n, chain: null }
  const hash = await client.sendTransaction(sent)
  await client.waitForTransactionReceipt({ hash })
  return hash as Hash
}
