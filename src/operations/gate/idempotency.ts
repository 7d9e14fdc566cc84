import { createHash } from 'node:crypto'
import { z } from 'zod'
import { transact } from '#src/db/connection.ts'
import { resealColumn } from '#src/db/reseal.ts'
import { canonicalJson } from '#src/kernel/canonical-json.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { AppError, ERROR_STATUS, type ErrorDetails, type ErrorKind } from '#src/kernel/errors.ts'
import { isErrorCode } from '#src/kernel/problems.ts'
import type { Address } from '#src/kernel/units.ts'
import type { App, OperationWith } from '../define.ts'
import { type Answer, statusOf } from './answer.ts'
import * as store from './idempotency-store.ts'

/** Time for which a response is stored, in milliseconds. */
const KEPT_MS = DAY_MS
/** A key of a request: 1 to 255 printable ASCII characters. */
export const IdempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x20-\x7e]+$/)

/** Purpose for which stored responses are sealed. */
const PURPOSE = 'idempotency'
/** Kinds of errors that are stored, because repeating the request cannot change them. */
const KEPT_KINDS = ['payment_required', 'conflict'] as const
/** Further kinds that are stored for a confirmed call, because a confirmation that was refused is used up. */
const KEPT_IF_CONFIRMED = ['invalid', 'forbidden', 'not_found', 'stale'] as const

/**
 * Runs a verb once per wallet, operation and key; repeats get the same response.
 *
 * The key is written in the transaction of the effect, so that either both exist or neither.
 *
 * @throws AppError conflict `idempotency_in_progress` while the same request runs, conflict
 * `idempotency_response_unreadable` when its stored response can no longer be read, key_reused
 * `idempotency_key_reused` for the same key with another input
 */
export async function runOnce<Output>(
  app: App,
  operation: OperationWith<Output>,
  request: {
    readonly wallet: Address
    readonly key: string
    readonly input: unknown
    readonly isConfirmed: boolean
  },
  verb: {
    /** Requests data from outside the database. */
    prepare(): Promise<unknown>
    run(inside: App, prepared: unknown): Promise<Output>
  },
): Promise<Answer<Output>> {
  const answerKey = { wallet: request.wallet, operation: operation.id, key: request.key }
  const fingerprint = createHash('sha256').update(canonicalJson(request.input)).digest('hex')
  const now = app.clock.now()
  const oldest = new Date(now.getTime() - KEPT_MS)
  // Without anything to prepare, the read under the lock of the key is enough.
  const earlierAnswer = operation.prepare && (await store.findAnswer(app.db, answerKey, oldest))
  // An error is stored as a result below, in the transaction.
  const [prepared] = earlierAnswer === undefined ? await Promise.allSettled([verb.prepare()]) : []
  const result = await transact(app.db, async (tx): Promise<StoredResult<Output>> => {
    if (!(await store.holdKey(tx, answerKey))) throw inProgress()
    const storedAnswer = await store.findAnswer(tx, answerKey, oldest)
    if (storedAnswer !== undefined) {
      if (storedAnswer.fingerprint !== fingerprint) {
        throw new AppError('key_reused', 'idempotency_key_reused')
      }
      return readAnswer(app, operation, storedAnswer)
    }
    // The response that the first read found has been deleted. A repeated request finds none, and runs the verb.
    if (prepared === undefined) throw inProgress()
    const kept = request.isConfirmed ? [...KEPT_KINDS, ...KEPT_IF_CONFIRMED] : KEPT_KINDS
    const stored = await attempt(app, operation, kept, async (inside) => {
      if (prepared.status === 'rejected') throw prepared.reason
      return await tx.transaction((t) => verb.run(inside(t), prepared.value))
    })
    const answer = writeAnswer(app, operation, stored)
    await store.keepAnswer(tx, { ...answerKey, ...answer, fingerprint, createdAt: now }, oldest)
    return stored
  })
  if ('error' in result) throw result.error
  return result
}

function inProgress(): AppError {
  return new AppError('conflict', 'idempotency_in_progress', { retryAfterSeconds: 1 })
}

/** Result of a request. A stored error is a result, too, because its key must be committed with it. */
type StoredResult<Output> = Answer<Output> | { readonly error: AppError }

async function attempt<Output>(
  app: App,
  operation: OperationWith<Output>,
  kept: readonly ErrorKind[],
  run: (inside: (tx: App['db']) => App) => Promise<Output>,
): Promise<StoredResult<Output>> {
  try {
    const output = await run((tx) => ({ ...app, db: tx }))
    return { status: statusOf(operation, output), output, isReplay: false }
  } catch (error) {
    const isKept = error instanceof AppError && kept.includes(error.kind)
    if (isKept) return { error }
    throw error
  }
}

const StoredRefusal = z.object({
  kind: z.enum([...KEPT_KINDS, ...KEPT_IF_CONFIRMED]),
  code: z.string().refine(isErrorCode),
  details: z.record(z.string(), z.unknown()),
})

function writeAnswer<Output>(
  app: App,
  operation: OperationWith<Output>,
  stored: StoredResult<Output>,
) {
  const { status, value } =
    'error' in stored
      ? { status: ERROR_STATUS[stored.error.kind], value: refusal(stored.error) }
      : { status: stored.status, value: encodeOutput(operation, stored.output) }
  return { status, answer: app.box.seal(PURPOSE, JSON.stringify(value ?? null)) }
}

/**
 * The stored response. One that another release wrote, or that another secret key encrypted, may be unreadable. The
 * request was answered nevertheless, so the verb must not run again.
 *
 * @throws AppError conflict `idempotency_response_unreadable`
 */
function readAnswer<Output>(
  app: App,
  operation: OperationWith<Output>,
  found: store.StoredAnswer,
): StoredResult<Output> {
  try {
    return parseAnswer(app, operation, found)
  } catch (error) {
    const row = `${found.wallet} ${found.operation} ${found.key}`
    app.quarantine.add('idempotent_response', row, error)
    throw new AppError('conflict', 'idempotency_response_unreadable', {}, { cause: error })
  }
}

function parseAnswer<Output>(
  app: App,
  operation: OperationWith<Output>,
  found: store.StoredAnswer,
): StoredResult<Output> {
  const value: unknown = JSON.parse(app.box.open(PURPOSE, found.answer))
  if (found.status < 300) {
    // Safe: without a schema the output is undefined.
    const output = operation.output?.parse(value) as Output
    return { status: found.status, output, isReplay: true }
  }
  const { kind, code, details } = StoredRefusal.parse(value)
  const stored: ErrorDetails = { ...details, isReplay: true }
  return { error: new AppError(kind, code, stored) }
}

function refusal({ kind, code, details }: AppError) {
  return { kind, code, details }
}

/** The output as JSON; undefined if the operation has none. */
export function encodeOutput<Output>(operation: OperationWith<Output>, output: Output): unknown {
  return operation.output === undefined ? undefined : z.encode(operation.output, output)
}

/**
 * Encrypts all stored responses with the current secret key.
 * @returns number of responses that the previous key had encrypted
 */
export async function resealAnswers(
  deps: Pick<App, 'db' | 'box' | 'log'>,
  signal: AbortSignal,
): Promise<number> {
  return await resealColumn(deps, { purpose: PURPOSE, ...store.SEALED_ANSWERS }, signal)
}

/** Deletes expired responses. */
export async function pruneAnswers({ db, clock }: Pick<App, 'db' | 'clock'>): Promise<void> {
  await store.deleteAnswersBefore(db, new Date(clock.now().getTime() - KEPT_MS))
}
