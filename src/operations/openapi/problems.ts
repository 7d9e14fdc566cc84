/** How the OpenAPI document describes errors: one response for each status, which operations reference. */
import { z } from 'zod'
import type { Translate } from '#src/i18n/translate.ts'
import type { ErrorCode, ErrorStatus } from '#src/kernel/errors.ts'
import type { AnyOperation } from '../define.ts'
import { problemExample } from '../examples/problems.ts'

const PROBLEM_TYPE = 'application/problem+json'

/**
 * Body of every error.
 * @see RFC 9457
 */
export const Problem = z
  .object({
    type: z.url(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string(),
    requestId: z.string(),
    errors: z
      .array(z.object({ pointer: z.string(), code: z.string(), detail: z.string() }))
      .optional(),
    scope: z.string().optional().meta({ description: 'operations:field.missingScope' }),
    shortfallCredits: z.int().optional().meta({ description: 'operations:field.missingCredits' }),
    totalCredits: z.int().optional().meta({ description: 'operations:field.costNow' }),
    topupStatus: z.string().optional().meta({ description: 'operations:field.topupStatus' }),
    reason: z.string().nullable().optional().meta({ description: 'operations:field.noResult' }),
  })
  .meta({ id: 'Problem' })

/** Errors of an operation, by status. */
export function problemReferences(operation: AnyOperation): Record<string, unknown> {
  return Object.fromEntries(
    problemStatuses(operation).map((status) => [
      status,
      { $ref: `#/components/responses/${problemName(status)}` },
    ]),
  )
}

function problemStatuses(operation: AnyOperation): readonly ErrorStatus[] {
  const { scope, params, namesRow, idempotent, method } = operation
  const isChange = method !== 'GET'
  const isSigned = scope !== 'none'
  const isExchange = operation.rate === 'token'
  const table: readonly (readonly [ErrorStatus, unknown])[] = [
    // Every operation refuses unknown query parameters.
    [400, true],
    [401, isSigned || isExchange],
    [402, scope === 'spend'],
    [403, isSigned],
    [404, params || namesRow],
    [406, true],
    [409, isChange],
    [412, operation.etag && isChange],
    // A body is parsed before it is known whether one is allowed.
    [413, isChange],
    [415, isChange],
    [422, idempotent],
    [429, true],
    [500, true],
    [503, true],
  ]
  return table.flatMap(([status, applies]) => (applies ? [status] : []))
}

/** Every error code that an operation can respond with. */
export function errorCodes(operation: AnyOperation): readonly ErrorCode[] {
  const { scope, params, namesRow, idempotent, method } = operation
  const isChange = method !== 'GET'
  const isSigned = scope !== 'none'
  const table: readonly (readonly [ErrorCode, unknown])[] = [
    ['validation_failed', true],
    ['malformed_json', isChange],
    ['missing_token', isSigned],
    ['invalid_token', true],
    ['insufficient_scope', isSigned],
    ['not_found', params || namesRow],
    ['not_acceptable', true],
    ['etag_mismatch', operation.etag && isChange],
    ['payload_too_large', isChange],
    ['unsupported_media_type', isChange],
    ['invalid_idempotency_key', idempotent],
    ['idempotency_in_progress', idempotent],
    ['idempotency_response_unreadable', idempotent],
    ['idempotency_key_reused', idempotent],
    ['rate_limited', true],
    ['dependency_unavailable', true],
    ['internal', true],
  ]
  const general = table.flatMap(([code, applies]) => (applies ? [code] : []))
  return [...general, ...(operation.errors ?? [])]
}

function problemName(status: ErrorStatus): string {
  return `Problem${status}`
}

/** One response for every error status of these operations. */
export function problemAnswers(
  { t, publicUrl }: { readonly t: Translate; readonly publicUrl: string },
  registry: readonly AnyOperation[],
): unknown {
  const schema = { $ref: '#/components/schemas/Problem' }
  const statuses = [...new Set(registry.flatMap(problemStatuses))].sort()
  return Object.fromEntries(
    statuses.map((status) => [
      problemName(status),
      {
        description: t('operations:info.problem'),
        content: { [PROBLEM_TYPE]: { schema, example: problemExample(t, publicUrl, status) } },
      },
    ]),
  )
}
