import { z } from 'zod'
import type { Caller, Scope } from '#src/kernel/caller.ts'
import { AppError, type FieldError } from '#src/kernel/errors.ts'
import { inputErrors } from '#src/kernel/input-limits.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { validationErrors } from '#src/kernel/validation.ts'
import { type Answer, statusOf } from './answer.ts'
import type { Answering, App } from './define.ts'
import { runOnce } from './idempotency.ts'

/** What a front door hands over: still encoded, as JSON and text have it. */
export interface RawInput {
  readonly params?: unknown
  readonly query?: unknown
  readonly body?: unknown
  readonly locale?: Locale
  readonly ifMatch?: string | undefined
  readonly idempotencyKey?: string | undefined
  /** Runs once scope and input hold, before anything is looked up: rate limits per caller. */
  readonly admit?: () => Promise<void>
  /** Runs once the target of an operation with `targetRate` is found: rate limits per target. */
  readonly admitTarget?: (target: string) => Promise<void>
}

/**
 * The gate every front door passes: scope, then input, then the front door's limits, then the verb. Limits
 * per target count once the target is known to exist.
 *
 * An idempotency key counts only where the entry says `idempotent`.
 *
 * @throws AppError unauthenticated `missing_token`, forbidden `insufficient_scope`, invalid
 *   `validation_failed` or `invalid_idempotency_key`, and whatever the verb throws
 */
export async function invoke<Output>(
  app: App,
  operation: Answering<Output>,
  caller: Caller | undefined,
  raw: RawInput,
): Promise<Answer<Output>> {
  if (operation.scope !== 'none' && caller === undefined) {
    throw new AppError('unauthenticated', 'missing_token')
  }
  const otherScope = operation.otherScope
  // Which of two scopes it takes is in the body; without either nobody reads it.
  const mayBeEnough = otherScope !== undefined && caller?.scopes.includes(otherScope.scope)
  if (mayBeEnough !== true) requireScope(caller, operation.scope)
  refuse([raw.params, raw.query, raw.body].flatMap(inputErrors))
  const params = decode(operation.params, raw.params)
  const query = decode(operation.query, raw.query ?? {})
  const isBare = raw.body === undefined && operation.bodyOptional === true
  const wrong = operation.wrong?.(app, raw.body)
  const body = isBare ? undefined : decode(operation.body, raw.body, wrong)
  if (otherScope !== undefined) {
    requireScope(caller, otherScope.when(body) ? otherScope.scope : operation.scope)
  }
  const key = operation.idempotent === true ? checkKey(raw.idempotencyKey) : undefined
  await raw.admit?.()
  if (operation.targetRate !== undefined && raw.admitTarget !== undefined) {
    // Safe: as for `handle` below.
    const about = { app, caller: caller as never, params }
    await raw.admitTarget(await operation.targetRate.find(about))
  }
  const request = { params, query, body, locale: raw.locale ?? 'en', ifMatch: raw.ifMatch } as const
  // Safe: a caller was required above unless the scope is `none`, where the handler expects none.
  const prepare = async () =>
    await operation.prepare?.({ app, caller: caller as never, ...request })
  const run = (inside: App, prepared: unknown) =>
    operation.handle({ app: inside, caller: caller as never, ...request }, prepared)
  if (key === undefined || caller === undefined) {
    const output = await run(app, await prepare())
    return { status: statusOf(operation, output), output, isReplay: false }
  }
  const input = { params: raw.params ?? null, body: raw.body ?? null }
  return runOnce(app, operation, { wallet: caller.wallet, key, input }, { prepare, run })
}

function requireScope(caller: Caller | undefined, scope: Scope | 'none'): void {
  if (scope === 'none' || caller?.scopes.includes(scope)) return
  throw new AppError('forbidden', 'insufficient_scope', { values: { scope }, members: { scope } })
}

/** @param wrong what is known to be wrong with it beside its shape */
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
  const misshapen = parsed.success ? [] : validationErrors(parsed.error).details.errors
  refuse([...(misshapen ?? []), ...wrong])
  return parsed.data
}

/** @throws AppError invalid `validation_failed` when there is any error */
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
