import * as auth from '#src/auth/service.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { App } from '#src/operations/define.ts'

/** Prefix of every API token, valid or not. */
const TOKEN_SHAPE = /^fwd_/

/**
 * The caller behind an `Authorization: Bearer` header; undefined if there is none.
 *
 * @throws AppError unauthenticated `invalid_token`
 */
export async function authenticate(
  app: App,
  header: string | undefined,
): Promise<Caller | undefined> {
  return header === undefined ? undefined : auth.authenticate(app, bearerToken(header))
}

/**
 * The token of an `Authorization` header.
 *
 * @throws AppError unauthenticated `invalid_token` when the header has another form
 */
export function bearerToken(header: string): string {
  const token = /^Bearer +(\S+) *$/i.exec(header)?.[1]
  if (token === undefined) throw new AppError('unauthenticated', 'invalid_token')
  return token
}

/**
 * Refuses a request with a token in its URL, which logs and histories keep.
 *
 * @throws AppError invalid `validation_failed`
 */
export function refuseTokenInQuery(query: Readonly<Record<string, unknown>>): void {
  const names = Object.entries(query)
    .filter(([name, value]) => name === 'access_token' || TOKEN_SHAPE.test(String(value)))
    .map(([name]) => name)
  if (names.length === 0) return
  const errors = names.map((name) => ({ pointer: `/${name}`, code: 'token_in_query' }))
  throw new AppError('invalid', 'validation_failed', { errors })
}
