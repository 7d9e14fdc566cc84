import { z } from 'zod'
import type { Caller, LinkCaller } from '#src/kernel/caller.ts'
import { AppError, type FieldError } from '#src/kernel/errors.ts'
import { inputErrors } from '#src/kernel/input-limits.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { toValidationError } from '#src/kernel/validation.ts'
import { type Answer, statusOf } from './answer.ts'
import type { Access, AnyOperation, App, OperationWith } from './define.ts'
import { runOnce } from './idempotency.ts'
import { type RateCount, weightOfRows } from './limits.ts'

/** Encoded input from a front door. */
export interface RawInput {
  readonly params?: unknown
  readonly query?: unknown
  readonly body?: unknown
  readonly locale?: Locale
  readonly ifMatch?: string | undefined
  readonly idempotencyKey?: string | undefined
  /** Key of the operation's rate limit; undefined if the front door limits its callers otherwise. */
  readonly limitKey?: string
  /** Called with each count of this request. */
  readonly reportCount?: (count: RateCount) => void
}

/** Input of a call that may be made, decoded. */
interface AdmittedCall {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  /** Idempotency key, if the operation takes one. */
  readonly key: string | undefined
}

/**
 * The gate of every front door: checks rights, then input, then limits, then runs the verb. A request counts against
 * the limit of its target at every front door, once the target is known to exist.
 *
 * An idempotency key is ignored unless the entry says `idempotent`.
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
  const request = { params, query, body, locale: raw.locale ?? 'en', ifMatch: raw.ifMatch } as const
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
    return await runOnce(app, operation, { wallet: caller.wallet, key, input }, { prepare, run })
  }
  const answered = await answer()
  const { rate } = operation
  if (rate !== undefined && raw.limitKey !== undefined) {
    await app.limits.takeBack(rate, raw.limitKey, raw.reportCount)
  }
  return answered
}

/**
 * Checks and counts a call as `invoke` does, and returns what the call would do and cost, but does not make
 * the call.
 *
 * @throws the errors of `invoke`, except those of the verb; AppError not_found when the object of the call
 * does not exist
 */
export async function previewCall(
  app: App,
  operation: AnyOperation,
  caller: Caller | undefined,
  raw: RawInput,
): Promise<{ readonly estimate: unknown; readonly summary: string | undefined }> {
  const { params, query, body } = await admit(app, operation, caller, raw)
  const request = { params, query, body, locale: raw.locale ?? 'en', ifMatch: raw.ifMatch } as const
  // Safe: as in `invoke`.
  const input = { app, caller: caller as never, ...request }
  const summary = await operation.summarize?.(input)
  return { summary, estimate: await operation.estimate?.(input) }
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
  const body = isBare ? undefined : decode(operation.body, raw.body, wrong)
  if (otherScope !== undefined) {
    requireScope(caller, otherScope.when(body) ? otherScope.scope : operation.scope)
  }
  const key = operation.idempotent === true ? checkKey(raw.idempotencyKey) : undefined
  return { params, query, body, key }
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
  const parsed = schema.safeParse(value, { reportInput: true })
  const misshapen = parsed.success ? [] : toValidationError(parsed.error).details.errors
  refuse([...(misshapen ?? []), ...wrong])
  return parsed.data
}

/** @throws AppError invalid `validation_failed` if there is any error */
function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw new AppError('invalid', 'validation_failed', { errors })
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function checkKey(key: string | undefined): string | undefined {
  if (key === undefined || /^[\x20-\x7e]{1,255}$/.test(key)) return key
  throw new AppError('invalid', 'invalid_idempotency_key')
}
