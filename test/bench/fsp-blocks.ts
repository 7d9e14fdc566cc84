import secp256k1 from 'secp256k1'
import { getAddress, keccak256, numberToHex } from 'viem/utils'
import { type EpochSettings, roundWindowsOf } from '#src/fsp/protocol/epochs.ts'
import { sortitionWeightOf } from '#src/fsp/protocol/fast-update-silence.ts'
import { FDC_PROTOCOL, FTSO_PROTOCOL } from '#src/fsp/protocol/framing.ts'
import { commitHash } from '#src/fsp/protocol/ftso.ts'
import { policyOfRound } from '#src/fsp/protocol/policy.ts'
import { digestsOf } from '#src/fsp/protocol/signatures.ts'
import type { LoadedPolicy } from '#src/fsp/reader/policy-of-epoch.ts'
import type { ProtocolBlock } from '#src/fsp/reader/round-blocks.ts'

/** Blocks of voting rounds with up to a hundred providers, as the reader gives them. */

export const BENCH_PROVIDERS = 100
/** Clock of Flare mainnet. */
export const FLARE_CLOCK: EpochSettings = {
  firstRoundAtSeconds: 1_658_430_000,
  roundSeconds: 90,
  firstEpochRound: 0,
  roundsPerEpoch: 3360,
}
const FEEDS = 63
const REQUESTS = Array.from({ length: 5 }, (_, n) => `0x${'0'.repeat(127)}${n}`)
const KEYS = Array.from({ length: BENCH_PROVIDERS }, (_, n) => new Uint8Array(32).fill(n + 1))

const SIGNERS = KEYS.map(signerOf)
const EVERYBODY = KEYS.map((_, n) => n)

/** A signing policy in force from a round on. @param members which of the providers are in it */
export function benchPolicy(
  startRound: number,
  { rewardEpoch = 452, members = EVERYBODY } = {},
): LoadedPolicy {
  return {
    rewardEpoch,
    startRound,
    weightSum: 655 * members.length,
    fixedAt: null,
    providers: members.map((n) => ({
      voter: addressOf(1000 + n),
      submit: addressOf(2000 + n),
      submitSignatures: addressOf(3000 + n),
      signingPolicy: SIGNERS[n] ?? addressOf(0),
      weight: 655,
      sortitionWeight: sortitionWeightOf(655, 655 * members.length),
    })),
  }
}

/**
 * The blocks from the start of one round to the start of another. Each provider misses its duties in one of
 * twenty rounds, and in eight in a row of 800. Actions after the last block are omitted.
 *
 * @param policies of all these rounds and the one before; a round without a policy has no actions
 */
