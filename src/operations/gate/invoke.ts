import { z } from 'zod'
import { transact } from '#src/db/connection.ts'
import type { Caller, LinkCaller } from '#src/kernel/caller.ts'
import { AppError, type FieldError } from '#src/kernel/errors.ts'
import { inputErrors } from '#src/kernel/input-limits.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { parseInput } from '#src/kernel/validation.ts'
import type { Access, App, OperationWith, RowBound } from '../define.ts'
import { type Answer, statusOf } from './answer.ts'
import { IdempotencyKey, runOnce } from './idempotency.ts'
import { type RateCount, weightOfRows } from './limits.ts'

/** Encoded input from a front door. */
export interface RawInput {
  readonly params?: unknown
  readonly query?: unknown
  readonly body?: unknown
  readonly locale?: Locale
  readonly ifMatch?: string | undefined
  readonly idempotencyKey?: string | undefined
  /** The confirmation of this call by a person. */
  readonly confirmed?: Confirmed | undefined
  /** Key of the operation's rate limit; undefined if the front door limits its callers otherwise. */
  readonly limitKey?: string
  /** Called with each count of this request. */
  readonly reportCount?: (count: RateCount) => void
}

/** A confirmation, which is good for one call. */
export interface Confirmed {
  readonly id: string
  /** Rows that the preview counted. */
  readonly bound: RowBound | undefined
}

/** Input of a call that may be made, decoded. */
interface AdmittedCall {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  /** Idempotency key, if the operation takes one or the call was confirmed. */
  readonly key: string | undefined
}

/**
 * The gate of every front door: checks rights, then input, then limits, then runs the verb. A request counts against
 * the limit of its target at every front door, once the target is known to exist.
 *
 * An idempotency key is ignored unless the entry says `idempotent`. A confirmed call takes effect once, whatever the
 * operation: without a key the confirmation is the key.
 *
 * @throws AppError unauthenticated `missing_token`, forbidden `insufficient_scope`, invalid
 * `validation_failed` or `invalid_idempotency_key`, and errors of the verb
 */
export async function invoke<Output>(
  app: App,
  operation: OperationWith<Output>,
  caller: Caller | LinkCaller | undefined,
  raw: RawInput,
): Promise<Answer<Output>> {
  const { params, query, body, key } = await admit(app, operation, caller, raw)
  const request = requestOf(raw, { params, query, body }, raw.confirmed?.bound)
  // Safe: a caller was required by `admit` unless the scope is `none`, where the handler expects none.
  const prepare = async () =>
    await operation.prepare?.({ app, caller: caller as never, ...request })
  const run = (inside: App, prepared: unknown) =>
    operation.handle({ app: inside, caller: caller as never, ...request }, prepared)
  const answer = async (): Promise<Answer<Output>> => {
    if (key === undefined || caller === undefined || !('wallet' in caller)) {
      const prepared = await prepare()
      const { replica } = app
      const output =
        operation.readsReplica === true && replica !== undefined
          ? await replica.read(app.db, (db) => run({ ...app, db }, prepared))
          : await run(app, prepared)
      return { status: statusOf(operation, output), output, isReplay: false }
    }
    const input = { params: raw.params ?? null, body: raw.body ?? null }
    const once = { wallet: caller.wallet, key, input, isConfirmed: raw.confirmed !== undefined }
    return await runOnce(app, operation, once, { prepare, run })
  }
  const answered = await answer()
  const { rate } = operation
  if (rate !== undefined && raw.limitKey !== undefined) {
    await app.limits.takeBack(rate, raw.limitKey, raw.reportCount)
  }
  return answered
}

/** What a call would do. */
export interface Preview {
  readonly estimate: unknown
  readonly summary: string | undefined
  readonly bound: RowBound | undefined
}

/**
 * Checks and counts a call as `invoke` does, and returns what the call would do and cost. The verb runs in a transaction
 * that is rolled back, so that nothing is promised that the call itself would be refused.
 *
 * @throws the errors of `invoke`
 */
export async function previewCall(
  app: App,
  operation: OperationWith<unknown>,
  caller: Caller | undefined,
  raw: RawInput,
): Promise<Preview> {
  const decoded = await admit(app, operation, caller, raw)
  // Safe: as in `invoke`.
  const input = { app, caller: caller as never, ...requestOf(raw, decoded, undefined) }
  const bound = await operation.readBound?.(input)
  // A change by filter is checked without changing what may be thousands of rows.
  const rows = bound && { newestId: 0, count: 0 }
  const prepared = await operation.prepare?.(input)
  await rehearse(app, async (inside) => {
    await operation.handle({ ...input, app: inside, bound: rows }, prepared)
  })
  const summary = await operation.summarize?.(input)
  return { summary, bound, estimate: await operation.estimate?.(input) }
}

