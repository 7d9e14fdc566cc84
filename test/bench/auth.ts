import secp256k1 from 'secp256k1'
import { hashMessage, hexToBytes } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { z } from 'zod'
import { writeMessage } from '#src/auth/message.ts'
import { isPlainSigner } from '#src/chain/signatures.ts'
import { connect } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import { withDatabase } from './database.ts'
import { startServer } from './process.ts'
import { type Measurement, median } from './report.ts'

const ROUNDS = 3
/** Sign-ins of a round, each of a wallet of its own. */
const SIGN_INS = 200
const AT_A_TIME = 50
const GOAL_RATIO = 0.9
const LOOP_GOAL_MS = 20

interface SignedMessage {
  readonly address: Address
  readonly message: string
  readonly signature: `0x${string}`
}

/**
 * `POST /auth/token`, 50 at a time, beside the recovery of the same signatures in native code alone, on
 * one core; the check of a signature, with its hashes, beside the same; and the longest time that the
 * event loop was held.
 */
export async function benchAuth(): Promise<readonly Measurement[]> {
  return withDatabase(async (databaseUrl) => {
    const subject = await startServer('./auth-subject.ts', databaseUrl)
    try {
      const rounds: Round[] = []
      for (let round = 0; round <= ROUNDS; round++) {
        const signed = await fillChallenges(databaseUrl)
        const parts = signed.map(partsOf)
        const floor = perSecond(() =>
          parts.map(({ signature, recovery, digest }) =>
            secp256k1.ecdsaRecover(signature, recovery, digest, false),
          ),
        )
        const check = perSecond(() =>
          signed.map(({ address, message, signature }) =>
            isPlainSigner(address, message, signature),
          ),
        )
        const result = await signAllIn(subject.url, signed)
        // The first round warms up.
        if (round > 0) rounds.push({ floor, check, ...result })
      }
      return measurements(rounds)
    } finally {
      subject.stop()
    }
  })
}

interface Round {
  readonly floor: number
  readonly check: number
  readonly perSecond: number
  readonly longestMs: number
  readonly cpuSeconds: number
  readonly loadCpuSeconds: number
}

/** Stores challenges of new wallets, signed. */
async function fillChallenges(databaseUrl: string): Promise<readonly SignedMessage[]> {
  const { sql, close } = connect(databaseUrl)
  const issuedAt = new Date()
  const expiresAt = new Date(issuedAt.getTime() + 300_000)
  const signed = await Promise.all(
    Array.from({ length: SIGN_INS }, async () => {
      const account = privateKeyToAccount(generatePrivateKey())
      const nonce = generatePrivateKey().slice(2, 34)
      const fields = { wallet: account.address, scopes: ['read'] as const, nonce }
      const publicUrl = 'http://127.0.0.1:8080'
      const message = writeMessage({ ...fields, publicUrl, issuedAt, expiresAt })
      const signature = await account.signMessage({ message })
      return { nonce, address: account.address, message, signature }
    }),
  )
  await sql`insert into challenges ${sql(
    signed.map(({ nonce, address, message }) => ({
      ...{ nonce, wallet: address, scopes: '{read}', message },
      ...{ issued_at: issuedAt, expires_at: expiresAt },
    })),
  )}`
  await close()
  return signed
}

/** What native recovery alone is given: parts and digest are there already. */
function partsOf({ message, signature }: SignedMessage) {
  const bytes = hexToBytes(signature)
  const recovery = (bytes[64] ?? 0) - 27
  return { signature: bytes.subarray(0, 64), recovery, digest: hexToBytes(hashMessage(message)) }
}

/** Signatures by the second of processor time of this process. */
function perSecond(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return SIGN_INS / ((user + system) / 1e6)
}

const Busy = z.object({ cpuSeconds: z.number(), longestMs: z.number() })

async function signAllIn(url: string, signed: readonly SignedMessage[]) {
  const busy = async () => Busy.parse(await (await fetch(`${url}/busy`)).json())
  const before = await busy()
  const own = process.cpuUsage()
  const startedAt = performance.now()
  const waiting = signed.values()
  await Promise.all(
    Array.from({ length: AT_A_TIME }, async () => {
      for (const { message, signature } of waiting) {
        const response = await fetch(`${url}/api/x402/auth/token`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ message, signature }),
        })
        if (response.status !== 200) throw new Error(`sign-in answered ${await response.text()}`)
        await response.arrayBuffer()
      }
    }),
  )
  const seconds = (performance.now() - startedAt) / 1000
  const { user, system } = process.cpuUsage(own)
  const after = await busy()
  return {
    perSecond: signed.length / seconds,
    longestMs: after.longestMs,
    cpuSeconds: after.cpuSeconds - before.cpuSeconds,
    loadCpuSeconds: (user + system) / 1e6,
  }
}

function measurements(rounds: readonly Round[]): readonly Measurement[] {
  const of = (pick: (round: Round) => number) => median(rounds.map(pick))
  const cpuMs = of(({ cpuSeconds }) => (cpuSeconds / SIGN_INS) * 1000)
  const loadCpuMs = of(({ loadCpuSeconds }) => (loadCpuSeconds / SIGN_INS) * 1000)
  const common = { bench: 'auth', floor: of(({ floor }) => floor) }
  const ratio = of(({ perSecond: value, floor }) => value / floor)
  const checkRatio = of(({ check, floor }) => check / floor)
  const longestMs = Math.max(...rounds.map((round) => round.longestMs))
  process.stdout.write(
    `auth: ${cpuMs.toFixed(2)} CPU-ms of the service and ${loadCpuMs.toFixed(2)} of the clients a sign-in\n`,
  )
  return [
    {
      ...common,
      measure: `POST /auth/token, ${AT_A_TIME} at a time`,
      value: of((round) => round.perSecond),
      unit: 'sign-ins/s',
      ratio,
      goal: `>= ${GOAL_RATIO} of native recovery alone on one core`,
      met: ratio >= GOAL_RATIO,
    },
    {
      ...common,
      measure: 'check of a signature, with its hashes',
      value: of(({ check }) => check),
      unit: 'signatures/s',
      ratio: checkRatio,
      goal: `>= ${GOAL_RATIO} of native recovery alone`,
      met: checkRatio >= GOAL_RATIO,
    },
    {
      bench: 'auth',
      measure: 'longest time the event loop was held',
      value: longestMs,
      unit: 'ms',
      floor: null,
      ratio: null,
      goal: `<= ${LOOP_GOAL_MS} ms`,
      met: longestMs <= LOOP_GOAL_MS,
    },
  ]
}
