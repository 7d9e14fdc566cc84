import {
  decodeEventLog,
  decodeFunctionData,
  type Hex,
  isAddressEqual,
  size,
  toEventSelector,
  zeroAddress,
} from 'viem'
import { z } from 'zod'
import { Hash } from '#src/kernel/units.ts'
import { readRevertReason } from '../balances/revert-reason.ts'
import { readBlock } from '../blocks/blocks.ts'
import type { BlockRef, Payment, PaymentDestinations, PaymentTransactionStatus } from '../chain.ts'
import { ROUTER_ABI } from '../contracts.ts'
import type { RpcClient } from '../endpoints/endpoints.ts'
import { EndpointError } from '../endpoints/failures.ts'
import { type Log, Receipt, Transaction } from '../endpoints/schemas.ts'

/** The first topic of a payment through the router, in a token or, with the zero address, in coins. */
export const PAID_TOPIC = toEventSelector('Paid(bytes32,address,address,uint256)')

const MinedReceipt = Receipt.pick({
  ...{ status: true, blockHash: true, blockNumber: true, logs: true },
})

const HANDLE_BYTES = 32

/**
 * State of a transaction and its payments, from one endpoint.
 *
 * @throws EndpointError when the endpoint's results are inconsistent, as while a block is being replaced
 */
export async function readTransactionFacts(
  client: RpcClient,
  txHash: Hash,
  destinations: PaymentDestinations,
): Promise<PaymentTransactionStatus> {
  const answer = await client.request({ method: 'eth_getTransactionByHash', params: [txHash] })
  if (answer === null) return { status: 'unknown' }
  const transaction = Transaction.parse(answer)
  if (transaction.blockHash == null) return { status: 'pending' }

  const receipt = await readReceipt(client, txHash)
  const block = await readBlock(client, Number(receipt.blockNumber))
  if (block?.hash !== receipt.blockHash) throw blockReplacedError(receipt.blockNumber)
  if (receipt.status === 0n) {
    const reason = await readRevertReason(client, transaction, block.number)
    return { status: 'reverted', block, reason, handle: intendedHandle(transaction, destinations) }
  }
  const native = nativePayment(transaction, block, destinations)
  const routed = receipt.logs.flatMap((log) => routerPayment(log, block, destinations) ?? [])
  return { status: 'mined', block, payments: native === undefined ? routed : [native, ...routed] }
}

/**
 * The payment of a router event; undefined for any other event.
 *
 * @param block the event's own block
 */
export function routerPayment(
  log: Log,
  block: BlockRef,
  { router }: PaymentDestinations,
): Payment | undefined {
  if (router === undefined || !isAddressEqual(log.address, router)) return undefined
  const [topic, ...rest] = log.topics
  if (topic !== PAID_TOPIC) return undefined
  const { args } = decodeEventLog({
    abi: ROUTER_ABI,
    eventName: 'Paid',
    topics: [topic, ...rest],
    data: log.data,
  })
  return {
    way: 'router',
    txHash: log.transactionHash,
    logIndex: Number(log.logIndex),
    handle: args.handle,
    tag: null,
    payer: args.payer,
    asset: isAddressEqual(args.token, zeroAddress) ? 'FLR' : args.token,
    amountUnits: args.amount,
    block,
  }
}

/**
 * The payment of a plain transfer to the service, with or without a handle as its data; undefined if the
 * transfer failed.
 */
export function nativePayment(
  { hash, from, to, value, input }: Transaction,
  block: BlockRef,
  { payTo }: PaymentDestinations,
): Payment | undefined {
  if (payTo === undefined || to === undefined) return undefined
  if (value === 0n || !isAddressEqual(to, payTo)) return undefined
  return {
    way: 'native',
    txHash: hash,
    logIndex: 0,
    handle: handleOf(input) ?? null,
    tag: null,
    payer: from,
    asset: 'FLR',
    amountUnits: value,
    block,
  }
}

/** The error for an endpoint whose results come from two versions of one block. */
function blockReplacedError(blockNumber: bigint | number): EndpointError {
  return new EndpointError(`block ${blockNumber} was replaced meanwhile`)
}

async function readReceipt(
  client: RpcClient,
  txHash: Hash,
): Promise<z.output<typeof MinedReceipt>> {
  const answer = await client.request({ method: 'eth_getTransactionReceipt', params: [txHash] })
  if (answer === null) throw new EndpointError('receipt is missing')
  return MinedReceipt.parse(answer)
}

/** The handle that a failed transaction was to pay. */
function intendedHandle(
  { to, input }: Transaction,
  { router, payTo }: PaymentDestinations,
): Hash | null {
  if (to === undefined) return null
  if (payTo !== undefined && isAddressEqual(to, payTo)) return handleOf(input) ?? null
  if (router === undefined || !isAddressEqual(to, router)) return null
  try {
    const { functionName, args } = decodeFunctionData({ abi: ROUTER_ABI, data: input })
    return functionName === 'pay' || functionName === 'payNative' ? args[0] : null
  } catch {
    // The transaction calls another function of the router, or its data is malformed.
    return null
  }
}

function handleOf(input: Hex): Hash | undefined {
  return size(input) === HANDLE_BYTES ? z.decode(Hash, input) : undefined
}
