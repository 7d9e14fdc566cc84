import secp256k1 from 'secp256k1'
import { hashMessage, hexToBytes } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { z } from 'zod'
import { writeMessage } from '#src/auth/message.ts'
import { isPlainSigner } from '#src/chain/signatures/signatures.ts'
import { connect } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import { type CoreShares, measureSides } from './core-shares.ts'
import { withDatabase } from './database.ts'
import { runLoad } from './load.ts'
import { type Measurement, median } from './report.ts'
import { findPostmaster } from './scale-cpu.ts'
import { type BenchServer, startServer } from './start-server.ts'

const ROUNDS = 5
/** Number of sign-ins in a round; each wallet signs in once. */
const SIGN_INS = 500
const CONNECTIONS = 50
const GOAL_RATIO = 0.9
const LOOP_GOAL_MS = 20

interface SignedMessage {
  readonly address: Address
  readonly message: string
  readonly signature: `0x${string}`
}

/**
 * Measures sign-ins with `POST /auth/token`, 50 at a time, and checks of signatures with their hashes. The floor of both
 * is the recovery of the same signatures in native code, on one core. Also measures the longest delay of the server's
 * event loop during the sign-ins.
 */
export async function benchAuth(): Promise<readonly Measurement[]> {
  return withDatabase(async (databaseUrl) => {
    const subject = await startServer('./auth-subject.ts', databaseUrl)
    const { sql, close } = connect(databaseUrl)
    const postmaster = await findPostmaster(sql)
    await close()
    try {
      const rounds: Round[] = []
      for (let round = 0; round <= ROUNDS; round++) {
        const signed = await fillChallenges(databaseUrl)
        const parts = signed.map(recoveryInputOf)
        const floor = perCpuSecond(() =>
          parts.map(({ signature, recovery, digest }) =>
            secp256k1.ecdsaRecover(signature, recovery, digest, false),
          ),
        )
        const check = perCpuSecond(() =>
          signed.map(({ address, message, signature }) =>
            isPlainSigner(address, message, signature),
          ),
        )
        const result = await signInAll(subject, signed, postmaster)
        // The first round warms up.
        if (round > 0) rounds.push({ floor, check, ...result })
      }
      return measurements(rounds)
    } finally {
      subject.stop()
    }
  })
}

/** Results of a round of sign-ins. */
interface Round {
  /** Native recoveries per second of CPU time. */
  readonly floor: number
  /** Checks of a signature per second of CPU time. */
  readonly check: number
  /** Sign-ins per second of real time. */
  readonly perSecond: number
  /** Longest delay of the server's event loop. */
  readonly longestMs: number
  /** CPU time of the server. */
  readonly cpuSeconds: number
  /** Cores that server, database and load kept busy. */
  readonly busy: CoreShares
}

/** Stores challenges of new wallets, and signs their messages. */
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
      const message = await writeMessage({ ...fields, publicUrl, issuedAt, expiresAt })
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

/** Input of the native recovery: the parts of a signature, and the digest of its message. */
function recoveryInputOf({ message, signature }: SignedMessage) {
  const bytes = hexToBytes(signature)
  const recovery = (bytes[64] ?? 0) - 27
  return { signature: bytes.subarray(0, 64), recovery, digest: hexToBytes(hashMessage(message)) }
}

/** Signatures that `work` processes per second of this process's CPU time; it processes `SIGN_INS`. */
function perCpuSecond(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return SIGN_INS / ((user + system) / 1e6)
}

/** Answer of `GET /busy`: CPU time since the start, and the longest delay since the last request. */
const ServerUsage = z.object({ cpuSeconds: z.number(), longestMs: z.number() })

/** Signs all wallets in, and measures the server meanwhile. */
async function signInAll(
  { url, pid }: BenchServer,
  signed: readonly SignedMessage[],
  postmaster: number,
) {
  const readUsage = async () => ServerUsage.parse(await (await fetch(`${url}/busy`)).json())
  const before = await readUsage()
  const { result, busy } = await measureSides({ serverPid: pid, postmaster }, () =>
    runLoad(url, {
      requestOf: (request) => {
        const message = signed[request]
        if (message === undefined) return undefined
        const body = JSON.stringify({ message: message.message, signature: message.signature })
        const headers = { 'content-type': 'application/json' }
        return { method: 'POST', path: '/api/x402/auth/token', headers, body }
      },
      connections: CONNECTIONS,
    }),
  )
  const after = await readUsage()
  return {
    perSecond: result.perSecond,
    longestMs: after.longestMs,
    cpuSeconds: after.cpuSeconds - before.cpuSeconds,
    busy,
  }
}

function measurements(rounds: readonly Round[]): readonly Measurement[] {
  const of = (pick: (round: Round) => number) => median(rounds.map(pick))
  const cpuMs = of(({ cpuSeconds }) => (cpuSeconds / SIGN_INS) * 1000)
  const shareOf = (side: keyof CoreShares) => of(({ busy }) => busy[side]).toFixed(2)
  const common = { bench: 'auth', floor: of(({ floor }) => floor) }
  const ratio = of(({ perSecond: value, floor }) => value / floor)
  const checkRatio = of(({ check, floor }) => check / floor)
  const longestMs = Math.max(...rounds.map((round) => round.longestMs))
  process.stdout.write(
    `auth: ${cpuMs.toFixed(2)} CPU-ms of the service a sign-in; cores taken: ${shareOf('server')} server, ` +
      `${shareOf('database')} PostgreSQL, ${shareOf('load')} load\n`,
  )
  return [
    {
      ...common,
      measure: `POST /auth/token, ${CONNECTIONS} at a time`,
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
