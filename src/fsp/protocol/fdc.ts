/** Bit votes of the FDC: which attestation requests of a round a provider can confirm. */

/** A bit vote: bit i of `bits` is request i, of `count` requests. */
export interface BitVote {
  readonly count: number
  readonly bits: bigint
}

const COUNT_BYTES = 2

/** Decodes a bit vote; undefined for fewer than two bytes. Leading zero bytes are ignored. */
export function decodeBitVote(payload: Uint8Array): BitVote | undefined {
  if (payload.length < COUNT_BYTES) return undefined
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.length)
  const hex = bytes.toString('hex', COUNT_BYTES)
  return { count: bytes.readUInt16BE(0), bits: hex === '' ? 0n : BigInt(`0x${hex}`) }
}

/** Whether a bit vote fits a round of `requests` merged requests. */
export function fitsRequests({ count, bits }: BitVote, requests: number): boolean {
  return count === requests && bits >> BigInt(requests) === 0n
}

/** Whether a vote confirms every request that the consensus confirms. */
export function confirmsConsensus(vote: BitVote, consensus: BitVote): boolean {
  return (vote.bits & consensus.bits) === consensus.bits
}

/** Key that is equal for equal bit votes. */
function bitVoteKey({ count, bits }: BitVote): string {
  return `${count}:${bits}`
}

/** A signed bit vote with its signer's weight. */
export interface WeightedBitVote {
  readonly vote: BitVote
  readonly weight: number
}

/**
 * The bit vote that the most weight signed; undefined if there is none. Ties are broken by the order of the
 * decimal texts, as in the reward calculation.
 */
export function consensusBitVote(votes: readonly WeightedBitVote[]): BitVote | undefined {
  const sums = new Map<string, { vote: BitVote; weight: number }>()
  for (const { vote, weight } of votes) {
    const key = bitVoteKey(vote)
    sums.set(key, { vote, weight: (sums.get(key)?.weight ?? 0) + weight })
  }
  const [first] = [...sums.values()].sort(
    (a, b) => b.weight - a.weight || (String(a.vote.bits) < String(b.vote.bits) ? -1 : 1),
  )
  return first?.vote
}

/** The requests of a round in order; equal requests are merged into the first. */
export function distinctRequests(datas: readonly string[]): string[] {
  return [...new Set(datas)]
}

/** Attestation type and source of a request, both right-padded ASCII in its data. */
export function requestKind(data: string): {
  readonly attestationType: string
  readonly source: string
} {
  const bytes = Buffer.from(data.slice(2), 'hex')
  const text = (from: number) =>
    bytes
      .toString('latin1', from, from + 32)
      .replace(/\0+$/, '')
      .replace(/[^\x20-\x7e]/g, '?')
  return { attestationType: text(0), source: text(32) }
}
