/** Signatures of results, and who made them. */
import { keccak } from './keccak.ts'
import type { Member } from './protocol.ts'
import { recoverSigner } from './secp256k1.ts'
import {
  FDC,
  type ProtocolId,
  type SettledRound as Round,
  type Sent,
  type Submissions,
} from './submissions.ts'

interface Signed {
  readonly sent: Sent
  readonly unsigned: Buffer
}

/** A provider's signatures of one protocol. */
export interface Signatures {
  readonly any: Sent | undefined
  readonly valid: Signed | undefined
  readonly wrong:
    | { readonly sent: Sent; readonly reason: string; readonly recovered: string | null }
    | undefined
  readonly isSigned: boolean
}

export function decodeSigned(payload: Buffer) {
  const [type] = payload
  const start = type === 0 ? 39 : 1
  if ((type !== 0 && type !== 1) || payload.length < start + 65) return undefined
  const v = payload[start] ?? 0
  return {
    message: type === 0 ? payload.subarray(1, 39) : undefined,
    recovery: v >= 27 ? v - 27 : v,
    signature: payload.subarray(start + 1, start + 65),
    unsigned: payload.subarray(start + 65),
  }
}

export function signaturesOf(
  { round, results }: Round,
  { signingPolicy }: Member,
  sent: Submissions,
  protocol: ProtocolId,
  chainId: number,
): Signatures {
  const result = results[protocol]
  const message = result && signedBytes(protocol, round, result)
  const digests = message && [
    digestOf(Buffer.concat([word32(chainId), message])),
    digestOf(message),
  ]
  type Decoded = NonNullable<ReturnType<typeof decodeSigned>>
  /** The signer by each digest in turn, up to the member's own: the other digest is needed only for others. */
  const signersOf = ({ signature, recovery }: Decoded) => {
    const signers: (string | undefined)[] = []
    for (const digest of digests ?? []) {
      signers.push(recoverSigner(digest, signature, recovery))
      if (signers.includes(signingPolicy)) break
    }
    return signers
  }
  const isOther = ({ message: said }: Decoded) =>
    said !== undefined && message !== undefined && !said.equals(message)
  let [any, valid, wrong]: [Signatures['any'], Signatures['valid'], Signatures['wrong']] = [
    undefined,
    undefined,
    undefined,
  ]
  for (const frame of sent.signatures[protocol]) {
    const signed = decodeSigned(frame.payload)
    if (signed === undefined) continue
    any ??= frame
    if (digests === undefined || (valid !== undefined && signed.message === undefined)) continue
    if (isOther(signed)) {
      wrong ??= { sent: frame, reason: 'different-result', recovered: null }
      continue
    }
    const signers = signersOf(signed)
    if (signers.includes(signingPolicy)) valid ??= { sent: frame, unsigned: signed.unsigned }
    else wrong ??= { sent: frame, reason: 'wrong-key', recovered: signers[0] ?? null }
  }
  const isEarly = sent.withReveals.some(({ payload }) => {
    const signed = decodeSigned(payload)
    if (signed === undefined || protocol !== FDC) return false
    return digests === undefined || (!isOther(signed) && signersOf(signed).includes(signingPolicy))
  })
  const inTime = digests === undefined ? any !== undefined : valid !== undefined
  return { any, valid, wrong, isSigned: inTime || isEarly }
}

function word32(value: number): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
}

function signedBytes(
  protocol: number,
  round: number,
  { isSecure, root }: { isSecure: boolean; root: string },
) {
  const bytes = Buffer.alloc(38)
  bytes.writeUInt8(protocol)
  bytes.writeUInt32BE(round, 1)
  bytes.writeUInt8(isSecure ? 1 : 0, 5)
  bytes.write(root.slice(2), 6, 'hex')
  return bytes
}

/** The digest of a message by EIP-191. */
function digestOf(message: Buffer): Buffer {
  return keccak(Buffer.concat([Buffer.from('\x19Ethereum Signed Message:\n32'), keccak(message)]))
}
