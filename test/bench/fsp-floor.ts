import { decodeSubmission, FTSO } from '#src/fsp/protocol/framing.ts'
import { commitHash, decodeReveal } from '#src/fsp/protocol/ftso.ts'
import { decodeSigned, digestsOf, recoverSigner } from '#src/fsp/protocol/signatures.ts'
import type { LoadedPolicy } from '#src/fsp/reader/policies.ts'
import type { ProtocolBlock } from '#src/fsp/reader/round-blocks.ts'
import type { Address } from '#src/kernel/units.ts'

/**
 * Minimal work of every reader of these blocks: one recovery for each signature, one hash for each
 * reveal.
 *
 * @returns CPU seconds of these alone, without decoding the blocks
 */
export function cryptographySeconds(
  policy: LoadedPolicy,
  blocks: readonly ProtocolBlock[],
): number {
  const submitOf = new Map(policy.providers.map(({ submit }) => [submit.toLowerCase(), submit]))
  const digests = new Map(
    blocks
      .flatMap(({ finalised }) => finalised)
      .map((result) => [`${result.protocol} ${result.round}`, digestsOf(result, 14).chainBound]),
  )
  const signatures: Parameters<typeof recoverSigner>[] = []
  const reveals: Parameters<typeof commitHash>[] = []
  for (const { from, input } of blocks.flatMap(({ submissions }) => submissions)) {
    const submission = decodeSubmission(input)
    for (const { protocol, round, payload } of submission?.frames ?? []) {
      const digest = digests.get(`${protocol} ${round}`)
      const signed = decodeSigned(payload)
      if (submission?.function === 'submitSignatures' && signed && digest) {
        signatures.push([signed, digest])
      }
      const submit: Address | undefined = submitOf.get(from)
      const reveal = decodeReveal(payload)
      if (submission?.function === 'submit2' && protocol === FTSO && submit && reveal) {
        reveals.push([submit, round, reveal])
      }
    }
  }
  const before = process.cpuUsage()
  for (const [signed, digest] of signatures) recoverSigner(signed, digest)
  for (const [submit, round, reveal] of reveals) commitHash(submit, round, reveal)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}
