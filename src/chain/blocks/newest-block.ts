import type { Clock } from '#src/kernel/clock.ts'
import type { Meters } from '#src/kernel/meters.ts'
import { unlessAborted } from '#src/kernel/unless-aborted.ts'
import type { Endpoints, RpcClient } from '../endpoints/endpoints.ts'
import { EndpointError } from '../endpoints/failures.ts'
import { hostOf } from '../endpoints/rpc-request.ts'
import type { BlockRef } from './block-ref.ts'
import { confirmedBlockNumber, contradicts, type Header, readBlock, readHeader } from './blocks.ts'

/** The newest block, which all readers of a process share. */
export interface NewestBlock {
  /**
   * Returns the newest block with that many confirmations, of the last reading if it is recent, or of one that is
   * under way.
   *
   * @throws as `Endpoints.ask`
   */
  confirmed(confirmations: number, signal: AbortSignal | undefined): Promise<BlockRef>
  /** Reads the newest block now, and returns the one with that many confirmations. */
  read(confirmations: number, signal: AbortSignal | undefined): Promise<BlockRef>
  /** An ancestor of the newest block, if the last reading is recent and all blocks between are known. */
  ancestor(number: number): BlockRef | undefined
  /** Adds a block that was read, so that ancestors are found without a request. */
  remember(header: Header): void
}

/** Settings of the newest block. */
export interface NewestBlockOptions {
  readonly endpoints: Endpoints
  readonly clock: Clock
  /** Age in milliseconds up to which a reading is shared now. */
  readonly sharedMs: () => number
  readonly meters: Meters | undefined
  /** Called with each header of a newest or confirmed block, and the endpoint's answer that has it. */
  readonly onHeader?: (header: Header, answer: unknown) => void
  /** Whether newest blocks are read with their transactions. */
  readonly withTransactions: boolean
}

/** Time without a new block after which every endpoint is asked for one, and a lower one is believed. */
const STANDSTILL_MS = 10_000
/** Headers that are remembered, from which confirmed blocks are found without a request. */
const HEADERS_MAX = 512

/**
 * Creates the reader of the newest block. It reads with the first call. Long because its methods share the last reading
 * and the known headers.
 */
export function createNewestBlock(options: NewestBlockOptions): NewestBlock {
  const { endpoints, clock, sharedMs, meters, onHeader, withTransactions } = options
  const headers = new Map<string, Header>()
  let newest: { readonly header: Header; readonly foundAtMs: number } | undefined
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<Header> | undefined
  /** Host of the endpoint of the last reading. */
  let host = ''

  /** An endpoint that is behind the others, or stands still, is skipped while another has newer blocks. */
  async function readNewest(): Promise<Header> {
    const nowMs = clock.now().getTime()
    const isQuick = newest !== undefined && nowMs - newest.foundAtMs < STANDSTILL_MS
    const known = newest?.header.number ?? -1
    const answers: { readonly header: Header; readonly answer: unknown; readonly host: string }[] =
      []
    await endpoints.askUntil(
      async (client) => {
        const heard = await readHeader(client, 'latest', withTransactions)
        await checkAgainstNewest(client, heard.header)
        answers.push({ ...heard, host: hostOf(client.transport.url ?? '') })
      },
      () => answers.some(({ header }) => header.number > known - (isQuick ? 1 : 0)),
      undefined,
    )
    const best = answers.reduce((highest, heard) =>
      heard.header.number > highest.header.number ? heard : highest,
    )
    readAt = performance.now()
    // A tip that no endpoint has any more was an error of the endpoint that reported it.
    if (best.header.number < known && isQuick && newest !== undefined) return newest.header
    if (best.header.number !== known) newest = { header: best.header, foundAtMs: nowMs }
    endpoints.recordNewest(best.header.number)
    remember(best.header)
    onHeader?.(best.header, best.answer)
    host = best.host
    return best.header
  }

  /**
   * Where a block contradicts the newest known one, the endpoint is asked for that one. If it still returns it, it
   * contradicts itself. Otherwise that block was replaced, or was an error of another endpoint.
   */
  async function checkAgainstNewest(client: RpcClient, header: Header): Promise<void> {
    const before = newest?.header
    if (before === undefined || !contradicts(before, header)) return
    const again = await readBlock(client, before.number)
    if (again?.hash === before.hash) {
      throw new EndpointError(`block ${header.number} contradicts block ${before.number}`)
    }
    newest = undefined
  }

  function remember(header: Header): void {
    headers.delete(header.hash)
    headers.set(header.hash, header)
    const [oldest] = headers.keys()
    if (headers.size > HEADERS_MAX && oldest !== undefined) headers.delete(oldest)
  }

  function knownAncestor(from: Header, number: number): BlockRef | undefined {
    let at: Header | undefined = from
    while (at !== undefined && at.number > number) at = headers.get(at.parentHash)
    return at?.number === number ? refOf(at) : undefined
  }

  function isRecent(): boolean {
    return newest !== undefined && performance.now() - readAt < sharedMs()
  }

  /** The block with that many confirmations: an ancestor of the newest one. */
  async function ancestorOf(
    header: Header,
    confirmations: number,
    signal: AbortSignal | undefined,
  ): Promise<BlockRef> {
    const number = confirmedBlockNumber(header.number, confirmations)
    const known = knownAncestor(header, number)
    if (known !== undefined) return known
    const read = (client: RpcClient) => readHeader(client, number, withTransactions)
    const ancestor = await endpoints.ask(read, signal)
    remember(ancestor.header)
    onHeader?.(ancestor.header, ancestor.answer)
    return refOf(ancestor.header)
  }

  function readOnce(): Promise<Header> {
    reading ??= readNewest().finally(() => {
      reading = undefined
    })
    return reading
  }

  async function read(confirmations: number, signal: AbortSignal | undefined): Promise<BlockRef> {
    signal?.throwIfAborted()
    // A shared reading goes on when one of its callers aborts.
    const header = await unlessAborted(readOnce(), signal)
    const block = await ancestorOf(header, confirmations, signal)
    meters?.setHead({ endpoint: host, at: block.at })
    return block
  }

  return {
    read,
    confirmed: (confirmations, signal) =>
      isRecent() && newest !== undefined
        ? ancestorOf(newest.header, confirmations, signal)
        : read(confirmations, signal),
    ancestor: (number) =>
      isRecent() && newest !== undefined ? knownAncestor(newest.header, number) : undefined,
    remember,
  }
}

function refOf({ number, hash, at }: Header): BlockRef {
  return { number, hash, at }
}
