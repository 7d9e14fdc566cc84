import { encodeFunctionData, getAddress, type Hex, parseAbi } from 'viem'
import contractWallet from '#sandbox/contracts/ContractWallet.json' with { type: 'json' }
import { bytecodeOf } from '#sandbox/devnet/deployment.ts'
import type { Devnet } from '#sandbox/devnet.ts'
import type { Address, Hash } from '#src/kernel/units.ts'

/** What a contract wallet can be told. */
export const CONTRACT_WALLET_ABI = parseAbi([
  'function execute(address to, bytes data) payable',
  'function setAnswer(address to, bytes data)',
  'function setRefuses(bool on)',
])

const PAY_NATIVE = parseAbi(['function payNative(bytes32 handle) payable'])

/** A call of the router that pays coins. */
export function payNativeData(handle: Hex): Hex {
  return encodeFunctionData({ abi: PAY_NATIVE, args: [handle] })
}

/** Puts a contract on a chain that makes a block for each transaction. */
export async function deployByteCode(
  { client }: Pick<Devnet, 'client'>,
  from: Address,
  data: Hex,
): Promise<Address> {
  const hash = await client.sendTransaction({ account: from, data, chain: null })
  const { contractAddress } = await client.waitForTransactionReceipt({ hash })
  if (contractAddress == null) throw new Error('nothing was deployed')
  return getAddress(contractAddress)
}

/** A contract wallet, as of somebody who has a Safe. */
export function deployContractWallet(
  devnet: Pick<Devnet, 'client'>,
  from: Address,
): Promise<Address> {
  return deployByteCode(devnet, from, bytecodeOf(contractWallet))
}

/** Has a contract wallet make a call; its owner pays. @returns the transaction's hash */
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
