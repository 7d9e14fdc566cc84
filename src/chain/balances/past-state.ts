import type { Endpoints, RpcClient } from '../endpoints/endpoints.ts'
import { isPruned } from '../endpoints/failures.ts'

/** The state after a block, as far as endpoints have it. */
export interface PastState<T> {
  /** Undefined if no endpoint that answered has the state. */
  readonly found: T | undefined
  /** False if another endpoint, which may have the state, did not answer. */
  readonly isSure: boolean
}

/**
 * Reads the state after a block from the first endpoint that still has it. Ordinary nodes keep the states of some tens
 * of blocks, so every caller must be able to do without: such a state is unknown, and waiting does not bring it back.
 *
 * @param read reads from one endpoint, all at the same block
 * @throws AppError upstream `dependency_unavailable` when no endpoint answered
 */
export async function readPastState<T>(
  endpoints: Endpoints,
  read: (client: RpcClient) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<PastState<T>> {
  const { answer, isSure } = await endpoints.askForMost(
    async (client) => {
      try {
        return { found: await read(client) }
      } catch (error) {
        if (isPruned(error)) return undefined
        throw error
      }
    },
    (state) => state !== undefined,
    signal,
  )
  return { found: answer?.found, isSure }
}
