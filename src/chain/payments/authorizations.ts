/** Payments by transfers that their payers authorized with a signature (EIP-3009). */
import {
  encodeEventTopics,
  encodeFunctionData,
  type Hex,
  hashTypedData,
  isAddressEqual,
  parseSignature,
  recoverAddress,
  size,
} from 'viem'
import { AppError } from '#src/kernel/errors.ts'
import type { Address } from '#src/kernel/units.ts'
import type { AuthorizationId, Payment, TransferAuthorization } from '../chain.ts'
import { AUTHORIZATION_ABI } from '../contracts.ts'
import type { Endpoints } from '../endpoints/endpoints.ts'
import { EndpointError } from '../endpoints/failures.ts'
import type { Log } from '../endpoints/schemas.ts'
import type { SpanBlock } from '../events/span-block.ts'
import { readSpan, type SpanSource } from '../events/spans.ts'

/** Length of r, s and v of a plain account's signature. */
const PLAIN_SIGNATURE_BYTES = 65

/**
 * Fields that a payer signs.
 * @see EIP-3009
 */
const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

/** What distinguishes the signatures of one token from those of all others; the token's address is in the authorization. */
export interface TokenDomain {
  readonly name: string
  readonly version: string
  readonly chainId: number
}

/** What the payer of an authorization signs. */
export function authorizationHash(
  { token, ...message }: TransferAuthorization,
  domain: TokenDomain,
): Hex {
  return hashTypedData({
    domain: { ...domain, verifyingContract: token },
    types: TYPES,
    primaryType: 'TransferWithAuthorization',
    message,
  })
}

/** Whether the plain account of the payer signed the authorization. False for contract wallets. */
export async function isSignedByAccount(
  authorization: TransferAuthorization,
  domain: TokenDomain,
  signature: Hex,
): Promise<boolean> {
  if (size(signature) !== PLAIN_SIGNATURE_BYTES) return false
  const hash = authorizationHash(authorization, domain)
  try {
    return isAddressEqual(await recoverAddress({ hash, signature }), authorization.from)
  } catch {
    // No point of the curve belongs to the signature.
    return false
  }
}

/**
 * The call that uses an authorization, by whoever sends it.
 *
 * @param isPlain whether a plain account signed it; a contract wallet's signature is passed on as it is
 */
export function transferCall(
  { token, from, to, value, validAfter, validBefore, nonce }: TransferAuthorization,
  signature: Hex,
  isPlain: boolean,
): { readonly to: Address; readonly data: Hex } {
  const fields = [from, to, value, validAfter, validBefore, nonce] as const
  const args = isPlain
    ? ([...fields, ...partsOf(signature)] as const)
    : ([...fields, signature] as const)
  const call = { abi: AUTHORIZATION_ABI, functionName: 'transferWithAuthorization', args } as const
  return { to: token, data: encodeFunctionData(call) }
}

/** v, r and s of a plain account's signature. */
function partsOf(signature: Hex): readonly [number, Hex, Hex] {
  const { r, s, yParity } = parseSignature(signature)
  return [27 + yParity, r, s]
}

/**
 * Whether the payer's nonce is used up, by a transfer or by a cancellation, as any endpoint says.
 * @throws AppError upstream `dependency_unavailable` when none answers
 */
export async function isNonceUsed(
  endpoints: Endpoints,
  { token, from, nonce }: AuthorizationId,
  signal?: AbortSignal,
): Promise<boolean> {
  const args = [from, nonce] as const
  const data = encodeFunctionData({
    abi: AUTHORIZATION_ABI,
    functionName: 'authorizationState',
    args,
  })
  return await endpoints.askUntil(
    async (client) => {
      const call = { to: token, data }
      const answer = await client.request({ method: 'eth_call', params: [call, 'latest'] })
      return size(answer) === 32 && BigInt(answer) === 1n
    },
    (isUsed) => isUsed,
    signal,
  )
}

/**
 * The payment by an authorization in these blocks, as far as one step reads them. Where the bloom filter of a header
 * announces its use, the receipts of the block decide, whatever endpoints say about events.
 *
 * @throws AppError upstream `dependency_unavailable` when no endpoint has the blocks, or one cannot be proven
 */
export async function findAuthorizedPayment(
  source: SpanSource,
  id: AuthorizationId,
  range: { readonly from: number; readonly to: number },
  signal?: AbortSignal,
): Promise<{ readonly payment: Payment | undefined; readonly upTo: number }> {
  for (let from = range.from; from <= range.to; ) {
    const step = { from, to: range.to }
    let span = await readUses(source, id, step, signal)
    if (span.blocks.some(({ isSure }) => !isSure)) {
      // A block that is kept may have been replaced meanwhile.
      source.recent.clear()
      span = await readUses(source, id, step, signal)
    }
    const unproven = span.blocks.find(({ isSure }) => !isSure)
    if (unproven !== undefined) throw unprovenError(unproven)
    const [use] = span.logs
    const block = use && span.blocks.find(({ ref }) => ref.number === Number(use.blockNumber))
    if (use !== undefined && block !== undefined) {
      return { payment: await paymentOf(source, id, use, block, signal), upTo: span.upTo }
    }
    from = span.upTo + 1
  }
  return { payment: undefined, upTo: range.to }
}

function readUses(
  source: SpanSource,
  { token, from, nonce }: AuthorizationId,
  range: { readonly from: number; readonly to: number },
  signal: AbortSignal | undefined,
) {
  const args = { authorizer: from, nonce }
  const topics = encodeEventTopics({ abi: AUTHORIZATION_ABI, eventName: 'AuthorizationUsed', args })
  return readSpan(
    source,
    { address: token, topics: topics as readonly Hex[] },
    { ...range, withTransactions: false, isEveryProven: true },
    signal,
  )
}

/**
 * The transfer of a used authorization. A token emits it right after the use, so that no other transfer of the same
 * transaction counts: one transfer cannot pay for two authorizations.
 */
async function paymentOf(
  { receipts }: SpanSource,
  { token, from, to, nonce }: AuthorizationId,
  use: Log,
  block: SpanBlock,
  signal: AbortSignal | undefined,
): Promise<Payment | undefined> {
  const proven = await receipts.prove(block, signal)
  if (typeof proven !== 'object') throw unprovenError(block)
  const receipt = proven[Number(use.transactionIndex)]
  if (receipt === undefined || !receipt.hasSucceeded) return undefined
  const ofToken = receipt.logs.filter(({ address }) => isAddressEqual(address, token))
  const transfer = ofToken[ofToken.findIndex(({ logIndex }) => logIndex === use.logIndex) + 1]
  const amountUnits = transfer && amountOf(transfer, from, to)
  if (transfer === undefined || amountUnits === undefined) return undefined
  return {
    ...{ way: 'authorization', handle: nonce, tag: null, payer: from, asset: token, amountUnits },
    txHash: transfer.transactionHash,
    logIndex: Number(transfer.logIndex),
    block: block.ref,
  }
}

/** Amount of a transfer from one address to another; undefined for any other event. */
function amountOf({ topics, data }: Log, from: Address, to: Address): bigint | undefined {
  const args = { from, to }
  const wanted = encodeEventTopics({ abi: AUTHORIZATION_ABI, eventName: 'Transfer', args })
  const isIt = topics.length === wanted.length && topics.every((topic, at) => topic === wanted[at])
  return isIt && size(data) === 32 ? BigInt(data) : undefined
}

function unprovenError({ ref }: SpanBlock): AppError {
  const cause = new EndpointError(`no endpoint proves the payments of block ${ref.number}`)
  return new AppError('upstream', 'dependency_unavailable', {}, { cause })
}