function requestOf(
  { locale = 'en', ifMatch }: RawInput,
  { params, query, body }: Pick<AdmittedCall, 'params' | 'query' | 'body'>,
  bound: RowBound | undefined,
) {
  return { params, query, body, locale, ifMatch, bound }
}

class Rehearsed extends Error {}

/** Runs work in a transaction that is rolled back. @throws the errors of the work */
async function rehearse(app: App, work: (inside: App) => Promise<void>): Promise<void> {
  try {
    await transact(app.db, async (tx) => {
      await work({ ...app, db: tx, log: silentLogger })
      throw new Rehearsed()
    })
  } catch (error) {
    if (!(error instanceof Rehearsed)) throw error
  }
}

/** Checks the rights and the input of a call, then counts it. */
async function admit(
  app: App,
  operation: OperationWith<unknown>,
  caller: Caller | LinkCaller | undefined,
  raw: RawInput,
): Promise<AdmittedCall> {
  const checked = check(app, operation, caller, raw)
  const { limitKey, reportCount } = raw
  const { rate, targetRate } = operation
  if (rate !== undefined && limitKey !== undefined) {
    await app.limits.admit(rate, limitKey, reportCount)
    if (caller !== undefined && 'wallet' in caller) {
      const weight = weightOfRows(operation.rows?.(checked.query))
      await app.limits.admitWallet(rate, caller.wallet, weight, reportCount)
    }
  }
  if (targetRate !== undefined && caller !== undefined && 'wallet' in caller) {
    const { params, body } = checked
    // Safe: as in `invoke`.
    const target = await targetRate.find({ app, caller: caller as never, params, body })
    await app.limits.admit(targetRate.rate, `${caller.wallet} ${target}`, reportCount)
  }
  return checked
}

function check(
  app: App,
  operation: OperationWith<unknown>,
  caller: Caller | LinkCaller | undefined,
  raw: RawInput,
): AdmittedCall {
  if (operation.scope !== 'none' && caller === undefined) {
    throw new AppError('unauthenticated', 'missing_token')
  }
  const otherScope = operation.otherScope
  // The body decides which of two scopes is needed. If the caller has neither, the body is not read.
  const mayBeEnough = otherScope !== undefined && rightsOf(caller).includes(otherScope.scope)
  if (!mayBeEnough) requireScope(caller, operation.scope)
  refuse([raw.params, raw.query, raw.body].flatMap(inputErrors))
  const params = decode(operation.params, raw.params)
  const query = decode(operation.query, raw.query ?? {})
  const isBare = raw.body === undefined && operation.bodyOptional === true
  const wrong = operation.checkBody?.(app, raw.body)
  requireBody(operation.body, raw.body, isBare)
  const body = isBare ? undefined : decode(operation.body, raw.body, wrong)
  if (otherScope !== undefined) {
    requireScope(caller, otherScope.when(body) ? otherScope.scope : operation.scope)
  }
  const given = operation.idempotent === true ? checkKey(raw.idempotencyKey) : undefined
  const confirmed = raw.confirmed && `confirmation ${raw.confirmed.id}`
  return { params, query, body, key: given ?? confirmed }
}

/** Rights of a caller. A link has only the right of its kind. */
function rightsOf(caller: Caller | LinkCaller | undefined): readonly Access[] {
  if (caller === undefined) return ['none']
  return 'link' in caller ? [`link:${caller.link}`] : ['none', ...caller.scopes]
}

function requireScope(caller: Caller | LinkCaller | undefined, scope: Access): void {
  if (rightsOf(caller).includes(scope)) return
  throw new AppError('forbidden', 'insufficient_scope', { values: { scope }, members: { scope } })
}

/** @param wrong errors of the value that are reported in addition to those of the schema */
function decode(
  schema: z.ZodType | undefined,
  value: unknown,
  wrong: readonly FieldError[] = [],
): unknown {
  if (schema === undefined) {
    const isEmpty = value === undefined || value === null || isEmptyObject(value)
    if (isEmpty) return undefined
    return decode(z.strictObject({}), value)
  }
  const parsed = parseInput(schema, value)
  refuse([...(parsed.success ? [] : parsed.errors), ...wrong])
  return parsed.success ? parsed.data : undefined
}

/** @throws AppError invalid `validation_failed` if an operation with a body is called without one */
function requireBody(schema: z.ZodType | undefined, value: unknown, isBare: boolean): void {
  if (isBare || schema === undefined || value !== undefined) return
  if (schema.safeParse(undefined).success) return
  refuse([{ pointer: '', code: 'required', detail: 'required_body' }])
}

/** @throws AppError invalid `validation_failed` if there is any error */
function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw new AppError('invalid', 'validation_failed', { errors })
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function checkKey(key: string | undefined): string | undefined {
  if (key === undefined || IdempotencyKey.safeParse(key).success) return key
  throw new AppError('invalid', 'invalid_idempotency_key')
}
