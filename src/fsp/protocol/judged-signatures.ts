import type { SignedDigest } from '#src/chain/signatures/recover.ts'
import type { Address } from '#src/kernel/units.ts'
import { FDC_PROTOCOL, FTSO_PROTOCOL } from './framing.ts'
import type { RoundEvidence, SentFrame } from './round-evidence.ts'
import {
  decodeSignedResult,
  digestsOf,
  recoverSigner,
  type SignedResult,
  signedBytesOf,
} from './signatures.ts'

/** A provider's signatures of one protocol, judged. */
export interface JudgedSignatures {
  /** The first readable signature, whether valid or not. */
  readonly first: SentFrame | undefined
  /**
   * Whether the provider signed after the end of the round and before the end of the window for signatures.
   */
  readonly isSigned: boolean
  /** The first signature by the provider over the finalised result. */
  readonly valid: { readonly sent: SentFrame; readonly signed: SignedResult } | undefined
  /** The first signature that is not valid, with its real signer. */
  readonly wrong:
    | {
        readonly sent: SentFrame
        readonly reason: 'wrong-key' | 'different-result'
        readonly recovered: Address | null
      }
    | undefined
}

/**
 * Signers by the frame of the signature; undefined for an invalid signature. Signatures that are missing
 * here are not recovered yet.
 */
export type RecoveredSigners = ReadonlyMap<SentFrame, Address | undefined>

/** The first signature of each provider over each finalised result: these alone decide most rounds. */
export function firstSignatures(
  chainId: number,
  { providers, finalised }: RoundEvidence,
): readonly (SignedDigest & { readonly sent: SentFrame })[] {
  return ([FTSO_PROTOCOL, FDC_PROTOCOL] as const).flatMap((protocol) => {
    const result = finalised[protocol]
    if (result === undefined) return []
    const digest = digestsOf(result, chainId).chainBound
    return [...providers.values()].flatMap(({ signatures }) => {
      const [sent] = signatures[protocol]
      const signed = sent && decodeSignedResult(sent.payload)
      if (sent === undefined || signed === undefined) return []
      const { signature, recovery } = signed
      return [{ sent, signature, recovery, digest }]
    })
  })
}

/**
 * Judges every provider's signatures of one protocol, by index in the policy.
 *
 * @param signers of some signatures over the finalised results; the others are recovered here
 */
export function judgeSignatures(
  chainId: number,
  { policy, providers, finalised }: RoundEvidence,
  protocol: typeof FTSO_PROTOCOL | typeof FDC_PROTOCOL,
  signers: RecoveredSigners = new Map(),
): ReadonlyMap<number, JudgedSignatures> {
  const result = finalised[protocol]
  const digests = result && digestsOf(result, chainId)
  const message = result && signedBytesOf(result)
  const judged = new Map<number, JudgedSignatures>()
  for (const [index, { signatures, signaturesWithReveals }] of providers) {
    const expected = policy.providers[index]?.signingPolicy
    const isOwn = (signed: SignedResult): boolean => {
      if (digests === undefined) return true
      const statedMessage = statedMessageOf(signed)
      if (statedMessage !== undefined && statedMessage !== message) return false
      const { chainBound, legacy } = digests
      return [chainBound, legacy].some((digest) => recoverSigner(signed, digest) === expected)
    }
    const isSignedEarly = (): boolean =>
      protocol === FDC_PROTOCOL &&
      signaturesWithReveals.some(({ payload }) => {
        const signed = decodeSignedResult(payload)
        return signed !== undefined && isOwn(signed)
      })
    let first: SentFrame | undefined
    let valid: JudgedSignatures['valid']
    let wrong: JudgedSignatures['wrong']
    for (const sent of signatures[protocol]) {
      const signed = decodeSignedResult(sent.payload)
      if (signed === undefined) continue
      first ??= sent
      if (digests === undefined || (valid !== undefined && signed.message === undefined)) continue
      const statedMessage = statedMessageOf(signed)
      if (statedMessage !== undefined && statedMessage !== message) {
        wrong ??= { sent, reason: 'different-result', recovered: null }
        continue
      }
      const recovered = signers.has(sent)
        ? signers.get(sent)
        : recoverSigner(signed, digests.chainBound)
      if (recovered === expected || recoverSigner(signed, digests.legacy) === expected)
        valid ??= { sent, signed }
      else wrong ??= { sent, reason: 'wrong-key', recovered: recovered ?? null }
    }
    // Without a result, any readable signature counts.
    const isSignedInTime = digests === undefined ? first !== undefined : valid !== undefined
    judged.set(index, { first, valid, wrong, isSigned: isSignedInTime || isSignedEarly() })
  }
  return judged
}

/** The message that a signature states, in hex; undefined if it states none. */
function statedMessageOf({ message }: SignedResult): string | undefined {
  return message && `0x${Buffer.from(message).toString('hex')}`
}
