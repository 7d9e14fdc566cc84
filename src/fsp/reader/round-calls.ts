import type { Hex } from 'viem'
import {
  type ReplayInput,
  type ReplayResult,
  replayTransaction,
} from '#src/chain/balances/revert-reason.ts'
import type { BlockRef, ChainAccess } from '#src/chain/chain.ts'
import type { Endpoints } from '#src/chain/endpoints/endpoints.ts'
import type { Transaction } from '#src/chain/endpoints/schemas.ts'
import type { SpanBlock } from '#src/chain/events/span-block.ts'
import { AppError } from '#src/kernel/errors.ts'
import { type Address, type Hash, ZERO_ADDRESS } from '#src/kernel/units.ts'

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

/** Reads the outcomes of calls. */
export type CallReader = (
  transactions: readonly Transaction[],
  block: SpanBlock,
  /** Registry names by lower-case address. */
  called: ReadonlyMap<string, string>,
  signal: AbortSignal | undefined,
) => Promise<readonly ProtocolCall[]>

/** Creates a reader of the outcomes of calls, and of the reasons of those that failed. */
export function createCallReader({
  endpoints,
  receipts,
}: Pick<ChainAccess, 'endpoints' | 'receipts'>): CallReader {
  /** Reads the outcomes of watched providers' calls. */
  async function readCalls(
    transactions: readonly Transaction[],
    block: SpanBlock,
    called: ReadonlyMap<string, string>,
    signal: AbortSignal | undefined,
  ): Promise<readonly ProtocolCall[]> {
    if (transactions.length === 0) return []
    const { ref } = block
    const hashes = transactions.map(({ hash }) => hash)
    const outcomes = await receipts.outcomes(hashes, block, signal)
    return Promise.all(
      transactions.map(async ({ hash, from, to, input, value, gas }): Promise<ProtocolCall> => {
        const outcome = outcomes.get(hash)
        if (outcome === undefined) throw new AppError('upstream', 'dependency_unavailable')
        const { hasSucceeded: ok, gasUsed } = outcome
        const target = to ?? ZERO_ADDRESS
        const repeatable = { from, to: target, value, input, gas }
        const again = ok ? undefined : await replayEverywhere(endpoints, repeatable, ref, signal)
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

  return readCalls
}

/** Replays a failed transaction on every endpoint that can. */
async function replayEverywhere(
  endpoints: Endpoints,
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
