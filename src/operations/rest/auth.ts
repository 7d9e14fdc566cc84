import {
  Challenge,
  ChallengeRequest,
  IssuedToken,
  TokenList,
  TokenRequest,
} from '#src/auth/model.ts'
import * as auth from '#src/auth/service.ts'
import { IdParam } from '#src/kernel/pagination.ts'
import { type AnyOperation, defineOperation } from '../define.ts'
import { summarizeTokenRevocation } from '../summaries/summaries.ts'

export const createChallenge = defineOperation({
  id: 'createChallenge',
  method: 'POST',
  path: '/auth/challenge',
  scope: 'none',
  rate: 'challenge',
  noStore: true,
  status: 200,
  body: ChallengeRequest,
  output: Challenge,
  handle: ({ app, body }) => auth.createChallenge(app, body),
})

export const exchangeToken = defineOperation({
  id: 'exchangeToken',
  method: 'POST',
  path: '/auth/token',
  scope: 'none',
  rate: 'token',
  noStore: true,
  status: 200,
  errors: [
    'invalid_signature',
    'message_mismatch',
    'nonce_expired',
    'nonce_used',
    'token_limit_reached',
    'wallet_banned',
  ],
  body: TokenRequest,
  output: IssuedToken,
  handle: ({ app, body }) => auth.exchangeToken(app, body),
})

export const listTokens = defineOperation({
  id: 'listTokens',
  method: 'GET',
  path: '/auth/tokens',
  scope: 'read',
  rate: 'read',
  noStore: true,
  status: 200,
  output: TokenList,
  handle: ({ app, caller }) => auth.listTokens(app, caller),
})

export const revokeToken = defineOperation({
  id: 'revokeToken',
  method: 'DELETE',
  path: '/auth/tokens/{id}',
  scope: 'write',
  rate: 'write',
  noStore: true,
  status: 204,
  params: IdParam,
  summarize: summarizeTokenRevocation,
  handle: ({ app, caller, params }) => auth.revokeToken(app, caller, params),
})

/** The operations of this module with a route, in the order of the specification. */
export const authOperations: readonly AnyOperation[] = [
  createChallenge,
  exchangeToken,
  listTokens,
  revokeToken,
]