export function benchBlocks(
  policies: readonly LoadedPolicy[],
  rounds: { readonly first: number; readonly last: number },
  blockSeconds = 2,
): ProtocolBlock[] {
  const blocks = new Map<number, Draft>()
  const from = roundWindowsOf(FLARE_CLOCK, rounds.first).start
  const to = roundWindowsOf(FLARE_CLOCK, rounds.last).end
  for (let at = from; at < to; at += blockSeconds) blocks.set(at, draft(at, blockSeconds))
  const at = (seconds: number) => blocks.get(seconds - ((seconds - from) % blockSeconds))
  // The round before reveals and signs in the first one.
  for (let round = rounds.first - 1; round <= rounds.last; round += 1) {
    const { start, end } = roundWindowsOf(FLARE_CLOCK, round)
    at(start)?.requests.push(...REQUESTS)
    const results = [FTSO_PROTOCOL, FDC_PROTOCOL].map((protocol) => ({
      protocol,
      round,
      isSecureRandom: protocol === FTSO_PROTOCOL,
      merkleRoot: keccak256(numberToHex(round * 1000 + protocol)),
    }))
    const digests = results.map((result) => digestsOf(result, 14).chainBound)
    for (const provider of policyOfRound(policies, round)?.providers ?? []) {
      const n = SIGNERS.indexOf(provider.signingPolicy)
      // By default one missed round raises no alert, and eight in a row do.
      const isAbsent = (round * 7 + n) % 20 === 0 || (Math.floor(round / 8) + n * 5) % 100 === 0
      if (isAbsent) continue
      const feedBytes = Buffer.alloc(FEEDS * 4)
      for (let feed = 0; feed < FEEDS; feed += 1) {
        feedBytes.writeUInt32BE(2 ** 31 + 1000 * (feed + 1) + ((round + n) % 3), feed * 4)
      }
      const reveal = { random: new Uint8Array(32).fill(n + 1), feedBytes }
      const commit = commitHash(provider.submit, round, reveal).slice(2)
      push(at(start + 70), provider.submit, '6c532fae', [frame(FTSO_PROTOCOL, round, commit)])
      const body = Buffer.concat([reveal.random, feedBytes]).toString('hex')
      const vote = frame(FDC_PROTOCOL, round, '00051f')
      push(at(end + 20), provider.submit, '9d00c9fd', [frame(FTSO_PROTOCOL, round, body), vote])
      const [ftso = '', fdc = ''] = digests.map((digest) => signatureOf(KEYS[n], digest))
      push(at(end + 46), provider.submitSignatures, '57eed580', [
        frame(FTSO_PROTOCOL, round, `01${ftso}`),
        frame(FDC_PROTOCOL, round, `01${fdc}00051f`),
      ])
      // Two updates in three rounds are one and a half a block of a hundred providers, as on Flare.
      if ((round + n) % 3 !== 0) {
        at(start + (n % 45) * 2)?.fastUpdates.push({
          signingPolicy: provider.signingPolicy,
          sender: provider.submit,
          tx: `0x${'0'.repeat(64)}`,
          feedsSent: 1,
        })
      }
    }
    at(end + 50)?.finalised.push(...results)
  }
  return [...blocks.values()]
}

type Draft = {
  -readonly [K in keyof ProtocolBlock]: ProtocolBlock[K] extends readonly (infer One)[]
    ? One[]
    : ProtocolBlock[K]
}

function draft(at: number, blockSeconds: number): Draft {
  const number = Math.floor((at - FLARE_CLOCK.firstRoundAtSeconds) / blockSeconds)
  const hash = numberToHex(number, { size: 32 })
  const ref = { number, hash, at: new Date(at * 1000) }
  return {
    ref,
    number,
    at,
    submissions: [],
    finalised: [],
    requests: [],
    fastUpdates: [],
    refusedUpdates: [],
    registrations: [],
    calls: [],
    claims: [],
  }
}

/** Address of the Submission contract. */
const SUBMISSION = '0x2ca6571daa15ce734bbd0bf27d5c9d16787fc33f'

function push(block: Draft | undefined, from: string, selector: string, frames: string[]): void {
  const hash = numberToHex(block?.submissions.length ?? 0, { size: 32 })
  block?.submissions.push({
    hash,
    from: from.toLowerCase(),
    to: SUBMISSION,
    input: `0x${selector}${frames.join('')}`,
  })
}

function frame(protocol: number, round: number, payload: string): string {
  const head = Buffer.alloc(7)
  head.writeUInt8(protocol, 0)
  head.writeUInt32BE(round, 1)
  head.writeUInt16BE(payload.length / 2, 5)
  return head.toString('hex') + payload
}

function signatureOf(key: Uint8Array | undefined, digest: Uint8Array): string {
  const { signature, recid } = secp256k1.ecdsaSign(digest, key ?? new Uint8Array(32))
  return (27 + recid).toString(16) + Buffer.from(signature).toString('hex')
}

function signerOf(key: Uint8Array) {
  const publicKey = secp256k1.publicKeyCreate(key, false)
  return getAddress(`0x${keccak256(publicKey.subarray(1)).slice(26)}`)
}

function addressOf(number: number) {
  return getAddress(numberToHex(number, { size: 20 }))
}
