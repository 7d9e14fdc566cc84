import type { SignedDigest } from '#src/chain/signatures/recover.ts'
import type { RecoveryPool } from '#src/chain/signatures/recovery-pool.ts'
import { decodeSubmission, FTSO_PROTOCOL } from '#src/fsp/protocol/framing.ts'
import { commitHash, decodeReveal } from '#src/fsp/protocol/ftso.ts'
import { decodeSignedResult, digestsOf, recoverSigner } from '#src/fsp/protocol/signatures.ts'
import type { LoadedPolicy } from '#src/fsp/reader/policy-of-epoch.ts'
import type { ProtocolBlock } from '#src/fsp/reader/round-blocks.ts'
import type { Address } from '#src/kernel/units.ts'
import { measureTime, type TimeTaken } from './fsp-replay.ts'

/** Inputs of the recoveries and hashes that every reader of some blocks must compute. */
export interface CryptographyInputs {
  /** Signatures whose signers are recovered. */
  readonly signatures: readonly SignedDigest[]
  /** Reveals whose commit hashes are computed. */
  readonly reveals: readonly Parameters<typeof commitHash>[]
}

/** Collects the inputs from blocks: each signature of a result and each reveal of a provider once. */
export function collectCryptography(
  policy: LoadedPolicy,
  blocks: readonly ProtocolBlock[],
): CryptographyInputs {
  const submitOf = new Map(policy.providers.map(({ submit }) => [submit.toLowerCase(), submit]))
  const digests = new Map(
    blocks
      .flatMap(({ finalised }) => finalised)
      .map((result) => [`${result.protocol} ${result.round}`, digestsOf(result, 14).chainBound]),
  )
  const signatures: SignedDigest[] = []
  const reveals: Parameters<typeof commitHash>[] = []
  for (const { from, input } of blocks.flatMap(({ submissions }) => submissions)) {
    const submission = decodeSubmission(input)
    for (const { protocol, round, payload } of submission?.frames ?? []) {
      const digest = digests.get(`${protocol} ${round}`)
      const signed = decodeSignedResult(payload)
      if (submission?.function === 'submitSignatures' && signed && digest) {
        const { signature, recovery } = signed
        signatures.push({ signature, recovery, digest })
      }
      const submit: Address | undefined = submitOf.get(from)
      const reveal = decodeReveal(payload)
      if (submission?.function === 'submit2' && protocol === FTSO_PROTOCOL && submit && reveal) {
        reveals.push([submit, round, reveal])
      }
    }
  }
  return { signatures, reveals }
}

/** Recovers the signers and hashes the reveals in this thread, and measures the time. */
export function computeInThread({ signatures, reveals }: CryptographyInputs): Promise<TimeTaken> {
  return measureTime(async () => {
    for (const signature of signatures) recoverSigner(signature, signature.digest)
    for (const reveal of reveals) commitHash(...reveal)
  })
}

/** Recovers the signers in the threads of a pool and hashes the reveals in this one, and measures the time. */
export function computeWithPool(
  { signatures, reveals }: CryptographyInputs,
  pool: RecoveryPool,
): Promise<TimeTaken> {
  return measureTime(async () => {
    const recovered = pool.recover(signatures)
    for (const reveal of reveals) commitHash(...reveal)
    await recovered
  })
}
