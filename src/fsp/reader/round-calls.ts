import { type Hex, numberToHex } from 'viem'
import { z } from 'zod'
import type { BlockRef } from '#src/chain/chain.ts'
import type { Endpoints, RpcClient } from '#src/chain/endpoints.ts'
import { EndpointError, rpcErrorOf } from '#src/chain/failures.ts'
import { Quantity } from '#src/chain/quantity.ts'
import { type ReplayInput, type ReplayResult, replayTransaction } from '#src/chain/revert-reason.ts'
import { AppError } from '#src/kernel/errors.ts'
import { Address, Hash, ZERO_ADDRESS } from '#src/kernel/units.ts'

/** A watched provider's transaction to a contract of the protocol. */
export interface ProtocolCall {
  readonly tx: Hash
  readonly from: Address
  readonly to: Address
  /** The contract's registry name. */
  readonly contract: string
  readonly selector: Hex
  readonly block: number
  readonly ok: boolean
  readonly gasUsed: number
  readonly gasLimit: number
  /** The revert reason, if it is available. */
  readonly reason: string | null
  /**
   * Result of the replay in the state before the call's block, on all endpoints that answer; `contradicted`
   * where they differ. null when the call was not reverted.
   */
  readonly replay: ReplayResult['outcome'] | 'contradicted' | null
}

/** A transaction in a block. */
export const BlockTransaction = z.object({
  hash: Hash,
  from: Address,
  to: Address.nullable(),
  input: z.templateLiteral(['0x', z.string()]),
  value: Quantity,
  gas: Quantity,
})
const Receipt = z.object({
  transactionHash: Hash,
  blockHash: Hash,
  status: Quantity,
  gasUsed: Quantity,
})

/** Reads the outcomes of calls. */
export type CallReader = (
  transactions: readonly z.output<typeof BlockTransaction>[],
  ref: BlockRef,
  /** Registry names by lower-case address. */
  called: ReadonlyMap<string, string>,
  signal: AbortSignal | undefined,
) => Promise<readonly ProtocolCall[]>

/**
 * Creates a reader of receipts and of the reasons of failed calls, each from an endpoint that has them.
 * Long because receipts, reasons and replays share the knowledge of the endpoints' methods.
 */
export function createCallReader(endpoints: Endpoints): CallReader {
  /** URLs of endpoints without `eth_getBlockReceipts`. */
  const withoutBlockReceipts = new Set<string>()

  /** Reads the outcomes of watched providers' calls. */
  async function readCalls(
    transactions: readonly z.output<typeof BlockTransaction>[],
    ref: BlockRef,
    called: ReadonlyMap<string, string>,
    signal: AbortSignal | undefined,
  ): Promise<readonly ProtocolCall[]> {
    if (transactions.length === 0) return []
    const receipts = await readReceipts(
      transactions.map(({ hash }) => hash),
      ref,
      signal,
    )
    return Promise.all(
      transactions.map(async ({ hash, from, to, input, value, gas }): Promise<ProtocolCall> => {
        const receipt = receipts.get(hash)
        if (receipt === undefined) throw new AppError('upstream', 'dependency_unavailable')
        const { status, gasUsed } = receipt
        const target = to ?? ZERO_ADDRESS
        const ok = status === 1n
        const repeatable = { from, to: target, value, input, gas }
        const again = ok ? undefined : await replayEverywhere(repeatable, ref, signal)
        return {
          tx: hash,
          from,
          to: target,
          contract: called.get(target.toLowerCase()) ?? target,
          selector: input.slice(0, 10) as Hex,
          block: ref.number,
          ok,
          gasUsed: Number(gasUsed),
          gasLimit: Number(gas),
          reason:
            again === undefined ? null : (again.reason ?? (gasUsed === gas ? 'out of gas' : null)),
          replay: again?.outcome ?? null,
        }
      }),
    )
  }

  /** Replays a failed transaction on every endpoint that can. */
  async function replayEverywhere(
    transaction: ReplayInput,
    ref: BlockRef,
    signal: AbortSignal | undefined,
  ): Promise<{
    readonly outcome: Exclude<ProtocolCall['replay'], null>
    readonly reason: string | null
  }> {
    const all = await endpoints.askEach(
      (client) => replayTransaction(client, transaction, ref.number),
      signal,
    )
    const [first, ...others] = all.filter(({ outcome }) => outcome !== 'unknown')
    if (first === undefined) return { outcome: 'unknown', reason: null }
    const isAgreed = others.every(
      ({ outcome, reason }) => outcome === first.outcome && reason === first.reason,
    )
    return isAgreed ? first : { outcome: 'contradicted', reason: null }
  }

  /** Receipts of some of a block's transactions, each from an endpoint that has it. */
  async function readReceipts(
    hashes: readonly Hash[],
    ref: BlockRef,
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<Hash, z.output<typeof Receipt>>> {
    const wanted = new Set(hashes)
    if (wanted.size > 1) {
      const all = await endpoints.ask((client) => readBlockReceipts(client, ref), signal)
      const receipts = new Map(
        all
          ?.filter(({ transactionHash }) => wanted.has(transactionHash))
          .map((receipt) => [receipt.transactionHash, receipt]),
      )
      if (receipts.size === wanted.size) return receipts
    }
    const apart = hashes.map((hash) =>
      endpoints.ask(async (client) => {
        const answer = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
        if (answer === null) throw new EndpointError(`the receipt of ${hash} is missing`)
        return [hash, receiptOf(answer, ref)] as const
      }, signal),
    )
    return new Map(await Promise.all(apart))
  }

  /** All receipts of a block in one request; undefined if the endpoint lacks the method. */
  async function readBlockReceipts(client: RpcClient, ref: BlockRef) {
    const url = client.transport.url ?? ''
    if (withoutBlockReceipts.has(url)) return undefined
    try {
      const answer: unknown = await client.request<{
        Method: 'eth_getBlockReceipts'
        Parameters: [Hex]
        ReturnType: unknown
      }>({ method: 'eth_getBlockReceipts', params: [numberToHex(ref.number)] })
      return z
        .array(z.unknown())
        .parse(answer)
        .map((receipt) => receiptOf(receipt, ref))
    } catch (error) {
      if (rpcErrorOf(error) === undefined) throw error
      // Not every node has this method; individual receipts contain the same data.
      withoutBlockReceipts.add(url)
      return undefined
    }
  }

  return readCalls
}

function receiptOf(answer: unknown, ref: BlockRef): z.output<typeof Receipt> {
  const receipt = Receipt.parse(answer)
  if (receipt.blockHash !== ref.hash) throw new EndpointError(`block ${ref.number} was replaced`)
  return receipt
}
